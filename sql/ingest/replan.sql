-- A repair of few lines: the plan stays, and only what these lines touch is computed again, by the same functions that make a
-- plan. The result is the plan that planning everything again would make.

-- Stores corrected lines (see fn_ingest_repair) and brings the plan up to date. Computed again are: the lines, the lines that
-- share their old or new key, entities whose row these lines change, control totals by the difference, counts, notes, refusal
-- and digest. The other rows stay as they were planned; if production changed since, promotion finds them stale, as before.
-- Raises feature_not_supported with the reason where only the whole plan is right. Internal.
create or replace function iu_core.fn_ingest_replan_lines(
  p_upload iu_core.ingest_upload, p_dataset iu_core.ingest_dataset, p_rows jsonb, p_repaired_by text
) returns iu_core.ingest_plan
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_started timestamptz := clock_timestamp();
  u iu_core.ingest_upload := p_upload;
  v_definition jsonb := p_dataset.definition;
  v_layout jsonb := p_upload.reading -> 'layout';
  v_actor record := iu_core.fn_actor_for(p_repaired_by);
  v_plan iu_core.ingest_plan;
  v_review uuid;
  v_reason text;
  v_type record;
  -- The lines that were corrected, and with them those that have the same key.
  v_given integer[] := array(select r.row_number from jsonb_to_recordset(p_rows) as r (row_number integer));
  v_lines integer[];
  v_nullable text[];
  v_entities boolean;
  v_before text[];
  v_minus jsonb;
  v_parts jsonb;
  v_totals jsonb;
  v_control jsonb;
  v_own_totals jsonb;
  v_notes jsonb;
  v_blocks bigint[];
  v_digests bytea[];
