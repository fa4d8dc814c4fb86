-- The plan of an upload: what it would change, row by row; and whether production has changed since.

-- Works out what an upload would change, row by row, as a table that promotion applies. Nothing in production is written
-- or locked. Planned again, the earlier plan is gone, and with it whatever was waiting for approval.
create or replace function iu_core.fn_ingest_plan(
  p_upload_id uuid,
  p_gate_mode text default 'STRICT',
  p_threshold numeric default 0.9,
  p_planned_by text default null,
  p_repeated_keys text default null
) returns iu_core.ingest_plan
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set work_mem = '64MB'
set default_statistics_target = 10
-- Temporary tables are dropped if they exist; nobody needs to hear that they do not.
set client_min_messages = 'warning'
set timezone = 'UTC'
set datestyle = 'ISO, YMD'
set intervalstyle = 'postgres'
set extra_float_digits = 1
set bytea_output = 'hex'
as $$
declare
  v_started timestamptz := clock_timestamp();
  u iu_core.ingest_upload;
  v_dataset iu_core.ingest_dataset;
  v_actor record;
  v_type record;
  v_nullable text[];
  v_misfits boolean;
  v_plan iu_core.ingest_plan;
  v_totals jsonb;
  v_control jsonb;
  v_notes jsonb;
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'stage');
  perform iu_core.fn_gate_require('iu_core.staging_writes_enabled');
  perform iu_core.fn_ingest_temp_room();
  v_actor := iu_core.fn_actor_for(p_planned_by);
  if p_gate_mode is null or p_gate_mode not in ('STRICT', 'LENIENT') then
    raise exception using errcode = 'SD001', message = format('The mode %L is neither STRICT nor LENIENT', p_gate_mode);
  end if;
  if p_threshold is null or p_threshold not between 0 and 1 then
    raise exception using errcode = 'SD001', message = 'The threshold is a share of valid lines from 0 to 1';
  end if;
  if p_repeated_keys not in ('refuse', 'sum', 'last', 'first') then
    raise exception using errcode = 'SD001',
      message = format('Repeated keys: %L is none of refuse, sum, last, first', p_repeated_keys);
  end if;
  u := iu_core.fn_ingest_lock(p_upload_id, array['staged', 'planned'], 'planned');
  v_dataset := iu_core.fn_ingest_as_read(u);
  perform iu_core.fn_ingest_plan_forget(u);
  if p_repeated_keys <> iu_core.fn_ingest_repeated_keys(u, v_dataset.definition) then
    -- Whoever says which lines count has put something into it, and does not approve it.
    update iu_core.ingest_upload
       set repeated_keys = p_repeated_keys,
           changed_by = array(select distinct unnest(changed_by || array_remove(array[v_actor.actor, v_actor.via], null)))
     where upload_id = p_upload_id returning * into u;
    perform iu_core.fn_ingest_check_set(u, v_dataset.definition);
    perform iu_core.fn_ingest_recount(p_upload_id, u.reading -> 'layout' ->> 'leaf', u.line_count);
    select * into u from iu_core.ingest_upload where upload_id = p_upload_id;
  end if;

  -- A value that its column cannot hold fails the statement of all lines; then it is worked out which lines they are.
  foreach v_misfits in array array[false, true] loop
    begin
      v_nullable := iu_core.fn_ingest_plan_lines(u, v_dataset.definition, v_misfits);
      -- Its counts may have changed: a key that repeats was found now.
      select * into u from iu_core.ingest_upload where upload_id = p_upload_id;
      drop table if exists pg_temp.ingest_entity;
      create temporary table ingest_entity (
        row_type text, external_id text, row_number integer, staging_row_id uuid, new_id uuid, internal_id uuid,
        parent_external_id text, parent_id uuid, existing boolean default false, ambiguous boolean default false,
        conflicting text[] default '{}', filled_from integer[], reason text) on commit drop;
      for v_type in select * from iu_core.fn_ingest_row_types(v_dataset.definition, u.reading -> 'layout') loop
        if v_type.target is null then
          raise exception using errcode = 'SD605',
            message = format('The table %s is gone', v_type.target_name),
            detail = json_build_object('dataset', u.dataset, 'reason', format('the table %s is gone', v_type.target_name))::text;
        end if;
        if not iu_core.fn_ingest_key_walled(v_dataset.definition, v_type.spec) then
          raise exception using errcode = 'SD605',
            message = format('The key of %s no longer says whose row it is', v_type.target_name),
            detail = json_build_object('dataset', u.dataset, 'reason',
              format('the key of %s no longer says whose row it is: a parent''s column can be NULL now', v_type.target_name))::text;
        end if;
        if v_type.is_entity then
          perform iu_core.fn_ingest_plan_entities(u, v_type, v_nullable);
        end if;
        perform iu_core.fn_ingest_plan_type(u, v_type, v_nullable);
      end loop;
      exit;
    exception when data_exception or check_violation or not_null_violation then
      if v_misfits then
        raise;
      end if;
    end;
  end loop;
  -- What lines of one entity say differently, by row type.
  select jsonb_agg(jsonb_build_object('rule', 'entity.conflicting', 'line', n.line, 'count', n.entities, 'message',
           format('Lines differ about the %s of %s %s; the first value that is not empty is taken.', n.fields, n.entities,
                  replace(n.row_type, '_', ' ') || case n.entities when 1 then '' else 's' end)) order by n.line)
    into v_notes
    from (select e.row_type, count(distinct e.external_id) as entities, min(e.row_number) as line,
                 string_agg(distinct coalesce(v_dataset.definition -> 'fields' -> c ->> 'title', replace(c, '_', ' ')), ', ') as fields
            from pg_temp.ingest_entity e, unnest(e.conflicting) as c group by 1) n;
  -- Lines that were left out or found wrong are part of the plan, too.
  insert into iu_core.ingest_plan_row (upload_id, type_order, row_type, row_number, staging_row_id, action, reason, row_hash)
  select u.upload_id, iu_core.fn_ingest_type_order(v_dataset.definition, s.row_type), s.row_type, s.row_number, s.id, a.action, a.reason,
         sha256(convert_to(concat_ws('|', s.row_number, a.action, a.reason), 'UTF8'))
    from (select * from public.staging_rows
           where upload_id = p_upload_id and (validation_status <> 'valid' or validation_warnings <> '[]')
          -- Its own index finds them; without a fence the planner takes the one over all lines.
          offset 0) s,
         lateral (select case when s.validation_status = 'skipped' or p_gate_mode = 'LENIENT' then 'skipped' else 'refused' end,
                         coalesce(s.validation_errors -> 0 ->> 'message',
                                  (select w ->> 'message' from jsonb_array_elements(s.validation_warnings) w
                                    where w ->> 'rule' = iu_core.fn_ingest_left_out_reason(s.validation_warnings) limit 1))) as a (action, reason)
   where s.row_type = u.reading -> 'layout' ->> 'leaf' and s.validation_status in ('invalid', 'skipped');

  v_totals := iu_core.fn_ingest_plan_totals(u.upload_id);
  v_control := iu_core.fn_ingest_control(u, v_dataset.definition, true,
    (v_totals -> (u.reading -> 'layout' ->> 'leaf')) - 'insert' - 'skipped' = '{}');
  -- What the plan refuses is wrong with the line: it is listed, exported and kept like what the reader found.
  perform iu_core.fn_ingest_plan_problems(u);
  select * into u from iu_core.ingest_upload where upload_id = p_upload_id;

  insert into iu_core.ingest_plan (
    upload_id, digest, gate_mode, threshold, totals, control, repeated_keys, notes, inserted_columns, refusal, definition_digest, approval_required, planned_by, took_ms)
  select u.upload_id,
         iu_core.fn_ingest_plan_digest(u.upload_id, p_gate_mode, p_threshold,
                                       jsonb_build_object('control', v_control, 'repeated_keys', k.repeated_keys, 'notes', v_notes)),
         p_gate_mode, p_threshold, v_totals, v_control, k.repeated_keys, coalesce(v_notes, '[]'),
         (select coalesce(jsonb_object_agg(r.row_type, c.columns) filter (where c.columns is not null), '{}')
            from iu_core.fn_ingest_row_types(v_dataset.definition, u.reading -> 'layout') as r,
                 lateral (select iu_core.fn_ingest_plan_texts(r.written)) as c (columns)),
         iu_core.fn_ingest_plan_refusal(u, p_gate_mode, p_threshold, v_totals, v_control), v_dataset.definition_digest, v_dataset.approval_required, v_actor.actor,
         extract(epoch from clock_timestamp() - v_started) * 1000
    from iu_core.fn_ingest_repeated_keys(u, v_dataset.definition) as k (repeated_keys)
  returning * into v_plan;
  update iu_core.ingest_upload set status = 'planned', error = null, control = v_control where upload_id = u.upload_id;
  perform iu_core.fn_event_emit('staging', 'ingestion_planned',
    p_event_subject_ref => p_upload_id::text, p_workspace_id => u.workspace_id, p_actor => p_planned_by,
    p_safe_payload => jsonb_build_object('upload_id', p_upload_id, 'dataset', u.dataset, 'plan_digest', v_plan.digest,
                                         'totals', v_plan.totals));
  return v_plan;