begin
  select * into v_plan from iu_core.ingest_plan where upload_id = u.upload_id;
  v_reason := iu_core.fn_ingest_replan_obstacle(u, p_dataset, v_plan, p_rows);
  if v_reason is null then
    v_lines := iu_core.fn_ingest_replan_scope(u, v_definition, p_rows, v_given);
    v_reason := case when cardinality(v_lines) > 20000 then 'too many lines share the keys of these lines' end;
  end if;
  if v_reason is not null then
    raise exception using errcode = 'feature_not_supported', message = v_reason;
  end if;
  perform iu_core.fn_ingest_raise_temp_buffers();
  select t.* into v_type from iu_core.fn_ingest_row_types(v_definition, v_layout) t where t.is_leaf;

  -- What these lines were in the plan: their part of the control totals, and of the entities.
  drop table if exists pg_temp.ingest_replan_count, pg_temp.ingest_replan_block, pg_temp.ingest_replan_touched, pg_temp.ingest_replan_entity,
    pg_temp.ingest_replan_base;
  create temporary table ingest_replan_count (row_type text, action text, rows bigint) on commit drop;
  create temporary table ingest_replan_block (block bigint) on commit drop;
  create temporary table ingest_replan_touched (row_number integer primary key, before jsonb, after jsonb) on commit drop;
  create temporary table ingest_replan_base (type_order smallint, row_number integer, action text, hash bytea) on commit drop;
  create temporary table ingest_replan_entity (row_type text, external_id text, known boolean, row_number integer) on commit drop;
  perform iu_core.fn_ingest_replan_count(u.upload_id, v_type.type_order, v_lines, -1);
  -- Lines that were added to another are planned as skipped when the lines are read.
  -- (By lists of lines here and below: nothing may be known yet of these rows, and joined the planner would read the whole upload.)
  delete from iu_core.ingest_plan_row
   where upload_id = u.upload_id and type_order = v_type.type_order and action = 'skipped' and row_number = any (array(
           select s.row_number from iu_core.ingest_staged_row s
            where s.upload_id = u.upload_id and s.row_type = v_type.row_type and s.row_number = any (v_lines) and s.validation_status = 'valid'));
  v_before := iu_core.fn_ingest_line_statuses(u.upload_id, v_type.row_type, v_lines);
  perform iu_core.fn_ingest_check_lookups(u, v_definition, v_lines);
  if v_before is distinct from iu_core.fn_ingest_line_statuses(u.upload_id, v_type.row_type, v_lines)
     or iu_core.fn_ingest_lookups_changed(u.upload_id) then
    raise exception using errcode = 'feature_not_supported', message = 'a table in which values are looked up has changed since the plan was made';
  end if;
  perform iu_core.fn_ingest_plan_lines(u, v_definition, p_lines => v_lines);
  v_minus := iu_core.fn_ingest_control_parts(u, v_definition, true, p_lines => v_lines);
  insert into pg_temp.ingest_replan_touched (row_number, before)
  select s.row_number, s.normalized_payload from iu_core.v_ingest_staged_row s
   where s.upload_id = u.upload_id and s.row_type = v_type.row_type and s.row_number = any (array(select l.row_number from pg_temp.ingest_line l));
  perform iu_core.fn_ingest_replan_base(u.upload_id, v_type.type_order, v_lines);
  delete from iu_core.ingest_plan_row where upload_id = u.upload_id and type_order = v_type.type_order and row_number = any (v_lines);

  perform iu_core.fn_ingest_repair_store(u, p_rows, v_actor.actor, v_actor.via);
  perform iu_core.fn_ingest_remove_cross_line_problems(u, v_lines);
  perform iu_core.fn_ingest_check_lookups(u, v_definition, v_lines);
  perform iu_core.fn_ingest_check_repeated_keys(u, v_definition, v_lines);
  perform iu_core.fn_ingest_recount(u.upload_id, v_type.row_type, u.line_count);
  select * into u from iu_core.ingest_upload where upload_id = p_upload.upload_id;

  v_nullable := iu_core.fn_ingest_plan_lines(u, v_definition, p_lines => v_lines);
  perform iu_core.fn_ingest_store_lookups(u.upload_id);
  perform iu_core.fn_ingest_plan_store_hashes(u, v_definition, true);
  insert into pg_temp.ingest_replan_touched (row_number, after)
  select s.row_number, s.normalized_payload from iu_core.v_ingest_staged_row s
   where s.upload_id = u.upload_id and s.row_type = v_type.row_type and s.row_number = any (array(select l.row_number from pg_temp.ingest_line l))
  on conflict (row_number) do update set after = excluded.after;
  v_entities := iu_core.fn_ingest_replan_entities(u, v_definition, v_given, v_lines, v_nullable);
  if v_type.is_entity then
    delete from public.staging_id_resolution r using pg_temp.ingest_replan_touched t
     where r.upload_id = u.upload_id and r.entity_type = v_type.row_type
       and r.external_id in (t.before ->> ('@' || v_type.row_type), t.after ->> ('@' || v_type.row_type));
    perform iu_core.fn_ingest_plan_entities(u, v_type, v_nullable);
  end if;
  perform iu_core.fn_ingest_plan_type(u, v_type, v_nullable);
  perform iu_core.fn_ingest_plan_references(u, v_definition, v_type, v_lines);
  if exists (select from iu_core.ingest_plan_row
              where upload_id = u.upload_id and type_order = v_type.type_order and row_number = any (v_lines) and action = 'refused') then
    raise exception using errcode = 'feature_not_supported', message = 'the plan refuses one of these lines';
  end if;
  if exists (select from iu_core.fn_ingest_asserting(u.workspace_id, v_definition)) then
    raise exception using errcode = 'feature_not_supported', message = 'assertions look at the whole plan';
  end if;
  perform iu_core.fn_ingest_plan_left_out(u, v_definition, v_plan.gate_mode, v_lines);
  if iu_core.fn_ingest_replan_moved(u, v_definition) then
    raise exception using errcode = 'feature_not_supported', message = 'somebody changed rows of these lines since the plan was made';
  end if;
  perform iu_core.fn_ingest_replan_count(u.upload_id, v_type.type_order, v_lines, 1);

  v_totals := iu_core.fn_ingest_replan_totals(v_plan.totals);
  v_parts := iu_core.fn_ingest_control_adjust(v_plan.control_parts, v_minus,
                                              iu_core.fn_ingest_control_parts(u, v_definition, true, p_lines => v_lines));
  v_control := iu_core.fn_ingest_control_sum(v_parts, v_definition, v_layout, true);
  v_own_totals := iu_core.fn_ingest_own_totals(u, v_definition);
  v_notes := v_plan.notes;
  if v_entities then
    v_notes := coalesce(iu_core.fn_ingest_replan_notes(u, v_definition), '[]');
  end if;
  select r.blocks, r.digests into v_blocks, v_digests from iu_core.fn_ingest_replan_row_digests(v_plan) r;
  -- Locked before the change of the upload, and withdrawn when it is no longer the review of the plan: the change goes back to draft
  -- and was not rejected by anybody.
  v_review := v_plan.review_record_id;
  perform from iu_core.iu_staging_record where staging_record_id = v_review for update;
  update iu_core.ingest_plan p
     set plan_id = iu_core.fn_time_uuid(), totals = v_totals, control = v_control, control_parts = v_parts, notes = v_notes,
         digest = iu_core.fn_ingest_plan_digest(u.upload_id, p.gate_mode, p.threshold,
           jsonb_build_object('control', v_control, 'repeated_keys', p.repeated_keys, 'notes', nullif(v_notes, '[]'))
           || case when v_own_totals is null then '{}' else jsonb_build_object('own_totals', v_own_totals) end, v_blocks, v_digests),
         row_blocks = v_blocks, row_digests = v_digests,
         refusal = coalesce(iu_core.fn_ingest_plan_refusal_reason(u, p.gate_mode, p.threshold, v_totals, v_control),
                            iu_core.fn_ingest_own_totals_refusal(v_own_totals, v_definition)),
         approval_required = p_dataset.approval_required, review_record_id = null, planned_by = v_actor.actor,
         planned_at = clock_timestamp(), took_ms = extract(epoch from clock_timestamp() - v_started) * 1000
   where p.upload_id = u.upload_id returning * into v_plan;
  perform iu_core.fn_ingest_plan_withdraw_review(v_review);
  v_plan := iu_core.fn_review_plan(u, v_plan);
  update iu_core.ingest_upload set control = v_control, own_totals = v_own_totals where upload_id = u.upload_id;
  perform iu_core.fn_event_emit('staging', 'ingestion_planned',
    p_event_subject_ref => u.upload_id::text, p_workspace_id => u.workspace_id, p_actor => p_repaired_by,
    p_safe_payload => jsonb_build_object('upload_id', u.upload_id, 'dataset', u.dataset, 'plan_digest', v_plan.digest,
                                         'totals', v_plan.totals));
  return v_plan;
end $$;