end $$;

grant execute on function iu_core.fn_ingest_plan(uuid, text, numeric, text, text)
  to service_role, dot_executor, authenticated, stagedoor_agent, stagedoor_reviewer;

-- The valid lines of an upload as a typed temporary table `ingest_line`: one pass over the payloads, and everything after
-- it is plain columns. Keys that repeat are summed here where the upload or its dataset says so. Returns the sources that are empty in
-- some line. Internal.
create or replace function iu_core.fn_ingest_plan_lines(
  p_upload iu_core.ingest_upload, p_definition jsonb, p_misfits boolean default false, p_again boolean default false
) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
-- Nothing is known yet of an upload that was staged a moment ago, and for a few rows the planner would go through the index
-- one by one (0.2 s more for 100,000).
set enable_indexscan = off
as $$
declare
  v_layout jsonb := p_upload.reading -> 'layout';
  v_leaf jsonb;
  v_columns text;
  v_unpacked record;
  v_nullable text[];
  v_policy text := iu_core.fn_ingest_repeated_keys(p_upload, p_definition);
begin
  select * into v_unpacked from iu_core.fn_ingest_unpack_sql('s.normalized_payload', (
    select jsonb_agg(c)
      from (select distinct f as "column", iu_core.fn_ingest_field_type(p_definition -> 'fields' -> f) as type,
                   iu_core.fn_ingest_line_column(v_layout, f) as slot
              from jsonb_array_elements_text(v_layout -> 'fields') as f
             -- What no table takes need not be unpacked.
             where exists (select from jsonb_array_elements(p_definition -> 'rows') as spec, jsonb_each_text(spec -> 'columns') as c
                            where v_layout -> 'row_types' ? (spec ->> 'name') and c.value = f)
                or exists (select from jsonb_array_elements(p_definition -> 'rows') as spec where spec -> 'identity' ->> 'name' = f)
            union all
            select '@' || (spec ->> 'name'), 'text', iu_core.fn_ingest_line_column(v_layout, '$' || (spec ->> 'name'))
              from jsonb_array_elements(p_definition -> 'rows') as spec
             where v_layout -> 'row_types' ? (spec ->> 'name') and spec ? 'identity') c));
  drop table if exists pg_temp.ingest_line;
  execute format($sql$
    create temporary table ingest_line on commit drop as
    select s.id as staging_row_id, s.row_number, %s
      from public.staging_rows s%s
     where s.upload_id = %L and s.row_type = %L and s.validation_status = 'valid'
  $sql$, v_unpacked.selected, v_unpacked.joined, p_upload.upload_id, v_layout ->> 'leaf');

  select spec into v_leaf from jsonb_array_elements(p_definition -> 'rows') as spec where spec ->> 'name' = v_layout ->> 'leaf';
  if v_policy <> 'sum' and not p_again
     and iu_core.fn_ingest_plan_repeats(v_layout, v_leaf) then
    -- Marks the lines, and begins again with those that are left.
    perform iu_core.fn_ingest_check_set(p_upload, p_definition);
    perform iu_core.fn_ingest_recount(p_upload.upload_id, v_layout ->> 'leaf', p_upload.line_count);
    return iu_core.fn_ingest_plan_lines(p_upload, p_definition, p_misfits, true);
  end if;
  perform iu_core.fn_ingest_plan_misfits(p_upload, p_definition, p_misfits);
  if v_policy = 'sum' then
    perform iu_core.fn_ingest_plan_sums(p_upload, p_definition, v_leaf);
  end if;
  analyze pg_temp.ingest_line;

  -- One pass for all key columns of all row types.
  select string_agg(format('case when bool_or(l.%I is null) then %L end', iu_core.fn_ingest_line_column(v_layout, source), source), ', ')
    into v_columns
    from (select distinct c.value as source
            from jsonb_array_elements(p_definition -> 'rows') as spec, jsonb_each_text(spec -> 'columns') as c
           where spec -> 'key' ? c.key and v_layout -> 'row_types' ? (spec ->> 'name')
             and (v_layout -> 'fields' ? c.value or v_layout -> 'row_types' ? substr(c.value, 2))) s;
  if v_columns is null then
    return '{}';
  end if;
  execute format('select array_remove(array[%s], null) from pg_temp.ingest_line l', v_columns) into v_nullable;
  return v_nullable;
end $$;

-- Whether any key repeats among the lines in `ingest_line`. Internal.
create or replace function iu_core.fn_ingest_plan_repeats(p_layout jsonb, p_leaf jsonb) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text;
  v_found boolean;
begin
  select string_agg('l.' || iu_core.fn_ingest_line_column(p_layout, case when source = '$identity' then '$' || (p_leaf ->> 'name') else source end), ', ')
    into v_key
    from jsonb_array_elements_text(p_leaf -> 'key') as k, lateral (select p_leaf -> 'columns' ->> k) as s (source)
   where p_layout -> 'fields' ? source or p_layout -> 'row_types' ? substr(source, 2) or source = '$identity';
  if v_key is null then
    return false;
  end if;
  execute format('select exists (select from pg_temp.ingest_line l group by %s having count(*) > 1)', v_key) into v_found;
  return v_found;
end $$;

-- Takes the lines out of `ingest_line` that hold a value which its column cannot: they are planned as refused, with the
-- reason. Texts that are too long always, because a cast would cut them; everything else only with p_all, when casting a
-- column as a whole has failed. Internal.
create or replace function iu_core.fn_ingest_plan_misfits(p_upload iu_core.ingest_upload, p_definition jsonb, p_all boolean)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_layout jsonb := p_upload.reading -> 'layout';
  v_column record;
  v_reason text;
begin
  for v_column in
    select t.target_name, w.*, iu_core.fn_ingest_line_column(v_layout, w.source) as slot,
           iu_core.fn_ingest_field_type(p_definition -> 'fields' -> w.source) as from_type
      from iu_core.fn_ingest_row_types(p_definition, v_layout) t,
           jsonb_to_recordset(t.written) as w ("column" text, source text, type text, max_length integer)
     where v_layout -> 'fields' ? w.source and (p_all or w.max_length is not null)
  loop
    v_reason := format('case when char_length(rtrim(l.%1$I::text)) > %2$L then %3$L end', v_column.slot, v_column.max_length,
                       format('it is longer than the %s characters of the column', v_column.max_length));
    if p_all then
      v_reason := format('coalesce(%s, iu_core.fn_ingest_misfit(l.%I::text, %L, %L))',
                         v_reason, v_column.slot, v_column.from_type, v_column.type);
    end if;
    execute format($sql$
      with misfits as (
        delete from pg_temp.ingest_line l where %1$s is not null
        returning l.row_number, l.staging_row_id, %2$L || ' cannot hold ' || coalesce(left(l.%3$I::text, 100), 'NULL') || ': ' || %1$s as reason
      )
      insert into iu_core.ingest_plan_row (upload_id, type_order, row_type, row_number, staging_row_id, action, reason, row_hash)
      select $1, iu_core.fn_ingest_type_order($2, $3), $3, row_number, staging_row_id, 'refused', reason,
             sha256(convert_to(concat_ws('|', row_number, 'refused', reason), 'UTF8'))
        from misfits
    $sql$, v_reason, format('%s.%s', v_column.target_name, v_column."column"), v_column.slot)
      using p_upload.upload_id, p_definition, v_layout ->> 'leaf';
  end loop;
end $$;

-- Why a column cannot hold a value, in the words of PostgreSQL; NULL: it can. A subtransaction for each value, so only
-- asked when a whole column was refused. Internal.
create or replace function iu_core.fn_ingest_misfit(p_value text, p_from text, p_to text) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_reason text;
begin
  execute format('select ($1::%s)::%s', p_from, p_to) using p_value;
  return null;
exception
  when data_exception or check_violation or not_null_violation then
    get stacked diagnostics v_reason = message_text;
    return v_reason;
end $$;

-- Lines with the same key become one, at the first of them: what is additive is summed, the rest is the first line's.
-- The others are planned as skipped. Amounts of two currencies have no sum: such lines are refused. Internal.
create or replace function iu_core.fn_ingest_plan_sums(p_upload iu_core.ingest_upload, p_definition jsonb, p_leaf jsonb)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_layout jsonb := p_upload.reading -> 'layout';
  v_key text;
  v_sums text;
  v_sets text;
  v_currency text;
begin
  select string_agg('l.' || iu_core.fn_ingest_line_column(v_layout, case when source = '$identity' then '$' || (p_leaf ->> 'name') else source end), ', ')
    into v_key
    from jsonb_array_elements_text(p_leaf -> 'key') as k, lateral (select p_leaf -> 'columns' ->> k) as s (source)
   where v_layout -> 'fields' ? source or v_layout -> 'row_types' ? substr(source, 2) or source = '$identity';
  select string_agg(format('sum(l.%1$I) as %1$I', d.slot), ', '), string_agg(format('%1$I = g.%1$I', d.slot), ', ')
    into v_sums, v_sets
    from jsonb_array_elements_text(v_layout -> 'fields') as f,
         lateral (select p_definition -> 'fields' -> f, iu_core.fn_ingest_line_column(v_layout, f)) as d (field, slot)
   where exists (select from jsonb_each_text(p_leaf -> 'columns') c where c.value = f and not p_leaf -> 'key' ? c.key)
     and coalesce((d.field ->> 'additive')::boolean, d.field ->> 'type' in ('integer', 'money'))
     and d.field ->> 'type' in ('integer', 'money', 'decimal');
  if v_key is null then
    return;
  end if;
  select iu_core.fn_ingest_line_column(v_layout, f) into v_currency from jsonb_array_elements_text(v_layout -> 'fields') as f
   where p_definition -> 'fields' -> f ->> 'type' = 'currency'
     and exists (select from jsonb_each_text(p_leaf -> 'columns') c where c.value = f) limit 1;
  drop table if exists pg_temp.ingest_repeated;
  execute format($sql$
    create temporary table ingest_repeated on commit drop as
    select array_agg(l.row_number order by l.row_number) as lines, %s as several_currencies %s
      from pg_temp.ingest_line l group by %s having count(*) > 1
  $sql$, case when v_currency is null then 'false' else format('coalesce(min(l.%1$I) <> max(l.%1$I), false)', v_currency) end, ', ' || v_sums, v_key);
  with mixed as (
    delete from pg_temp.ingest_line l
     using (select unnest(r.lines) as row_number, r.lines from pg_temp.ingest_repeated r where r.several_currencies) g
     where l.row_number = g.row_number
    returning l.staging_row_id, l.row_number, format('lines %s have the same key and different currencies, so they have no sum',
                                                     array_to_string(g.lines[1:5], ', ')) as reason
  )
  insert into iu_core.ingest_plan_row (upload_id, type_order, row_type, row_number, staging_row_id, action, reason, row_hash)
  select p_upload.upload_id, iu_core.fn_ingest_type_order(p_definition, v_layout ->> 'leaf'), v_layout ->> 'leaf',
         row_number, staging_row_id, 'refused', reason, sha256(convert_to(concat_ws('|', row_number, 'refused', reason), 'UTF8'))
    from mixed;
  delete from pg_temp.ingest_repeated where several_currencies;
  if v_sets is not null then
    execute format('update pg_temp.ingest_line l set %s from pg_temp.ingest_repeated g where l.row_number = g.lines[1]', v_sets);
  end if;
  with others as (
    -- Line by line, so that it can be hashed: with any (lines) 10,000 keys took 25 s.
    delete from pg_temp.ingest_line l using (select unnest(r.lines[2:]) as row_number, r.lines[1] as first_line from pg_temp.ingest_repeated r) g
     where l.row_number = g.row_number returning l.staging_row_id, l.row_number, g.first_line
  )
  insert into iu_core.ingest_plan_row (upload_id, type_order, row_type, row_number, staging_row_id, action, reason, row_hash)
  select p_upload.upload_id, iu_core.fn_ingest_type_order(p_definition, v_layout ->> 'leaf'), v_layout ->> 'leaf',
         row_number, staging_row_id, 'skipped', format('added to line %s, which has the same key', first_line),
         sha256(convert_to(format('%s skipped %s', row_number, first_line), 'UTF8'))
    from others;