-- Remembers what the plan saw of the rows that are planned again. Internal.
create or replace function iu_core.fn_ingest_replan_base(p_upload_id uuid, p_type_order smallint, p_rows integer[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into pg_temp.ingest_replan_base
  select p.type_order, p.row_number, p.action, p.before_hash
    from iu_core.ingest_plan_row p
   where p.upload_id = p_upload_id and p.type_order = p_type_order and p.row_number = any (p_rows) and p.action in ('insert', 'update', 'unchanged');
end $$;

-- Whether production moved under the rows that were planned again: then the whole plan works out what is in conflict. A line that got
-- another key means another row. Internal.
create or replace function iu_core.fn_ingest_replan_moved(p_upload iu_core.ingest_upload, p_definition jsonb) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select from pg_temp.ingest_replan_base b
     cross join lateral (select * from iu_core.ingest_plan_row p
                          where p.upload_id = p_upload.upload_id and p.type_order = b.type_order and p.row_number = b.row_number offset 0) n
     where case b.action when 'insert' then n.action = 'update'
                         else n.action = 'insert' or n.action = 'update' and b.hash is distinct from n.before_hash end
       and not exists (select from pg_temp.ingest_replan_touched t, iu_core.fn_ingest_key_members(p_definition, p_upload.reading -> 'layout') k
                        where n.row_type = p_upload.reading -> 'layout' ->> 'leaf' and t.row_number = b.row_number
                          and t.before ->> k.member is distinct from t.after ->> k.member));
end $$;

-- The verdicts of these lines, in their order. Internal.
create or replace function iu_core.fn_ingest_line_statuses(p_upload_id uuid, p_row_type text, p_lines integer[]) returns text[]
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select array_agg(s.validation_status::text order by s.row_number) from iu_core.ingest_staged_row s
   where s.upload_id = p_upload_id and s.row_type = p_row_type and s.row_number = any (p_lines)
$$;

-- Why these lines cannot be planned alone; NULL if they can. Reads problem lines only. Internal.
create or replace function iu_core.fn_ingest_replan_obstacle(
  p_upload iu_core.ingest_upload, p_dataset iu_core.ingest_dataset, p_plan iu_core.ingest_plan, p_rows jsonb
) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_definition jsonb := p_dataset.definition;
  v_layout jsonb := p_upload.reading -> 'layout';
  v_leaf text := v_layout ->> 'leaf';
  v_type record;
  v_found record;
  v_dims text[];
begin
  if jsonb_array_length(p_rows) > 5000 then
    return 'more than 5,000 lines were corrected at once';
  elsif p_plan.upload_id is null or p_plan.control_parts is null then
    return 'the plan was made by an earlier version';
  elsif p_plan.definition_digest is distinct from p_dataset.definition_digest then
    return 'the dataset was registered again since the plan was made';
  elsif (select coalesce(jsonb_object_agg(r.row_type, c.columns) filter (where c.columns is not null), '{}')
           from iu_core.fn_ingest_row_types(v_definition, v_layout) as r,
                lateral (select iu_core.fn_ingest_plan_texts(r.written)) as c (columns)) <> p_plan.inserted_columns
        or p_plan.written not in ('{}', iu_core.fn_ingest_written_columns(v_definition, v_layout)) then
    return 'a table was changed since the plan was made';
  elsif exists (select from iu_core.ingest_kept_cell where upload_id = p_upload.upload_id) then
    return 'some cells keep what production holds';
  elsif p_plan.control_parts::text ~ '"(NaN|-?Infinity)"' then
    return 'a figure is not finite';
  end if;
  if exists (select from iu_core.fn_ingest_lookup_fields(v_definition, v_layout) l where l.own_type is not null) then
    return 'lines refer to rows of the same file';
  elsif exists (select from iu_core.fn_ingest_references(v_definition, v_layout) r where r.has_own and not r.is_sure) then
    return 'lines refer to rows of the same file';
  elsif exists (select from iu_core.fn_ingest_key_members(v_definition, v_layout) k where v_definition -> 'fields' -> k.member ? 'lookup') then
    return 'a part of the key is looked up in another table';
  end if;
  for v_type in select * from iu_core.fn_ingest_row_types(v_definition, v_layout) loop
    if v_type.spec ->> 'mode' = 'snapshot' then
      return format('the mode of %s is snapshot: its rows depend on all lines', replace(v_type.row_type, '_', ' '));
    elsif not v_type.is_leaf and v_type.spec ->> 'mode' in ('insert', 'update') then
      return format('the mode of %s is %s', replace(v_type.row_type, '_', ' '), v_type.spec ->> 'mode');
    elsif v_type.is_entity and v_type.spec -> 'ref' ->> 'type' <> 'uuid' then
      return format('the ids of %s are not uuids: they are reserved for a whole plan', replace(v_type.row_type, '_', ' '));
    elsif v_type.target is null
          or (p_dataset.workspace_id is null and not iu_core.fn_ingest_key_is_tenant_scoped(v_definition, v_type.spec)) then
      return format('the table %s was changed since the plan was made', v_type.target_name);
    elsif v_type.is_leaf and v_type.is_entity
          and (select array_agg(k.member) from iu_core.fn_ingest_key_members(v_definition, v_layout) k) <> array['@' || v_leaf] then
      return 'several lines may describe one row';
    elsif v_type.is_leaf and exists (
            select from iu_core.fn_ingest_measures(v_definition, v_layout) m
              join jsonb_to_recordset(v_type.written) as w ("column" text, type text) on w."column" = m."column"
             where w.type::regtype = any (array['float4', 'float8']::regtype[])) then
      return 'a measure is stored as a floating-point number, whose sum depends on the order of the lines';
    end if;
  end loop;

  -- What depends on lines that share neither key nor entity.
  select bool_or(s.validation_errors @> '[{"scope": "plan"}]') as refused,
         bool_or(s.validation_status = 'valid' and s.validation_warnings @> '[{"rule": "breakdown.partly_missing"}]'
                 or s.validation_errors @> '[{"rule": "breakdown.mixed"}]') as parts
    into v_found
    from (select * from iu_core.ingest_staged_row
           where upload_id = p_upload.upload_id and (validation_status <> 'valid' or validation_warnings <> '[]') offset 0) s
   where s.row_type = v_leaf;
  if v_found.refused then
    return 'the plan refuses lines, and another line may be the reason';
  elsif v_found.parts or p_rows @? '$[*] ? (@.validation_status == "valid").validation_warnings[*] ? (@.rule == "breakdown.partly_missing")' then
    return 'lines lack a part of the breakdown, which depends on other lines';
  end if;

  -- Lines that may be the sum of others (see fn_ingest_check_subtotals).
  v_dims := array(select distinct k.member from iu_core.fn_ingest_key_members(v_definition, v_layout) k);
  if v_dims = '{}' or not exists (select from iu_core.fn_ingest_measures(v_definition, v_layout)) then
    return null;
  end if;
  if exists (select from jsonb_to_recordset(p_rows) as g (normalized_payload jsonb, validation_status text, validation_errors jsonb)
              where g.validation_status = 'invalid' and iu_core.fn_ingest_lacks_only_values(g.validation_errors)
                and exists (select from unnest(v_dims) d where g.normalized_payload ->> d is null)) then
    return 'a corrected line still lacks a part of its key: it may be the sum of others';
  end if;
  with given as materialized (
    select * from jsonb_to_recordset(p_rows) as g (row_number integer, normalized_payload jsonb)
  ), candidate as materialized (
    select s.normalized_payload as payload, f.filled
      from (select * from iu_core.v_ingest_staged_row
             where upload_id = p_upload.upload_id and (validation_status <> 'valid' or validation_warnings <> '[]') offset 0) s,
           lateral (select array(select d from unnest(v_dims) d where s.normalized_payload ->> d is not null)) as f (filled)
     where s.row_type = v_leaf and s.row_number <> all (array(select g.row_number from given g))
       and (s.validation_status = 'skipped' and s.validation_warnings @> '[{"rule": "row.sum"}]'
            or s.validation_status = 'invalid' and iu_core.fn_ingest_lacks_only_values(s.validation_errors))
       and cardinality(f.filled) < cardinality(v_dims)
  ), changed as materialized (
    select s.normalized_payload as payload from iu_core.v_ingest_staged_row s
     where s.upload_id = p_upload.upload_id and s.row_type = v_leaf and s.row_number = any (array(select g.row_number from given g))
    union all
    select g.normalized_payload from given g where g.normalized_payload is not null
  )
  select case when (select count(*) from candidate) * (select count(*) from changed) > 1000000
                then 'too many lines lack a part of their key: each may be the sum of others'
              when exists (select from candidate c, changed x
                            where not exists (select from unnest(c.filled) d where c.payload -> d is distinct from x.payload -> d))
                then 'a line that lacks a part of its key may be the sum of these lines' end as reason
    into v_found;
  return v_found.reason;
end $$;

-- Whether an invalid line has no other errors than empty cells, and perhaps what it looks up or refers to. Internal.
create or replace function iu_core.fn_ingest_lacks_only_values(p_errors jsonb) returns boolean
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select p_errors @? '$[*] ? (@.rule == "required.missing" || @.rule == "breakdown.missing")'
     and not p_errors @? '$[*] ? (@.rule != "required.missing" && @.rule != "breakdown.missing" && !(@.scope == "lookup"))'
$$;

-- The corrected lines and all lines that have the old or the new key of one of them, whether it repeats or not. Internal.
create or replace function iu_core.fn_ingest_replan_scope(p_upload iu_core.ingest_upload, p_definition jsonb, p_rows jsonb, p_given integer[])
returns integer[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_leaf text := p_upload.reading -> 'layout' ->> 'leaf';
  v_key text;
  v_keys text[];
  v_hashes bigint[];
  v_lines integer[];
begin
  select format('row(%s)::text', string_agg(k.typed, ', ' order by k.place)) into v_key
    from iu_core.fn_ingest_key_members(p_definition, p_upload.reading -> 'layout') k;
  if v_key is null then
    return p_given;
  end if;
  execute format($sql$
    select array_agg(distinct k.key), array_agg(distinct hashtextextended(k.key, 0))
      from (select %1$s as key from iu_core.ingest_staged_row
             where upload_id = $1 and row_type = $2 and row_number = any ($3) and %2$s
            union all
            select %1$s from jsonb_to_recordset($4) as r (normalized_payload jsonb, normalized_values text[], validation_status text)
             where r.validation_status = 'valid') k
  $sql$, v_key, iu_core.fn_ingest_counts_but_for_key_sql()) into v_keys, v_hashes using p_upload.upload_id, v_leaf, p_given, p_rows;
  execute format($sql$
    select array_agg(s.row_number)
      from (select row_number, %1$s as key from iu_core.ingest_staged_row
             where upload_id = $1 and row_type = $2 and row_number = any ($3) and %2$s
            union all
            -- Lines that are not used for their key are among the problem lines only.
            select p.row_number, %1$s
              from (select * from iu_core.ingest_staged_row
                     where upload_id = $1 and (validation_status <> 'valid' or validation_warnings <> '[]') offset 0) p
             where p.row_type = $2 and p.validation_status <> 'valid' and %2$s) s
     where s.key = any ($4)
  $sql$, v_key, iu_core.fn_ingest_counts_but_for_key_sql())
    into v_lines using p_upload.upload_id, v_leaf, iu_core.fn_ingest_plan_lines_by_hash(p_upload.upload_id, 'key', v_hashes), v_keys;
  return array(select distinct unnest(p_given || v_lines) order by 1);
end $$;

-- The condition that a line is valid, or would be if no other line had its key. Internal.
create or replace function iu_core.fn_ingest_counts_but_for_key_sql() returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select $sql$(validation_status = 'valid' or validation_errors @> '[{"rule": "key.repeated"}]'
               or validation_warnings @> '[{"rule": "key.repeated"}]')$sql$
$$;

-- Lines of a plan with one of these hashes; more than those that are asked for, so they must be compared. Internal.
create or replace function iu_core.fn_ingest_plan_lines_by_hash(p_upload_id uuid, p_kind text, p_hashes bigint[]) returns integer[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lines integer[];
begin
  -- As constants, which PostgreSQL looks up by hash where they are many.
  execute format($sql$
    select array_agg(distinct x.line)
      -- A block is taken apart only if it has one of them: an array is searched ten times as fast as its rows.
      from (select b.lines, b.hashes from iu_core.ingest_plan_line_hash b
             where b.upload_id = %1$L and b.kind = %2$L%4$s offset 0) b, unnest(b.lines, b.hashes) as x (line, hash)
     where x.hash = any (%3$L::bigint[])
  $sql$, p_upload_id, p_kind, coalesce(p_hashes, '{}'),
     -- Each is compared with every hash of the block.
     case when cardinality(p_hashes) <= 4 then (select ' and (' || string_agg(format('array_position(b.hashes, %s) is not null', h), ' or ') || ')' from unnest(p_hashes) h) end) into v_lines;
  return coalesce(v_lines, '{}');
end $$;

-- Stores the hashes of the keys and entities of the lines in `ingest_line`, for the next repair. p_more: adds to what is stored.
-- Internal.
create or replace function iu_core.fn_ingest_plan_store_hashes(p_upload iu_core.ingest_upload, p_definition jsonb, p_more boolean default false)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_layout jsonb := p_upload.reading -> 'layout';
  v_key text;
  v_kinds text[];
  v_hashes text[];
  v_added text := '';
begin
  select format('hashtextextended(row(%s)::text, 0)', string_agg(k.slot, ', ' order by k.place)) into v_key
    from iu_core.fn_ingest_key_members(p_definition, v_layout) k;
  select array_agg('@' || r.name order by r.position),
         array_agg(format('hashtextextended(l.%I, 0)', iu_core.fn_ingest_line_column(v_layout, '$' || r.name)) order by r.position)
    into v_kinds, v_hashes
    from jsonb_array_elements_text(v_layout -> 'row_types') with ordinality as r (name, position)
   where r.name <> v_layout ->> 'leaf'
     and exists (select from jsonb_array_elements(p_definition -> 'rows') spec where spec ->> 'name' = r.name and spec ? 'identity');
  if v_key is not null then
    v_kinds := array_prepend('key', v_kinds);
    v_hashes := array_prepend(v_key, v_hashes);
  end if;
  if v_hashes is null then
    return;
  end if;
  if v_key is not null and iu_core.fn_ingest_repeated_keys(p_upload, p_definition) = 'sum' then
    -- Lines that were added to another have its key, and belong to no entity.
    v_added := format($sql$
      union all
      select r.line, %s%s from pg_temp.ingest_repeated g cross join unnest(g.lines[2:]) as r (line)
        join pg_temp.ingest_line l on l.row_number = g.lines[1]
    $sql$, v_key, repeat(', null', cardinality(v_hashes) - 1));
  end if;
  execute format($sql$
    insert into iu_core.ingest_plan_line_hash as b (upload_id, kind, block, lines, hashes)
    select %1$L, k.kind, g.block, g.lines, k.hashes
      from (select h.line / 4096 as block, array_agg(h.line) as lines, %2$s
              from (select l.row_number, %3$s from pg_temp.ingest_line l%4$s) as h (line, %5$s) group by 1) g,
           lateral (values %6$s) as k (kind, hashes)%7$s
  $sql$, p_upload.upload_id,
     (select string_agg(format('array_agg(h.h%1$s) as h%1$s', n), ', ' order by n) from generate_series(1, cardinality(v_hashes)) n),
     array_to_string(v_hashes, ', '), v_added,
     (select string_agg('h' || n, ', ' order by n) from generate_series(1, cardinality(v_hashes)) n),
     (select string_agg(format('(%L, g.h%s)', k, n), ', ' order by n) from unnest(v_kinds) with ordinality as v (k, n)),
     case when p_more then ' on conflict (upload_id, kind, block) do update set lines = b.lines || excluded.lines, hashes = b.hashes || excluded.hashes' else '' end);
end $$;

-- Adds to `ingest_replan_count` how many rows of a type the plan has at these lines, or takes them away (p_sign -1), and to
-- `ingest_replan_block` the blocks of these lines. Internal.
create or replace function iu_core.fn_ingest_replan_count(p_upload_id uuid, p_type_order smallint, p_lines integer[], p_sign integer) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  insert into pg_temp.ingest_replan_count
  select row_type, action, p_sign * count(*) from iu_core.ingest_plan_row
   where upload_id = p_upload_id and type_order = p_type_order and row_number = any (p_lines) group by 1, 2;
  insert into pg_temp.ingest_replan_block
  select distinct iu_core.fn_ingest_plan_block(p_type_order, l.row_number) from unnest(p_lines) as l (row_number)
$$;

-- The digests of a plan's rows, of which those in `ingest_replan_block` are computed again. Internal.
create or replace function iu_core.fn_ingest_replan_row_digests(p_plan iu_core.ingest_plan) returns table (blocks bigint[], digests bytea[])
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_changed bigint[] := array(select distinct b.block from pg_temp.ingest_replan_block b);
begin
  if p_plan.row_blocks is null then
    return query select * from iu_core.fn_ingest_plan_row_digests(p_plan.upload_id);
    return;
  end if;
  return query
    select coalesce(array_agg(x.block order by x.block), '{}'), coalesce(array_agg(x.digest order by x.block), '{}')
      from (select k.block, k.digest from unnest(p_plan.row_blocks, p_plan.row_digests) as k (block, digest) where k.block <> all (v_changed)
            union all
            select n.block, n.digest from iu_core.fn_ingest_plan_row_digests(p_plan.upload_id, v_changed) r, unnest(r.blocks, r.digests) as n (block, digest)) x;
end $$;

-- Brings the entities up to date that the touched lines belong to, and puts into `ingest_entity` all that these lines refer to;
-- `ingest_line` then has the lines again. An entity that stays as it is costs nothing: the line comes after its first line and
-- says nothing else about it. Otherwise it is planned again from all of its lines, which takes another pass over the upload; a
-- new one keeps its id, since lines that were not touched refer to it. Returns whether an entity was planned again. Internal.
create or replace function iu_core.fn_ingest_replan_entities(
  p_upload iu_core.ingest_upload, p_definition jsonb, p_given integer[], p_lines integer[], p_nullable text[]
) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_layout jsonb := p_upload.reading -> 'layout';
  v_leaf text := v_layout ->> 'leaf';
  v_type record;
  v_members text[];
  v_lines integer[];
  v_nullable text[] := p_nullable;
begin
  perform iu_core.fn_ingest_plan_entity_table(p_definition, v_layout);
  for v_type in select * from iu_core.fn_ingest_row_types(p_definition, v_layout) where is_entity and not is_leaf loop
    v_members := array(select c.value from jsonb_each_text(v_type.spec -> 'columns') c where v_layout -> 'fields' ? c.value
                       union select '@' || substr(c.value, 2) from jsonb_each_text(v_type.spec -> 'columns') c
                              where c.value like '$%' and v_layout -> 'row_types' ? substr(c.value, 2)
                       union select v_type.spec -> 'identity' ->> 'name' where v_layout -> 'fields' ? (v_type.spec -> 'identity' ->> 'name'));
    insert into pg_temp.ingest_replan_entity
    with involved as materialized (
      select t.row_number, p.payload, p.payload ->> ('@' || v_type.row_type) as external_id
        from pg_temp.ingest_replan_touched t, lateral (values (t.before), (t.after)) as p (payload)
       where t.before is distinct from t.after or t.row_number = any (p_given)
    ), stored as materialized (
      select s.entity_external_id as external_id, s.row_number, s.normalized_payload as payload
        from iu_core.v_ingest_staged_row s
       where s.upload_id = p_upload.upload_id and s.row_type = v_type.row_type
         and s.entity_external_id = any (array(select i.external_id from involved i))
    )
    select distinct v_type.row_type, i.external_id, s.row_number is not null, s.row_number
      from involved i left join stored s on s.external_id = i.external_id
     where i.external_id is not null
       and (s.row_number is null or i.row_number <= s.row_number
            or exists (select from unnest(v_members) m
                        where i.payload ->> m is not null and i.payload ->> m is distinct from s.payload ->> m));
  end loop;

  drop table if exists pg_temp.ingest_replan_line;
  create temporary table ingest_replan_line on commit drop as select * from pg_temp.ingest_line;
  -- The other lines of entities that are planned again.
  if exists (select from pg_temp.ingest_replan_entity where known) then
    if exists (select from iu_core.fn_ingest_measures(p_definition, v_layout) m, jsonb_array_elements(p_definition -> 'rows') spec,
                           jsonb_each_text(spec -> 'columns') c
                where c.value = m.field and spec ->> 'name' <> v_leaf) and iu_core.fn_ingest_repeated_keys(p_upload, p_definition) = 'sum' then
      raise exception using errcode = 'feature_not_supported', message = 'an attribute is the sum of several lines';
    end if;
    v_lines := iu_core.fn_ingest_replan_entity_lines(p_upload, p_definition, p_lines);
    if cardinality(v_lines) > 50000 then
      raise exception using errcode = 'feature_not_supported', message = 'too many lines share an entity of these lines';
    elsif v_lines <> '{}' then
      v_nullable := v_nullable || iu_core.fn_ingest_plan_lines(p_upload, p_definition, p_lines => v_lines);
      insert into pg_temp.ingest_replan_line select * from pg_temp.ingest_line;
    end if;
  end if;

  for v_type in select * from iu_core.fn_ingest_row_types(p_definition, v_layout) where is_entity and not is_leaf loop
    perform iu_core.fn_ingest_replan_type(p_upload, p_definition, v_type, v_nullable);
    -- What the lines refer to besides, as it was resolved.
    execute format($sql$
      insert into pg_temp.ingest_entity (row_type, external_id, internal_id, existing, parent_external_id, parent_id)
      select r.entity_type, r.external_id, r.internal_id, r.resolution_status = 'resolved_existing', r.parent_external_id, r.parent_internal_id
        from public.staging_id_resolution r
       where r.upload_id = %3$L and r.entity_type = %2$L and r.platform = %4$L and r.external_id = any (array(
               select distinct l.%1$I from pg_temp.ingest_replan_line l
               except select e.external_id from pg_temp.ingest_replan_entity e where e.row_type = %2$L))
    $sql$, iu_core.fn_ingest_line_column(v_layout, '$' || v_type.row_type), v_type.row_type, p_upload.upload_id, p_upload.platform);
  end loop;
  truncate pg_temp.ingest_line;
  insert into pg_temp.ingest_line select * from pg_temp.ingest_replan_line where row_number = any (p_lines);
  return exists (select from pg_temp.ingest_replan_entity);
end $$;

-- The lines beyond p_lines that belong to a known entity in `ingest_replan_entity` and take part in the plan. Internal.
create or replace function iu_core.fn_ingest_replan_entity_lines(p_upload iu_core.ingest_upload, p_definition jsonb, p_lines integer[])
returns integer[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_leaf text := p_upload.reading -> 'layout' ->> 'leaf';
  v_order smallint := iu_core.fn_ingest_type_order(p_definition, v_leaf);
  v_entity record;
  v_found integer[];
  v_lines integer[] := '{}';
begin
  for v_entity in
    select e.row_type, array_agg(e.external_id) as ids, array_agg(hashtextextended(e.external_id, 0)) as hashes
      from pg_temp.ingest_replan_entity e where e.known group by 1
  loop
    v_found := iu_core.fn_ingest_plan_lines_by_hash(p_upload.upload_id, '@' || v_entity.row_type, v_entity.hashes);
    select array_agg(s.row_number) into v_found from iu_core.v_ingest_staged_row s
     where s.upload_id = p_upload.upload_id and s.row_type = v_leaf and s.row_number = any (v_found)
       and s.validation_status = 'valid' and s.normalized_payload ->> ('@' || v_entity.row_type) = any (v_entity.ids);
    v_lines := v_lines || v_found;
  end loop;
  -- A line that was added to another says nothing about entities.
  v_found := p_lines || array(
    select p.row_number from iu_core.ingest_plan_row p
     where p.upload_id = p_upload.upload_id and p.type_order = v_order and p.row_number = any (v_lines) and p.action = 'skipped');
  return array(select unnest(v_lines) except select unnest(v_found));
end $$;

-- Plans the entities of a type in `ingest_replan_entity` again, from their lines in `ingest_replan_line`. Internal.
create or replace function iu_core.fn_ingest_replan_type(
  p_upload iu_core.ingest_upload, p_definition jsonb, p_type record, p_nullable text[]
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_layout jsonb := p_upload.reading -> 'layout';
  v_ids text[];
  v_numbers integer[];
begin
  select array_agg(external_id), array_remove(array_agg(row_number), null) into v_ids, v_numbers
    from pg_temp.ingest_replan_entity where row_type = p_type.row_type;
  if v_ids is null then
    return;
  end if;
  drop table if exists pg_temp.ingest_replan_known;
  create temporary table ingest_replan_known on commit drop as
  select r.external_id, r.internal_id, r.resolution_status, s.id as staging_row_id
    from (select * from public.staging_id_resolution
           where upload_id = p_upload.upload_id and entity_type = p_type.row_type and platform = p_upload.platform
             and external_id = any (v_ids) offset 0) r
    join (select * from iu_core.ingest_staged_row
           where upload_id = p_upload.upload_id and row_type = p_type.row_type and row_number = any (v_numbers) offset 0) s
      on s.entity_external_id = r.external_id;
  perform iu_core.fn_ingest_replan_count(p_upload.upload_id, p_type.type_order, v_numbers, -1);
  perform iu_core.fn_ingest_replan_base(p_upload.upload_id, p_type.type_order, v_numbers);
  delete from iu_core.ingest_plan_row where upload_id = p_upload.upload_id and type_order = p_type.type_order and row_number = any (v_numbers);
  delete from iu_core.ingest_staged_row where upload_id = p_upload.upload_id and row_type = p_type.row_type and row_number = any (v_numbers);
  delete from public.staging_id_resolution
   where upload_id = p_upload.upload_id and entity_type = p_type.row_type and platform = p_upload.platform and external_id = any (v_ids);

  truncate pg_temp.ingest_line;
  execute format('insert into pg_temp.ingest_line select * from pg_temp.ingest_replan_line l where l.%I = any (%L::text[])',
                 iu_core.fn_ingest_line_column(v_layout, '$' || p_type.row_type), v_ids);
  perform iu_core.fn_ingest_plan_entities(p_upload, p_type, p_nullable);
  if exists (select from pg_temp.ingest_entity e where e.row_type = p_type.row_type and e.ambiguous) then
    raise exception using errcode = 'feature_not_supported', message = 'it is not certain which row a parent of these lines is';
  elsif exists (select from pg_temp.ingest_entity e join pg_temp.ingest_replan_known k on k.external_id = e.external_id
                 where e.row_type = p_type.row_type
                   and (e.existing <> (k.resolution_status = 'resolved_existing') or e.existing and e.internal_id is distinct from k.internal_id)) then
    raise exception using errcode = 'feature_not_supported', message = 'a parent of these lines was resolved otherwise before';
  end if;
  -- Lines that were not touched refer to it by this id.
  update iu_core.ingest_staged_row s set id = k.staging_row_id
    from pg_temp.ingest_replan_known k
   where s.upload_id = p_upload.upload_id and s.row_type = p_type.row_type and s.entity_external_id = k.external_id
     and s.row_number = any (array(select e.row_number from pg_temp.ingest_entity e where e.row_type = p_type.row_type));
  update public.staging_id_resolution r set internal_id = k.internal_id
    from pg_temp.ingest_replan_known k
   where r.upload_id = p_upload.upload_id and r.entity_type = p_type.row_type and r.platform = p_upload.platform
     and r.external_id = k.external_id and r.external_id = any (v_ids);
  update pg_temp.ingest_entity e set new_id = k.staging_row_id, internal_id = k.internal_id
    from pg_temp.ingest_replan_known k where e.row_type = p_type.row_type and e.external_id = k.external_id;
  perform iu_core.fn_ingest_plan_type(p_upload, p_type, p_nullable);
  if iu_core.fn_ingest_plan_references(p_upload, p_definition, p_type,
       array(select e.row_number from pg_temp.ingest_entity e where e.row_type = p_type.row_type)) > 0 then
    raise exception using errcode = 'feature_not_supported', message = 'the plan refuses a parent of these lines';
  end if;
  perform iu_core.fn_ingest_replan_count(p_upload.upload_id, p_type.type_order,
    array(select e.row_number from pg_temp.ingest_entity e where e.row_type = p_type.row_type), 1);
end $$;

-- The totals of a plan with the difference in `ingest_replan_count`. Internal.
create or replace function iu_core.fn_ingest_replan_totals(p_totals jsonb) returns jsonb
language sql
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_object_agg(row_type, actions), '{}')
    from (select row_type, jsonb_object_agg(action, rows) as actions
            from (select c.row_type, c.action, sum(c.rows)::bigint as rows
                    from (select t.key as row_type, a.key as action, a.value::bigint as rows
                            from jsonb_each(p_totals) t, jsonb_each_text(t.value) a
                          union all select * from pg_temp.ingest_replan_count) c
                   group by 1, 2 having sum(c.rows) <> 0) a
           group by 1) t
$$;

-- The notes of a plan, from the entities as they are stored with it. Internal.
create or replace function iu_core.fn_ingest_replan_notes(p_upload iu_core.ingest_upload, p_definition jsonb) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  truncate pg_temp.ingest_entity;
  insert into pg_temp.ingest_entity (row_type, external_id, row_number, conflicting)
  select s.row_type, s.entity_external_id, s.row_number, array(select jsonb_array_elements_text(w -> 'fields'))
    from (select * from iu_core.ingest_staged_row
           where upload_id = p_upload.upload_id and (validation_status <> 'valid' or validation_warnings <> '[]') offset 0) s,
         jsonb_array_elements(s.validation_warnings) w
   where s.row_type <> p_upload.reading -> 'layout' ->> 'leaf' and w ->> 'rule' = 'entity.conflicting';
  return iu_core.fn_ingest_plan_notes(p_definition, p_upload.reading -> 'layout');
end $$;

-- The parts of control totals without p_minus and with p_plus. Internal.
create or replace function iu_core.fn_ingest_control_adjust(p_parts jsonb, p_minus jsonb, p_plus jsonb) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_parts jsonb;
  v_negative boolean;
begin
  with r as materialized (
    select s.sign, p.*
      from (values (1, p_parts), (-1, p_minus), (1, p_plus)) as s (sign, parts),
           jsonb_to_recordset(s.parts) as p (kind text, currency text, reason text, lines bigint, figures numeric[], unread bigint[])
  ), groups as (
    select r.kind, r.currency, r.reason, sum(r.sign * r.lines)::bigint as lines from r group by 1, 2, 3
  )
  select coalesce(jsonb_agg(jsonb_build_object(
           'kind', g.kind, 'currency', g.currency, 'reason', g.reason, 'lines', g.lines,
           'figures', (select jsonb_agg(f.figure order by f.place)
                         from (select x.place, sum(r.sign * coalesce(x.figure, 0)) as figure
                                 from r, unnest(r.figures) with ordinality as x (figure, place)
                                where r.kind = g.kind and r.currency is not distinct from g.currency and r.reason is not distinct from g.reason
                                group by 1) f),
           'unread', (select jsonb_agg(f.cells order by f.place)
                        from (select x.place, sum(r.sign * coalesce(x.cells, 0)) as cells
                                from r, unnest(r.unread) with ordinality as x (cells, place)
                               where r.kind = g.kind and r.currency is not distinct from g.currency and r.reason is not distinct from g.reason
                               group by 1) f))) filter (where g.lines > 0), '[]'),
         coalesce(bool_or(g.lines < 0), false)
    into v_parts, v_negative from groups g;
  if v_negative then
    raise exception using errcode = 'feature_not_supported', message = 'the control totals of the plan do not match its lines';
  end if;
  return v_parts;
end $$;