end $$;

-- One row type that has an identity (campaign, ad set, customer): each entity once, at its first line, looked up in the
-- target by its natural key, or where the file has no ids by its name within the parent. What is not there gets its id
-- now, so that children resolve. Parents come before. Internal.
create or replace function iu_core.fn_ingest_plan_entities(
  p_upload iu_core.ingest_upload, p_type record, p_nullable text[]
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_layout jsonb := p_upload.reading -> 'layout';
  v_identity jsonb := p_type.spec -> 'identity';
  v_joins text := iu_core.fn_ingest_parent_joins(p_type.spec, v_layout);
  v_target text := iu_core.fn_ingest_table_sql(p_type.target);
  v_parent text;
  v_parent_column text;
  v_attributes text;
  v_fields text[];
  v_first text;
  v_place integer;
  v_match text;
  v_batch uuid := iu_core.fn_time_uuid();
begin
  -- The nearest parent: the last of the file's row types that it refers to.
  select r.value into v_parent
    from jsonb_array_elements_text(v_layout -> 'row_types') with ordinality as r
   where exists (select from jsonb_each_text(p_type.spec -> 'columns') c where c.value = '$' || r.value)
   order by r.ordinality desc limit 1;
  v_parent_column := iu_core.fn_ingest_line_column(v_layout, '$' || v_parent);
  -- An attribute is the first value that is not empty; where lines differ about it, that is worth a warning.
  -- (Least against greatest: to count the different ones would sort all lines.)
  v_fields := array(select distinct value from jsonb_each_text(p_type.spec -> 'columns') where v_layout -> 'fields' ? value order by 1);
  select string_agg(format('case when min(l.%1$I::text collate "C") <> max(l.%1$I::text collate "C") then %2$L end',
                           iu_core.fn_ingest_line_column(v_layout, f), f), ', '),
         string_agg(format('min(l.row_number) filter (where l.%I is not null)', iu_core.fn_ingest_line_column(v_layout, f)), ', ' order by n)
    into v_attributes, v_first
    from unnest(v_fields) with ordinality as a (f, n);
  execute format($sql$
    insert into pg_temp.ingest_entity (
      row_type, external_id, row_number, staging_row_id, new_id, conflicting, filled_from, parent_external_id, parent_id, ambiguous, reason)
    select %1$L, g.external_id, l.row_number, l.staging_row_id, %5$s, g.conflicting, g.filled_from, %6$s
      from (select l.%2$I as external_id, min(l.row_number) as row_number, array_remove(array[%3$s]::text[], null) as conflicting,
                   array[%8$s]::integer[] as filled_from, %7$s as several_parents
              from pg_temp.ingest_line l where l.%2$I is not null group by 1) g
      join pg_temp.ingest_line l using (row_number) %4$s
  $sql$, p_type.row_type, iu_core.fn_ingest_line_column(v_layout, '$' || p_type.row_type), v_attributes, v_joins,
     -- The id of the line's own row serves where the line is the entity.
     case when p_type.is_leaf then 'l.staging_row_id' else 'iu_core.fn_time_uuid()' end,
     case when v_parent is null then 'null, null, false, null'
          else format($sql$
            l.%1$I, %2$I.internal_id, g.several_parents or coalesce(%2$I.ambiguous, false),
            case when g.several_parents then 'the file has it under several parents'
                 when %2$I.ambiguous then 'its parent is not certain: ' || %2$I.reason end
          $sql$, v_parent_column, 'p_' || v_parent_column) end,
     -- One id under two parents would hang everything under the first of them.
     case when v_parent is null then 'false' else format('coalesce(min(l.%1$I collate "C") <> max(l.%1$I collate "C"), false)', v_parent_column) end,
     v_first);
  analyze pg_temp.ingest_entity;

  -- Where the first line of an entity lacks a value that a later one has, it gets a line of its own, filled up.
  drop table if exists pg_temp.ingest_entity_line;
  if exists (select from pg_temp.ingest_entity e
              where e.row_type = p_type.row_type and exists (select from unnest(e.filled_from) as f where f <> e.row_number)) then
    create temporary table ingest_entity_line on commit drop as
    select l.* from pg_temp.ingest_line l join pg_temp.ingest_entity e on e.row_number = l.row_number and e.row_type = p_type.row_type;
    for v_place in 1 .. cardinality(v_fields) loop
      execute format($sql$
        update pg_temp.ingest_entity_line l set %1$I = s.%1$I
          from pg_temp.ingest_entity e join pg_temp.ingest_line s on s.row_number = e.filled_from[%2$s]
         where e.row_type = %3$L and l.row_number = e.row_number and e.filled_from[%2$s] <> e.row_number
      $sql$, iu_core.fn_ingest_line_column(v_layout, v_fields[v_place]), v_place, p_type.row_type);
    end loop;
  end if;

  v_match := iu_core.fn_ingest_key_match_sql(p_type.key_columns, p_type.spec, p_type.written, v_layout, p_upload, p_nullable);
  execute format($sql$
    update pg_temp.ingest_entity u set internal_id = %1$s, existing = true
      from pg_temp.ingest_entity e join pg_temp.ingest_line l on l.row_number = e.row_number %2$s join %3$s t on %4$s
     where e.row_type = %5$L and u.row_type = %5$L and u.external_id = e.external_id and not e.ambiguous
  $sql$, case when p_type.id_column is null then 'null::uuid' else format('t.%I', p_type.id_column) end,
     v_joins, v_target, v_match, p_type.row_type);

  if v_identity ->> 'nameColumn' is not null and not v_layout -> 'fields' ? coalesce(v_identity ->> 'id', '') then
    -- The key less the id: client and platform, or the parent.
    v_match := iu_core.fn_ingest_key_match_sql(
      array(select k from unnest(p_type.key_columns) k where p_type.spec -> 'columns' ->> k <> '$identity'),
      p_type.spec, p_type.written, v_layout, p_upload, p_nullable);
    execute format($sql$
      with found as (
        select e.external_id, (array_agg(t.%1$I))[1] as id, count(*) as candidates
          from pg_temp.ingest_entity e join pg_temp.ingest_line l on l.row_number = e.row_number %2$s
          join %3$s t on %4$s and t.%5$I = l.%6$I
         where e.row_type = %7$L and not e.existing and not e.ambiguous group by 1
      )
      update pg_temp.ingest_entity u
         set internal_id = case when f.candidates = 1 then f.id end, existing = f.candidates = 1,
             ambiguous = u.ambiguous or f.candidates > 1,
             reason = case when f.candidates > 1 then format('%%s rows have this name, and the file has no ids', f.candidates) else u.reason end
        from found f where u.row_type = %7$L and u.external_id = f.external_id
    $sql$, p_type.id_column, v_joins, v_target, coalesce(v_match, 'true'),
       v_identity ->> 'nameColumn', iu_core.fn_ingest_line_column(v_layout, v_identity ->> 'name'), p_type.row_type);
  end if;
  update pg_temp.ingest_entity set internal_id = new_id
   where row_type = p_type.row_type and not existing and not ambiguous;

  insert into public.staging_id_resolution (
    workspace_id, client_id, upload_id, batch_id, platform, entity_type, external_id, internal_id, resolution_status,
    resolution_action, parent_external_id, parent_internal_id, resolved_at)
  select p_upload.workspace_id, p_upload.client_id, p_upload.upload_id, v_batch, p_upload.platform, e.row_type, e.external_id, e.internal_id,
         (case when e.ambiguous then 'unresolved' when e.existing then 'resolved_existing' else 'resolved_new' end)::public.staging_resolution_status,
         (case when e.ambiguous then 'failed' when e.existing then 'update' else 'insert' end)::public.staging_processing_action,
         e.parent_external_id, e.parent_id, clock_timestamp()
    from pg_temp.ingest_entity e where e.row_type = p_type.row_type;
  insert into public.staging_rows (
    id, workspace_id, client_id, upload_id, batch_id, request_id, platform, row_type, row_number, entity_external_id, raw_payload,
    normalized_payload, validation_status, validation_errors, validation_warnings)
  select e.new_id, s.workspace_id, s.client_id, s.upload_id, v_batch, s.request_id, s.platform, e.row_type, e.row_number, e.external_id, s.raw_payload,
         s.normalized_payload, (case when e.ambiguous then 'invalid' else 'valid' end)::public.staging_validation_status,
         case when e.ambiguous then jsonb_build_array(jsonb_build_object(
           'line', e.row_number, 'rule', 'id.ambiguous', 'column', v_identity ->> 'name',
           'message', format('It is not certain which row of %s this is: %s.', p_type.target_name, e.reason),
           'suggestion', 'Export again with the id column, or give each its own id.')) else '[]' end,
         case when e.conflicting <> '{}' then jsonb_build_array(jsonb_build_object(
           'line', e.row_number, 'rule', 'entity.conflicting',
           'message', format('Lines differ about its %s; the first value that is not empty is taken.', array_to_string(e.conflicting, ', ')),
           'suggestion', 'Nothing to do if the first one is right.')) else '[]' end
    from pg_temp.ingest_entity e
    -- Line by line through the key: as a plain join the planner reads the whole upload for ten campaigns (0.3 s each time).
    cross join lateral (select * from public.staging_rows l
                         where l.upload_id = p_upload.upload_id and l.row_type = v_layout ->> 'leaf' and l.row_number = e.row_number
                        offset 0) s
   where e.row_type = p_type.row_type and not p_type.is_leaf;
end $$;

-- What one row type would change: every row beside its target row. Internal.
create or replace function iu_core.fn_ingest_plan_type(p_upload iu_core.ingest_upload, p_type record, p_nullable text[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_layout jsonb := p_upload.reading -> 'layout';
  v_joins text := iu_core.fn_ingest_parent_joins(p_type.spec, v_layout);
  v_from text;
  v_match text;
  v_new_id text;
  v_ambiguous text;
  v_reason text;
  v_values text;
  v_changed text;
  v_key text;
  v_texts boolean := iu_core.fn_ingest_plan_texts(p_type.written) is not null;
  v_inserted text;
begin
  v_match := iu_core.fn_ingest_key_match_sql(p_type.key_columns, p_type.spec, p_type.written, v_layout, p_upload, p_nullable);
  if p_type.is_entity then
    v_from := format('pg_temp.ingest_entity e join pg_temp.%I l on l.row_number = e.row_number and e.row_type = %L %s',
                     case when to_regclass('pg_temp.ingest_entity_line') is null then 'ingest_line' else 'ingest_entity_line' end,
                     p_type.row_type, v_joins);
    v_new_id := 'e.new_id';
    v_ambiguous := 'e.ambiguous';
    v_reason := 'e.reason';
    -- Found by its key or by its name: in both cases it is the row that was found.
    v_match := 'e.existing and ' || case when p_type.id_column is null then v_match
                                         else format('t.%I = e.internal_id', p_type.id_column) end;
  else
    v_from := 'pg_temp.ingest_line l ' || v_joins;
    v_new_id := 'l.staging_row_id';
    select coalesce(string_agg(format('coalesce(p_%s.ambiguous, false)', iu_core.fn_ingest_line_column(v_layout, value)), ' or '), 'false'),
           format('concat(''its parent is not certain: '', coalesce(%s))',
                  coalesce(string_agg(format('p_%s.reason', iu_core.fn_ingest_line_column(v_layout, value)), ', '), 'null::text'))
      into v_ambiguous, v_reason
      from jsonb_each_text(p_type.spec -> 'columns') where value like '$%' and v_layout -> 'row_types' ? substr(value, 2);
  end if;

  -- What was found by its name keeps the id that it has there.
  select string_agg(format('(%s)::%s as %I',
           case when w.source = '$identity' then format('case when t.ctid is null then e.external_id else t.%I::text end', w."column")
                else iu_core.fn_ingest_source_sql(w.source, v_layout, p_upload) end, w.type, w."column"), ', '),
         -- json has no equality of its own.
         string_agg(format('case when t.%1$I%3$s is distinct from v.%1$I%3$s then %2$L end', w."column", w."column",
                           case w.type when 'json' then '::jsonb' else '' end), ', '),
         string_agg(format('%L, v.%I', w."column", w."column"), ', ') filter (where w."column" = any (p_type.key_columns)),
         string_agg(format('v.%I::text', w."column"), ', ')
    into v_values, v_changed, v_key, v_inserted
    from jsonb_to_recordset(p_type.written) as w ("column" text, source text, type text);

  -- The id of the staged row becomes that of the new one: known before promotion, and rising with time.
  -- Whole rows are `t.*` and `v.*`: `t` alone would be the column t of a table that has one.
  execute format($sql$
    insert into iu_core.ingest_plan_row (
      upload_id, type_order, row_type, row_number, staging_row_id, action, target_id, target_key, before, before_hash,
      inserted, after, changed, reason, row_hash)
    select r.*, sha256(convert_to(concat_ws('|', r.row_type, r.row_number, r.action, r.target_id,
                                            r.inserted, coalesce(r.after, r.target_key), r.before_hash), 'UTF8'))
      from (
        select %1$L::uuid, %2$s::smallint, %3$L::text as row_type, l.row_number as row_number, %4$s as staging_row_id, a.action,
               %5$s as target_id,
               case when %13$L and a.action <> 'refused' then jsonb_build_object(%6$s) end as target_key,
               case when a.action = 'update' then to_jsonb(t.*) end as before,
               case when a.action in ('update', 'unchanged') then %17$s end as before_hash,
               case when %15$L and a.action = 'insert' then array[%16$s] end as inserted,
               -- (A row at once: built column by column it takes half as long again.)
               case when a.action = 'update' or a.action = 'insert' and not %15$L then to_jsonb(v.*) end as after,
               case when a.action = 'update' then c.changed end as changed,
               case when a.action = 'refused' then %14$s end as reason
          from %7$s
          left join %8$s t on %9$s,
               lateral (select %10$s) as v,
               lateral (select case when t.ctid is not null then array_remove(array[%11$s]::text[], null) end as changed) as c,
               lateral (select case when %12$s then 'refused' when t.ctid is null then 'insert'
                                    when c.changed = '{}' then 'unchanged' else 'update' end as action) as a
        -- Otherwise the images would be built once for the table and once more for the hash.
        offset 0
      ) r
  $sql$,
    p_upload.upload_id, p_type.type_order, p_type.row_type, v_new_id,
    case when p_type.id_column is null then 'null::uuid' else format('coalesce(t.%I, %s)', p_type.id_column, v_new_id) end,
    v_key, v_from, iu_core.fn_ingest_table_sql(p_type.target), v_match, v_values, v_changed, v_ambiguous, p_type.id_column is null,
    v_reason, v_texts, v_inserted, iu_core.fn_ingest_row_hash_sql(p_type.target, 't.*'));
end $$;

-- The columns that a row type writes, if all of them are of types whose text is all there is to know: then a plan holds
-- the texts of what it inserts. NULL if one is not. Internal.
create or replace function iu_core.fn_ingest_plan_texts(p_written jsonb) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when bool_and(f.form is not null) then
           jsonb_agg(jsonb_build_object('column', w."column", 'form', f.form) order by w.ordinality) end
    from rows from (jsonb_to_recordset(p_written) as ("column" text, type text)) with ordinality as w,
         lateral (select case when t.typtype = 'e' or t.typcategory = 'S' and t.typtype = 'b' and t.typname <> 'bpchar' or t.typname in ('uuid', 'date') then 'text'
                              when t.typname in ('int2', 'int4', 'int8', 'numeric') then 'number'
                              when t.typname = 'bool' then 'boolean' end as form
                    from pg_type t where t.oid = w.type::regtype) as f
$$;

-- Lines that a plan refuses (a value that its column cannot hold, a parent that is not certain) carry the error like those that
-- the reader refused. The scope says that it is the plan's: planned again, it is looked at again. Internal.
create or replace function iu_core.fn_ingest_plan_problems(p_upload iu_core.ingest_upload) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
-- As in fn_ingest_check_set: nothing is known yet of these rows.
set enable_nestloop = off
as $$
declare
  v_leaf text := p_upload.reading -> 'layout' ->> 'leaf';
begin
  update public.staging_rows s
     set validation_status = 'invalid',
         validation_errors = coalesce(s.validation_errors, '[]') || jsonb_build_object(
           'scope', 'plan', 'line', s.row_number, 'rule', 'plan.refused', 'message', p.reason || '.',
           'suggestion', 'Correct the line, or what it refers to, and plan again.'),
         updated_at = now()
    -- Line by line through the key, and then by place: as a join the planner may look through the whole plan for each line (74 s for 12,000).
    from (select l.place, r.reason
            from (select * from iu_core.ingest_plan_row
                   where upload_id = p_upload.upload_id and row_type = v_leaf and action = 'refused' offset 0) r
           cross join lateral (select x.ctid as place from public.staging_rows x
                                where x.upload_id = p_upload.upload_id and x.row_type = v_leaf and x.row_number = r.row_number
                                  and x.validation_status = 'valid' offset 0) l) p
   where s.ctid = p.place;
  if found then
    perform iu_core.fn_ingest_recount(p_upload.upload_id, v_leaf, p_upload.line_count);
  end if;
end $$;

-- The sha-256 of a plan: every row of it, in order, how it is to be promoted, and what a person who decides is shown of the
-- whole (its control totals). Internal.
create or replace function iu_core.fn_ingest_plan_digest(p_upload_id uuid, p_gate_mode text, p_threshold numeric, p_shown jsonb)
returns text
language sql stable
set search_path = pg_catalog, pg_temp
-- In the order of the key by the key's own index: gathered first and then sorted it takes twice as long.
set enable_bitmapscan = off
set enable_seqscan = off
set enable_sort = off
as $$
  select encode(sha256(convert_to(concat_ws('|', p_upload_id, p_gate_mode, trim_scale(p_threshold), p_shown), 'UTF8')
                       || coalesce(string_agg(row_hash, ''), '')), 'hex')
    from (select row_hash from iu_core.ingest_plan_row where upload_id = p_upload_id order by type_order, row_number) r
$$;

-- An upload that was to be planned right after it was read, and could not be: it stays staged, and says why until it is
-- planned. {"code", "message", "hint"}. For the back end.
create or replace function iu_core.fn_ingest_plan_failed(p_upload_id uuid, p_error jsonb) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'stage');
  update iu_core.ingest_upload set error = p_error where upload_id = p_upload_id and status = 'staged';
end $$;

grant execute on function iu_core.fn_ingest_plan_failed(uuid, jsonb) to service_role;

-- What a planned row will hold: the object that the plan has, or the one that its texts make. For whoever reads a plan.
create or replace function iu_core.fn_ingest_plan_image(p_columns jsonb, p_row iu_core.ingest_plan_row) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when p_row.inserted is null then p_row.after else (
    select jsonb_object_agg(c."column", case when v.value is null then 'null'::jsonb
                                             when c.form = 'boolean' then to_jsonb(v.value::boolean)
                                             when c.form = 'number' then to_jsonb(v.value::numeric)
                                             else to_jsonb(v.value) end)
      from rows from (jsonb_to_recordset(p_columns -> p_row.row_type) as ("column" text, form text)) with ordinality as c,
           lateral (select p_row.inserted[c.ordinality]) as v (value)) end
$$;

grant execute on function iu_core.fn_ingest_plan_image(jsonb, iu_core.ingest_plan_row)
  to service_role, dot_executor, authenticated, stagedoor_agent, stagedoor_reviewer;

-- The rows of a plan that are no longer what it was made on, each with what the plan saw, what it would write and what is there
-- now, in the order of the plan; none: it is not stale. Of a row that the plan leaves unchanged it saw only a fingerprint, so
-- before is NULL. total: how many there are in all. Changes nothing.
create or replace function iu_core.fn_ingest_plan_stale(p_upload_id uuid, p_limit integer default 200)
returns table (
  target_table text, row_type text, line integer, action text, key jsonb, before jsonb, planned jsonb, now jsonb, total bigint
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set work_mem = '64MB'
set default_statistics_target = 10
-- Temporary tables are dropped if they exist; nobody needs to hear that they do not.
set client_min_messages = 'warning'
set timezone = 'UTC'
set datestyle = 'ISO, YMD'
set intervalstyle = 'postgres'
set extra_float_digits = 1
set bytea_output = 'hex'
as $$
#variable_conflict use_column
declare
  u iu_core.ingest_upload;
  v_definition jsonb;
  v_type record;
  v_planned record;
  v_key text;
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'read');
  select * into u from iu_core.ingest_upload where upload_id = p_upload_id;
  if u.status <> 'planned' then
    raise exception using
      errcode = 'SD602',
      message = format('Upload %s is %s and has no plan that could be stale', p_upload_id, u.status),
      detail = json_build_object('upload', p_upload_id, 'status', u.status, 'action', 'compared with its tables')::text;
  end if;
  select d.definition into v_definition from iu_core.ingest_dataset d where d.dataset = u.dataset;
  drop table if exists pg_temp.ingest_stale;
  create temporary table ingest_stale (
    type_order smallint, line integer, key jsonb, now jsonb) on commit drop;
  for v_type in select * from iu_core.fn_ingest_row_types(v_definition, u.reading -> 'layout') where target is not null loop
    select * into v_planned from iu_core.fn_ingest_planned_rows(p_upload_id, v_type);
    continue when v_planned.inserts + v_planned.updates + v_planned.unchanged = 0;
    -- Its key as it is there; of a row that is gone, as it was planned.
    select string_agg(format('%L, case when t.ctid is null then to_jsonb(%s) else to_jsonb(t.%I) end', k.name,
                             coalesce('n.' || w.slot, 'null::text'), k.name), ', ' order by k.position) into v_key
      from unnest(v_type.key_columns) with ordinality as k (name, position)
      left join jsonb_to_recordset(v_type.written) as w ("column" text, slot text) on w."column" = k.name;
    execute format('insert into pg_temp.ingest_stale %s', iu_core.fn_ingest_stale_sql(v_type, v_planned.row_match, v_planned.key_match,
      format('%s::smallint, n."#row", jsonb_build_object(%s), case when t.ctid is not null then to_jsonb(t.*) end', v_type.type_order, v_key)));
  end loop;
  return query
    select t.target_name, r.row_type, s.line, r.action, s.key, r.before, iu_core.fn_ingest_plan_image(p.inserted_columns, r), s.now,
           (select count(*) from pg_temp.ingest_stale)
      from (select * from pg_temp.ingest_stale x order by x.type_order, x.line limit least(greatest(p_limit, 0), 1000)) s
      join iu_core.ingest_plan_row r on r.upload_id = p_upload_id and r.type_order = s.type_order and r.row_number = s.line
      join iu_core.ingest_plan p on p.upload_id = p_upload_id
      join iu_core.fn_ingest_row_types(v_definition, u.reading -> 'layout') t on t.type_order = s.type_order
     order by s.type_order, s.line;
end $$;

grant execute on function iu_core.fn_ingest_plan_stale(uuid, integer)
  to service_role, dot_executor, authenticated, stagedoor_agent, stagedoor_reviewer;

-- Raises that production has changed since the plan was made, with the first of the rows and how to see all of them. Internal.
create or replace function iu_core.fn_ingest_refuse_stale(p_upload_id uuid, p_rows bigint, p_target text, p_line integer default null)
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_reason text := format('%s %s of %s %s changed since the plan was made', p_rows, case p_rows when 1 then 'row' else 'rows' end, p_target,
                          case p_rows when 1 then 'has' else 'have' end)
    || case when p_line is null then '' else format('; %s planned from line %s of the file', case p_rows when 1 then 'it was' else 'the first was' end, p_line) end;
begin
  raise exception using
    errcode = 'SD606',
    message = v_reason,
    hint = format('`stagedoor upload plan %s --stale` shows what was planned and what is there now; `stagedoor upload plan %1$s --again` plans it again.',
                  p_upload_id),
    detail = json_build_object('upload', p_upload_id, 'reason', v_reason, 'line', p_line)::text;
end $$;

-- Why a plan cannot be promoted as it is, in words; NULL: it can. STRICT takes all lines or none, LENIENT takes the valid
-- ones if they are enough, by their number and, where the dataset names an amount, by that. Lines that were left out by rule (totals) count on neither side. Internal.
create or replace function iu_core.fn_ingest_plan_refusal(
  p_upload iu_core.ingest_upload, p_gate_mode text, p_threshold numeric, p_totals jsonb, p_control jsonb
) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_refused bigint := 0;
  v_valid bigint;
  v_lines bigint;
  v_lost record;
begin
  -- Lines, not rows: one line may be refused as a campaign and as the figures of that campaign.
  if p_totals @? '$.*.refused' then
    select count(distinct row_number) into v_refused from iu_core.ingest_plan_row where upload_id = p_upload.upload_id and action = 'refused';
  end if;
  -- Lines that the plan refuses are among the invalid ones by now.
  v_valid := p_upload.valid_count;
  v_lines := p_upload.valid_count + p_upload.invalid_count;
  if p_upload.run_mode = 'FULL_DRY_RUN' then
    return 'this is a dry run';
  elsif v_valid = 0 then
    return 'no line is valid';
  elsif p_gate_mode = 'STRICT' and (p_upload.invalid_count > 0 or v_refused > 0) then
    return format('%s of %s lines %s wrong, and all or none are taken', greatest(p_upload.invalid_count, v_refused),
                  v_lines, case greatest(p_upload.invalid_count, v_refused) when 1 then 'is' else 'are' end);
  elsif p_gate_mode = 'LENIENT' and v_valid < p_threshold * v_lines then
    return format('only %s of %s lines are valid, and %s %% are asked for', v_valid, v_lines,
                  trim_scale(p_threshold * 100));
  end if;
  -- A few wrong lines may hold most of the money.
  if p_gate_mode = 'LENIENT' then
    select c.title, c.currency, c.lost_share into v_lost
      from jsonb_to_recordset(p_control) as c (title text, currency text, lost_share numeric)
     where c.lost_share > 1 - p_threshold order by c.lost_share desc limit 1;
    if found then
      return format('wrong or left-out lines hold %s %% of %s, and %s %% are asked for', trim_scale(round(v_lost.lost_share * 100, 2)),
                    concat_ws(' in ', v_lost.title, v_lost.currency), trim_scale(p_threshold * 100));
    end if;
  end if;
  return null;
end $$;

-- Takes a plan away with all that was derived for it: entities, resolutions, a review that is still open. What was
-- approved stays approved and expires; it names a plan that is no more, so nothing can be promoted by it. Internal.
create or replace function iu_core.fn_ingest_plan_forget(p_upload iu_core.ingest_upload) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_review uuid;
begin
  delete from iu_core.ingest_plan_row where upload_id = p_upload.upload_id;
  delete from public.staging_id_resolution where upload_id = p_upload.upload_id;
  delete from public.staging_rows
   where upload_id = p_upload.upload_id
     -- Named one by one, because only then the index finds them without passing over every line.
     and row_type = any (array(select t from jsonb_array_elements_text(p_upload.reading -> 'layout' -> 'row_types') t
                                where t <> p_upload.reading -> 'layout' ->> 'leaf'));
  -- What the plan found wrong with a line was wrong with that plan.
  update public.staging_rows s
     set (validation_errors, validation_status, updated_at) = (
           select e.errors, (case when e.errors = '[]' then 'valid' else 'invalid' end)::public.staging_validation_status, now()
             from (select coalesce(jsonb_agg(x order by o), '[]') as errors
                     from jsonb_array_elements(s.validation_errors) with ordinality as a (x, o)
                    where x ->> 'scope' is distinct from 'plan') e)
   where s.upload_id = p_upload.upload_id and (s.validation_status <> 'valid' or s.validation_warnings <> '[]')
     and s.validation_errors @> '[{"scope": "plan"}]';
  if found then
    perform iu_core.fn_ingest_recount(p_upload.upload_id, p_upload.reading -> 'layout' ->> 'leaf', p_upload.line_count);
  end if;
  delete from iu_core.ingest_plan where upload_id = p_upload.upload_id returning review_record_id into v_review;
  perform from iu_core.iu_staging_record
    where staging_record_id = v_review and lifecycle_status = 'pending' and expires_at > clock_timestamp() for update;
  if found then
    perform iu_core.fn_iu_staging_end(v_review, iu_core.fn_actor(), 'the plan was replaced');
  end if;
end $$;

-- Row type → action → rows. Internal.
create or replace function iu_core.fn_ingest_plan_totals(p_upload_id uuid) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_object_agg(row_type, actions), '{}')
    from (select row_type, jsonb_object_agg(action, rows) as actions
            from (select row_type, action, count(*) as rows from iu_core.ingest_plan_row
                   where upload_id = p_upload_id group by 1, 2) a
           group by 1) t
$$;

-- The rows of a plan that belong in a table, as the typed temporary table `ingest_now`; how many there are of each action; and
-- the conditions that find the row `t` of a planned row `n` by what it is known by and by its key, and another planned row `o`
-- with the same key. Internal.
--
-- A table of their own, because the plan's has no useful statistics for an upload that was planned a moment ago, and with those
-- the planner joins in nested loops (measured: 10,000 rows took minutes).
create or replace function iu_core.fn_ingest_planned_rows(
  p_upload_id uuid, p_type record,
  out inserts bigint, out updates bigint, out unchanged bigint, out row_match text, out key_match text, out own_match text
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_unpacked record;
  v_key record;
  v_nulls text[];
begin
  v_unpacked := iu_core.fn_ingest_unpack_sql('coalesce(p.after, p.target_key)', p_type.written, 'p.inserted',
    (select inserted_columns -> p_type.row_type from iu_core.ingest_plan where upload_id = p_upload_id));
  drop table if exists pg_temp.ingest_now;
  execute format($sql$
    create temporary table ingest_now on commit drop as
    select p.row_number as "#row", p.staging_row_id as "#staged", p.action as "#action", p.target_id as "#id",
           p.before as "#before", p.before_hash as "#hash", %s
      from iu_core.ingest_plan_row p%s
     where p.upload_id = %L and p.type_order = %s and p.action in ('insert', 'update', 'unchanged')
  $sql$, v_unpacked.selected, v_unpacked.joined, p_upload_id, p_type.type_order);
  analyze pg_temp.ingest_now;
  -- Equality can be hashed; where a key column is NULL in some row it cannot. Of what is not inserted only the id is known,
  -- where there is one.
  execute format($sql$
    select count(*) filter (where "#action" = 'insert'), count(*) filter (where "#action" = 'update'),
           count(*) filter (where "#action" = 'unchanged'), array_remove(array[%1$s]::text[], null)
      from pg_temp.ingest_now
  $sql$, (select string_agg(format('case when bool_or(%I is null and ("#action" = ''insert'' or %L)) then %L end',
                                   w.slot, p_type.id_column is null, w."column"), ', ')
            from jsonb_to_recordset(p_type.written) as w ("column" text, slot text)
           where w."column" = any (p_type.key_columns) and not iu_core.fn_ingest_column_not_null(p_type.target, w."column")))
    into inserts, updates, unchanged, v_nulls;
  if inserts + updates + unchanged = 0 then
    return;
  end if;
  for v_key in
    select k as name, w.slot
      from unnest(p_type.key_columns) as k
      left join jsonb_to_recordset(p_type.written) as w ("column" text, slot text) on w."column" = k
  loop
    key_match := concat_ws(' and ', key_match, format(
      case when v_key.slot is null then 't.%1$I is null' when v_key.name = any (v_nulls) then 't.%1$I is not distinct from n.%2$I'
           else 't.%1$I = n.%2$I' end, v_key.name, v_key.slot));
  end loop;
  select string_agg(format('o.%1$I is not distinct from n.%1$I', w.slot), ' and ') into own_match
    from jsonb_to_recordset(p_type.written) as w ("column" text, slot text) where w."column" = any (p_type.key_columns);
  row_match := case when p_type.id_column is null then key_match else format('t.%I = n."#id"', p_type.id_column) end;
end $$;
