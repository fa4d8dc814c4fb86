-- Mode snapshot: the file is the whole truth within its scope. Rows of the table in that scope that the file lacks are planned as
-- deletes, each with the rows of other tables that its foreign keys would delete or change, and undo brings all of them back.
--
-- A row is deleted only if nothing leaves open whether the file has it. A line that is invalid or left out keeps its row if its
-- key could be read, and refuses the plan if not, whatever the mode of promotion: it may be any row. Lines that only sum up others
-- are no rows. A row that others refer to by a foreign key that forbids its delete refuses the plan; where wrong lines are left
-- out (LENIENT), it is left out, too, and stays.

-- Allows an upload to delete a larger share of the rows in scope than its dataset does. The next plan applies it, shows it to the
-- reviewer and has it in its digest. Whoever allows it cannot approve the plan. It does not allow a file that is far shorter than
-- the last ones.
create or replace function iu_core.fn_ingest_set_max_deleted(p_upload_id uuid, p_max_deleted numeric, p_set_by text default null)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actors text[];
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'stage');
  if p_max_deleted is null or p_max_deleted not between 0 and 1 then
    raise exception using errcode = 'SD001', message = 'What an upload may delete is a share of the rows in its scope from 0 to 1';
  end if;
  v_actors := iu_core.fn_ingest_snapshot_require_person(p_upload_id, p_set_by);
  update iu_core.ingest_upload set max_deleted = p_max_deleted, changed_by = array(select distinct unnest(changed_by || v_actors))
   where upload_id = p_upload_id and max_deleted is distinct from p_max_deleted;
end $$;

grant execute on function iu_core.fn_ingest_set_max_deleted(uuid, numeric, text)
  to service_role, dot_executor, authenticated, stagedoor_reviewer;

-- Allows an upload to be far shorter than the last ones of its dataset, or takes that back. For the rest as fn_ingest_set_max_deleted.
-- It does not allow more rows to be deleted.
create or replace function iu_core.fn_ingest_allow_short_file(p_upload_id uuid, p_allowed boolean default true, p_set_by text default null)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actors text[];
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'stage');
  if p_allowed is null then
    raise exception using errcode = 'SD001', message = 'A short file is allowed (true) or not (false)';
  end if;
  v_actors := iu_core.fn_ingest_snapshot_require_person(p_upload_id, p_set_by);
  update iu_core.ingest_upload set short_file_allowed = p_allowed, changed_by = array(select distinct unnest(changed_by || v_actors))
   where upload_id = p_upload_id and short_file_allowed <> p_allowed;
end $$;

grant execute on function iu_core.fn_ingest_allow_short_file(uuid, boolean, text)
  to service_role, dot_executor, authenticated, stagedoor_reviewer;

-- Who says that a file is complete: a person, never an agent. Locks the upload and returns who that is, to be counted among those
-- who changed it. Internal.
create or replace function iu_core.fn_ingest_snapshot_require_person(p_upload_id uuid, p_set_by text) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record;
begin
  if iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'stage') = 'agent' then
    raise exception using
      errcode = 'SD202',
      message = 'An agent cannot allow an upload to delete more rows or to be short: a person says that the file is complete',
      detail = json_build_object('actor', iu_core.fn_actor(), 'role', 'agent', 'right', 'stage')::text;
  end if;
  perform iu_core.fn_gate_require('iu_core.staging_writes_enabled');
  v_actor := iu_core.fn_actor_for(p_set_by);
  perform iu_core.fn_ingest_lock(p_upload_id, array['staged', 'planned'], 'planned');
  return array_remove(array[v_actor.actor, v_actor.via], null);
end $$;

-- Plans the deletes of a snapshot, after all lines are planned. Returns what the reviewer must know of it, with the reason why
-- the plan cannot be promoted, if there is one (`refusal`); NULL if the upload is no snapshot. Internal.
create or replace function iu_core.fn_ingest_snapshot_plan(
  p_upload iu_core.ingest_upload, p_definition jsonb, p_gate_mode text, p_on_conflict text
) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_type record;
  v_kept record;
  v_scope record;
  v_planned record;
  v_rows text;
  v_absent text;
  v_in_scope bigint;
  v_gone bigint;
  v_max numeric;
  v_usual numeric;
  v_too_short boolean;
  v_limits jsonb;
  v_refusal text;
  v_unknown text;
  v_key text;
  v_order text;
  v_target text;
begin
  select t.* into v_type from iu_core.fn_ingest_row_types(p_definition, p_upload.reading -> 'layout') t where t.is_leaf;
  if v_type.spec ->> 'mode' is distinct from 'snapshot' then
    return null;
  end if;
  v_target := iu_core.fn_ingest_table_sql(v_type.target);
  v_max := coalesce(p_upload.max_deleted, (v_type.spec #>> '{snapshot,maxDeleted}')::numeric, 0.1);
  v_usual := iu_core.fn_ingest_snapshot_usual_lines(p_upload);
  v_too_short := not p_upload.short_file_allowed and coalesce(p_upload.line_count < v_usual / 2, false);
  v_limits := jsonb_build_object('max_deleted', v_max, 'confirmed', p_upload.max_deleted is not null, 'lines', p_upload.line_count,
    'usual_lines', v_usual, 'short_file_allowed', p_upload.short_file_allowed, 'too_short', v_too_short);
  select * into v_kept from iu_core.fn_ingest_snapshot_kept_lines(p_upload, p_definition, v_type);
  select * into v_scope from iu_core.fn_ingest_snapshot_scope(p_upload, p_definition, v_type);
  v_refusal := case
    when not exists (select from pg_temp.ingest_line) then 'the file has no valid line, and as a snapshot it would delete every row'
    when v_kept.unreadable > 0 then format(
      'the key of %s is not known, so %s be any row that the file would then lack: correct %s, or take %3$s out of the file (line %4$s)',
      case v_kept.unreadable when 1 then '1 line' else v_kept.unreadable || ' lines' end,
      case v_kept.unreadable when 1 then 'it may' else 'they may' end,
      case v_kept.unreadable when 1 then 'it' else 'them' end, v_kept.first_line)
    when v_scope.missing is not null then format('the file has no column for %s, which is in its scope', v_scope.missing) end;
  if v_refusal is not null then
    return v_limits || jsonb_build_object('row_type', v_type.row_type, 'scope', coalesce(v_type.spec #> '{snapshot,scope}', '[]'), 'in_scope', 0,
      'deleted', 0, 'blocked', 0, 'needed_max_deleted', null, 'kept', v_kept.kept, 'dependents', '[]'::jsonb, 'refusal', v_refusal);
  end if;

  -- A row that the file has was found when its line was planned.
  select * into v_planned from iu_core.fn_ingest_planned_rows(p_upload.upload_id, v_type);
  v_absent := concat_ws(' and ',
    case when v_planned.row_match is null then 'true' else format('not exists (select from pg_temp.ingest_now n where %s)', v_planned.row_match) end,
    case when v_kept.kept > 0 then format('not exists (select from pg_temp.ingest_kept l where %s)', v_kept.matches) end);
  v_rows := format('%s t where %s', v_target, v_scope.condition);
  select format('jsonb_build_object(%s)', string_agg(format('%1$L, t.%1$I', k.name), ', ')),
         string_agg(format('t.%I', k.name), ', ' order by k.position)
    into v_key, v_order
    from unnest(v_type.key_columns) with ordinality as k (name, position);
  execute format('select count(*) from %s', v_rows) into v_in_scope;
  drop table if exists pg_temp.ingest_gone;
  execute format($sql$
    create temporary table ingest_gone on commit drop as
    select (row_number() over (order by %s) - 1 - count(*) over ())::integer as position, t.tableoid as row_table, t.ctid as row_tid
      from %s and %s
  $sql$, v_order, v_rows, v_absent);
  get diagnostics v_gone = row_count;
  v_gone := v_gone - iu_core.fn_ingest_conflict_deletes(p_upload, v_type, v_key, p_on_conflict);
  -- What is refused for its number is listed, not stored as a whole.
  if v_gone > 10000 then
    v_refusal := iu_core.fn_ingest_snapshot_limit_reason(v_type.target_name, v_gone, v_in_scope, v_limits);
  end if;
  if v_refusal is not null then
    delete from pg_temp.ingest_gone where position > 10000 - 1 - v_gone;
    v_refusal := v_refusal || '. The first 10000 of them are listed';
  end if;
  analyze pg_temp.ingest_gone;
  drop table if exists pg_temp.ingest_blocked;
  create temporary table ingest_blocked (position integer, row_table oid, row_tid tid, reason text) on commit drop;
  v_unknown := iu_core.fn_ingest_snapshot_dependents(v_type.target, false);
  while p_gate_mode = 'LENIENT' and v_unknown is null and exists (select from pg_temp.ingest_dependent where effect = 'restrict') loop
    -- Again without them, since what depends on several rows was counted for one of them.
    insert into pg_temp.ingest_blocked
    select g.position, g.row_table, g.row_tid, d.reason
      from pg_temp.ingest_gone g join iu_core.fn_ingest_snapshot_dependents_by_row() d on d.root = g.position where d.reason is not null;
    delete from pg_temp.ingest_gone g using pg_temp.ingest_blocked b where g.position = b.position;
    v_unknown := iu_core.fn_ingest_snapshot_dependents(v_type.target, false);
  end loop;
  -- Rows that others hold are not deleted.
  v_refusal := coalesce(v_refusal,
    iu_core.fn_ingest_snapshot_limit_reason(v_type.target_name, v_gone - (select count(*) from pg_temp.ingest_blocked), v_in_scope, v_limits),
    v_unknown, iu_core.fn_ingest_snapshot_blocked(v_type, v_planned.row_match));

  execute format($sql$
    insert into iu_core.ingest_plan_row (
      upload_id, type_order, row_type, row_number, action, target_id, target_key, before, before_hash, dependents, dependents_hash,
      reason, row_hash)
    select r.*, sha256(convert_to(concat_ws('|', r.row_type, r.position, r.action, r.target_key, r.before_hash, r.dependents_hash), 'UTF8'))
      from (select %1$L::uuid, %2$s::smallint, %3$L::text as row_type, g.position, 'delete' as action, %4$s as target_id,
                   %5$s as target_key, to_jsonb(t.*) as before, %6$s as before_hash, d.dependents, d.dependents_hash, d.reason
              from pg_temp.ingest_gone g
              join %7$s t on t.tableoid = g.row_table and t.ctid = g.row_tid
              left join (select * from iu_core.fn_ingest_snapshot_dependents_by_row()) d on d.root = g.position
            offset 0) r
  $sql$, p_upload.upload_id, v_type.type_order, v_type.row_type,
     (select format('%s::%s', case when v_type.id_column is null then 'null' else format('t.%I', v_type.id_column) end, format_type(atttypid, -1))
        from pg_attribute where attrelid = 'iu_core.ingest_plan_row'::regclass and attname = 'target_id'), v_key,
     iu_core.fn_ingest_row_hash_sql(v_type.target, 't.*'), v_target);
  execute format($sql$
    insert into iu_core.ingest_plan_row (upload_id, type_order, row_type, row_number, action, target_key, before, reason, row_hash)
    select %1$L, %2$s, %3$L, b.position, 'skipped', %4$s, to_jsonb(t.*), b.reason,
           sha256(convert_to(concat_ws('|', %3$L, b.position, 'skipped', %4$s, b.reason), 'UTF8'))
      from pg_temp.ingest_blocked b join %5$s t on t.tableoid = b.row_table and t.ctid = b.row_tid
  $sql$, p_upload.upload_id, v_type.type_order, v_type.row_type, v_key, v_target);
  return v_limits || jsonb_build_object(
    'row_type', v_type.row_type, 'scope', coalesce(v_type.spec #> '{snapshot,scope}', '[]'), 'in_scope', v_in_scope,
    'deleted', v_gone - (select count(*) from pg_temp.ingest_blocked), 'blocked', (select count(*) from pg_temp.ingest_blocked),
    'needed_max_deleted', iu_core.fn_ingest_snapshot_needed_share(v_gone - (select count(*) from pg_temp.ingest_blocked), v_in_scope, v_max),
    'kept', v_kept.kept,
    'dependents', (select coalesce(jsonb_agg(to_jsonb(d) order by d."table", d.effect), '[]')
                     from (select iu_core.fn_ingest_table_sql(target) as "table", effect, count(*) as rows
                             from pg_temp.ingest_dependent where level > 0 group by 1, 2) d),
    'refusal', v_refusal);
end $$;

-- Why a snapshot is over its limits: it would delete too much, or the file is far shorter than the last ones. NULL: it is not. Each
-- limit is raised by itself. p_limits: as a plan has them. Internal.
create or replace function iu_core.fn_ingest_snapshot_limit_reason(p_target text, p_deleted bigint, p_in_scope bigint, p_limits jsonb) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select nullif(concat_ws('; ',
    case when n.share is not null then format(
      '%s of %s rows of %s in its scope would be deleted because the file lacks them (%s %%), and at most %s %% may be: if the file is complete, plan it with --max-deleted %s, or raise maxDeleted in the dataset',
      p_deleted, p_in_scope, p_target, trim_scale(round(100.0 * p_deleted / p_in_scope, 1)), trim_scale((p_limits ->> 'max_deleted')::numeric * 100), n.share) end,
    case when (p_limits ->> 'too_short')::boolean then format(
      'the file has %s lines, and the last ones had %s (median): if it is complete, plan it with --allow-short-file',
      p_limits ->> 'lines', trim_scale((p_limits ->> 'usual_lines')::numeric)) end), '')
    from iu_core.fn_ingest_snapshot_needed_share(p_deleted, p_in_scope, (p_limits ->> 'max_deleted')::numeric) as n (share)
$$;

-- The share of the rows in scope that must be allowed to be deleted, rounded up to a percent; NULL: what is allowed is enough. Internal.
create or replace function iu_core.fn_ingest_snapshot_needed_share(p_deleted bigint, p_in_scope bigint, p_max numeric) returns numeric
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case when p_deleted > p_max * p_in_scope then trim_scale(ceil(100.0 * p_deleted / p_in_scope) / 100) end
$$;

-- The median number of lines of the last promoted uploads of the same dataset, client and platform, at most five; NULL if there
-- are none. Internal.
create or replace function iu_core.fn_ingest_snapshot_usual_lines(p_upload iu_core.ingest_upload) returns numeric
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select percentile_cont(0.5) within group (order by l.line_count)::numeric
    from (select u.line_count from iu_core.ingest_upload u join iu_core.ingest_promotion p using (upload_id)
           where u.dataset = p_upload.dataset and u.workspace_id = p_upload.workspace_id and u.client_id = p_upload.client_id
             and u.platform = p_upload.platform and u.status = 'promoted' and u.upload_id <> p_upload.upload_id
           order by p.promoted_at desc limit 5) l
$$;

-- The lines of a file that are not taken but may stand for a row: invalid ones, and those that were left out, except lines that
-- sum up others. Those whose key could be read are put into `ingest_kept`, and `matches` finds their rows `t`; the others are
-- counted. A key counts as read if it comes from fields with a cell of their own (one that is computed may come from a cell that is
-- wrong), and no error of the line is about them or about the whole line.
-- Internal.
create or replace function iu_core.fn_ingest_snapshot_kept_lines(
  p_upload iu_core.ingest_upload, p_definition jsonb, p_type record,
  out kept bigint, out matches text, out unreadable bigint, out first_line integer
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_layout jsonb := p_upload.reading -> 'layout';
  v_fields text[];
  v_readable boolean;
  v_required text;
  v_unpacked record;
begin
  select array_agg(distinct s.source) filter (where v_layout -> 'fields' ? s.source),
         bool_and(s.source in ('$client', '$workspace', '$platform')
                  or s.source not like '$%' and not p_definition -> 'fields' -> s.source ?| array['lookup', 'compute', 'period']
                  or s.source <> '$identity' and s.source like '$%' and not v_layout -> 'row_types' ? substr(s.source, 2))
    into v_fields, v_readable
    from unnest(p_type.key_columns || array(select jsonb_array_elements_text(p_type.spec #> '{snapshot,scope}'))) k,
         lateral (select p_type.spec -> 'columns' ->> k) as s (source);
  select string_agg(format('s.normalized_payload ->> %L is not null', p_type.spec -> 'columns' ->> k), ' and ') into v_required
    from unnest(p_type.key_columns) k
   where v_layout -> 'fields' ? (p_type.spec -> 'columns' ->> k) and iu_core.fn_ingest_column_not_null(p_type.target, k);
  select * into v_unpacked from iu_core.fn_ingest_unpack_sql('s.normalized_payload', (
    select jsonb_agg(jsonb_build_object('column', f, 'type', iu_core.fn_ingest_field_type(p_definition -> 'fields' -> f),
                                        'slot', iu_core.fn_ingest_line_column(v_layout, f))) from unnest(v_fields) f));
  drop table if exists pg_temp.ingest_open_line;
  execute format($sql$
    create temporary table ingest_open_line on commit drop as
    select s.row_number, s.normalized_payload,
           %1$L and s.planned is null and %2$s and not exists (
             select from jsonb_array_elements(coalesce(s.validation_errors, '[]')) e
              where e ->> 'rule' <> 'key.repeated' and (e ->> 'field' is null or e ->> 'field' = any ($1))) as readable
      from (select x.row_number, x.normalized_payload, x.validation_errors, null::text as planned from public.staging_rows x
             where x.upload_id = $2 and x.row_type = $3 and x.validation_status in ('invalid', 'skipped')
               and (x.validation_status <> 'valid' or x.validation_warnings <> '[]')
               and not (x.validation_status = 'skipped'
                        and iu_core.fn_ingest_left_out_reason(x.validation_warnings) = any (iu_core.fn_ingest_totals_rules()))
            union all
            -- Lines that this plan refuses.
            select p.row_number, '{}', '[]', p.reason from iu_core.ingest_plan_row p join public.staging_rows x on x.id = p.staging_row_id
             where p.upload_id = $2 and p.row_type = $3 and p.action = 'refused' and x.validation_status = 'valid') s
  $sql$, v_readable, coalesce(v_required, 'true')) using v_fields, p_upload.upload_id, p_type.row_type;
  drop table if exists pg_temp.ingest_kept;
  begin
    execute format('create temporary table ingest_kept on commit drop as select s.row_number, %s from pg_temp.ingest_open_line s%s where s.readable',
                   coalesce(v_unpacked.selected, 'null as nothing'), coalesce(v_unpacked.joined, ''));
    matches := iu_core.fn_ingest_key_match_sql(p_type.key_columns, p_type.spec, p_type.written, v_layout, p_upload,
      array(select p_type.spec -> 'columns' ->> k from unnest(p_type.key_columns) k
             where not iu_core.fn_ingest_column_not_null(p_type.target, k)));
    if exists (select from pg_temp.ingest_kept) then
      execute format('select from %s t join pg_temp.ingest_kept l on %s limit 1', iu_core.fn_ingest_table_sql(p_type.target), matches);
    end if;
  exception when data_exception then
    -- A value that the key column cannot hold is no key.
    update pg_temp.ingest_open_line set readable = false;
    drop table if exists pg_temp.ingest_kept;
  end;
  select count(*) filter (where readable), count(*) filter (where not readable), min(row_number) filter (where not readable)
    into kept, unreadable, first_line from pg_temp.ingest_open_line;
end $$;

-- The rows `t` that a snapshot speaks of, as a condition: those of its tenant (through the key's parents, too) that agree in the
-- columns of the scope with a line of the file. Key columns that the file does not have are NULL in its rows. `missing`: a column
-- of the scope that the file does not have. Internal.
create or replace function iu_core.fn_ingest_snapshot_scope(
  p_upload iu_core.ingest_upload, p_definition jsonb, p_type record, out condition text, out missing text
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_layout jsonb := p_upload.reading -> 'layout';
  v_selected text;
  v_match text;
  v_nulls text;
  v_has_nulls boolean;
begin
  select string_agg(format('t.%I is null', k), ' and ') into condition
    from unnest(p_type.key_columns) k, lateral (select p_type.spec -> 'columns' ->> k) as s (source)
   where iu_core.fn_ingest_source_sql(s.source, v_layout, p_upload) is null;
  condition := nullif(concat_ws(' and ', condition, iu_core.fn_ingest_snapshot_tenant_sql(p_upload, p_definition, p_type.spec, 't')), '');
  if jsonb_array_length(coalesce(p_type.spec #> '{snapshot,scope}', '[]')) > 0 then
    select string_agg(format('(%s)::%s as s%s', s.expression, s.type, s.position), ', '), min(s.name) filter (where s.expression is null),
           string_agg(format('bool_or(s.s%s is null)', s.position), ' or ')
      into v_selected, missing, v_nulls
      from (select k.name, k.position, iu_core.fn_ingest_source_sql(p_type.spec -> 'columns' ->> k.name, v_layout, p_upload) as expression,
                   (select w.type from jsonb_to_recordset(p_type.written) as w ("column" text, type text) where w."column" = k.name) as type
              from jsonb_array_elements_text(p_type.spec #> '{snapshot,scope}') with ordinality as k (name, position)) s;
    if missing is not null then
      return;
    end if;
    drop table if exists pg_temp.ingest_scope;
    execute format('create temporary table ingest_scope on commit drop as select distinct %s from pg_temp.ingest_line l %s %s', v_selected,
      iu_core.fn_ingest_parent_joins(p_type.spec, v_layout),
      case when p_type.is_entity then format('join pg_temp.ingest_entity e on e.row_number = l.row_number and e.row_type = %L', p_type.row_type) else '' end);
    analyze pg_temp.ingest_scope;
    execute format('select coalesce(%s, false) from pg_temp.ingest_scope s', v_nulls) into v_has_nulls;
    select string_agg(format(case when v_has_nulls then 't.%I is not distinct from s.s%s' else 't.%I = s.s%s' end, k.name, k.position), ' and ')
      into v_match from jsonb_array_elements_text(p_type.spec #> '{snapshot,scope}') with ordinality as k (name, position);
    condition := concat_ws(' and ', condition, format('exists (select from pg_temp.ingest_scope s where %s)', v_match));
  end if;
  condition := coalesce(condition, 'true');
end $$;

-- The condition that a row (by its alias) belongs to the workspace, client and platform of an upload, itself or through the
-- parents in its key. NULL: nothing says whose it is, so the table belongs to one workspace. Internal.
create or replace function iu_core.fn_ingest_snapshot_tenant_sql(
  p_upload iu_core.ingest_upload, p_definition jsonb, p_spec jsonb, p_alias text
) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_target regclass := to_regclass(p_spec ->> 'target');
  v_column record;
  v_parent jsonb;
  v_inner text;
  v_condition text;
begin
  for v_column in
    select c.key as name, c.value as source, a.attnotnull, iu_core.fn_ingest_column_type(a) as type, p_spec -> 'key' ? c.key as is_key
      from jsonb_each_text(p_spec -> 'columns') c
      join pg_attribute a on a.attrelid = v_target and a.attname = c.key and not a.attisdropped
     where c.value like '$%' order by a.attnum
  loop
    if v_column.source in ('$client', '$workspace', '$platform') then
      v_condition := concat_ws(' and ', v_condition, format('%s.%I = (%s)::%s', p_alias, v_column.name,
        iu_core.fn_ingest_source_sql(v_column.source, p_upload.reading -> 'layout', p_upload), v_column.type));
      continue;
    end if;
    select spec into v_parent from jsonb_array_elements(p_definition -> 'rows') spec
     where spec ->> 'name' = substr(v_column.source, 2) and spec ->> 'name' <> p_spec ->> 'name';
    continue when v_parent is null or not v_column.is_key;
    v_inner := iu_core.fn_ingest_snapshot_tenant_sql(p_upload, p_definition, v_parent, p_alias || 'p');
    continue when v_inner is null;
    v_condition := concat_ws(' and ', v_condition, format('(%s%s.%I in (select %s.%I from %s %4$s where %7$s))',
      case when v_column.attnotnull then '' else format('%s.%I is null or ', p_alias, v_column.name) end, p_alias, v_column.name,
      p_alias || 'p', v_parent ->> 'id', iu_core.fn_ingest_table_sql(to_regclass(v_parent ->> 'target')), v_inner));
  end loop;
  return v_condition;
end $$;

-- Finds what the deletes of `ingest_gone` do to other rows, through chains of foreign keys, in `ingest_dependent`: a row of
-- level 0 is to be deleted itself, the others are deleted or changed by a foreign key, or forbid the delete (restrict). A row that
-- is reached on several ways is counted once, for the first row to delete. With p_lock every row is locked before rows that refer
-- to it are looked for, so that none is added. Returns why that cannot be known; NULL if it is. Internal.
create or replace function iu_core.fn_ingest_snapshot_dependents(p_target regclass, p_lock boolean) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_level integer := 0;
  v_reference record;
  v_found bigint;
  v_locked bigint;
begin
  drop table if exists pg_temp.ingest_dependent;
  create temporary table ingest_dependent (
    target oid, row_table oid, row_tid tid, root integer, level integer, effect text, via text, target_key jsonb, before jsonb, row_hash bytea,
    exact jsonb, changed text[], after_key jsonb) on commit drop;
  insert into pg_temp.ingest_dependent (target, row_table, row_tid, root, level, effect)
  select p_target, row_table, row_tid, position, 0, 'delete' from pg_temp.ingest_gone;
  while exists (select from pg_temp.ingest_dependent where level = v_level and effect = 'delete') loop
    analyze pg_temp.ingest_dependent;
    for v_reference in
      select p.target as parent, r.* from (select distinct target::regclass as target from pg_temp.ingest_dependent where level = v_level and effect = 'delete') p,
             lateral iu_core.fn_ingest_references_to(p.target) r
    loop
      if not v_reference.visible then
        return format('rows of %s may depend on rows that would be deleted, and Stagedoor may not look: grant select, insert, update on %1$s to workflow_admin',
                      iu_core.fn_ingest_table_sql(v_reference.child));
      end if;
      execute format($sql$
        insert into pg_temp.ingest_dependent
        select distinct on (f.tableoid, f.ctid) %1$s, f.tableoid, f.ctid, d.root, %2$s, %3$L, %4$L, %5$s, to_jsonb(f.*), %6$s, %12$s, %13$L::text[]
          from pg_temp.ingest_dependent d
          join %7$s t on t.tableoid = d.row_table and t.ctid = d.row_tid
          join %8$s f on %9$s
         where d.level = %10$s and d.effect = 'delete' and d.target = %11$s
           and not exists (select from pg_temp.ingest_dependent o where o.effect = 'delete' and o.row_table = f.tableoid and o.row_tid = f.ctid)
         order by f.tableoid, f.ctid, d.root
      $sql$, v_reference.child::oid, v_level + 1, v_reference.effect, v_reference.name,
         coalesce((select format('jsonb_build_object(%s)', string_agg(format('%1$L, f.%1$I', k), ', ')) from unnest(v_reference.child_key) k), 'null'),
         -- Of rows that only lose their reference it matters which they are; of rows that are deleted, what they hold.
         case when v_reference.effect like 'set %' and v_reference.child_key is not null
              then (select format('sha256(convert_to(jsonb_build_array(%s)::text, ''UTF8''))', string_agg(format('f.%I', k), ', ')) from unnest(v_reference.child_key) k)
              else iu_core.fn_ingest_row_hash_sql(v_reference.child, 'f.*') end, iu_core.fn_ingest_table_sql(v_reference.parent),
         iu_core.fn_ingest_table_sql(v_reference.child), v_reference.on_key, v_level, v_reference.parent::oid,
         -- Stored by the promotion only.
         coalesce(case when p_lock then iu_core.fn_ingest_exact_sql(v_reference.child, 'f') end, 'null::jsonb'),
         case when v_reference.effect like 'set %' then v_reference.set_columns end);
      get diagnostics v_found = row_count;
      continue when v_found = 0;
      if not v_reference.writable and v_reference.effect <> 'restrict' then
        return format('rows of %s depend on rows that would be deleted, and Stagedoor may not bring them back: grant insert, update on %1$s to workflow_admin',
                      iu_core.fn_ingest_table_sql(v_reference.child));
      end if;
      if v_reference.child_key is null and v_reference.effect like 'set %' then
        return format('%s rows of %s refer to rows that would be deleted (on delete %s), and without a primary key an undo could not find them again',
                      v_found, iu_core.fn_ingest_table_sql(v_reference.child), v_reference.effect);
      end if;
      if p_lock and v_reference.effect <> 'restrict' then
        execute format($sql$
          select count(*) from (select from pg_temp.ingest_dependent d join %s f on f.tableoid = d.row_table and f.ctid = d.row_tid
                                 where d.level = %s and d.target = %s and d.via = %L for update of f) locked
        $sql$, iu_core.fn_ingest_table_sql(v_reference.child), v_level + 1, v_reference.child::oid, v_reference.name) into v_locked;
        -- One that was changed while we waited for its lock.
        if v_locked <> v_found then
          return format('rows of %s that depend on rows to delete are being changed', iu_core.fn_ingest_table_sql(v_reference.child));
        end if;
      end if;
    end loop;
    v_level := v_level + 1;
  end loop;
  analyze pg_temp.ingest_dependent;
  -- Several foreign keys may change one row.
  update pg_temp.ingest_dependent d set changed = o.changed
    from (select x.row_table, x.row_tid, array_agg(distinct c order by c) as changed from pg_temp.ingest_dependent x, unnest(x.changed) c
           group by 1, 2 having count(distinct x.via) > 1) o
   where d.changed is not null and d.row_table = o.row_table and d.row_tid = o.row_tid;
  -- What is deleted anyway is neither changed nor forbids anything, and a row is changed once.
  delete from pg_temp.ingest_dependent d
   where d.effect <> 'delete'
     and exists (select from pg_temp.ingest_dependent o where o.effect = 'delete' and o.row_table = d.row_table and o.row_tid = d.row_tid);
  delete from pg_temp.ingest_dependent d
   where d.effect <> 'delete'
     and exists (select from pg_temp.ingest_dependent o where o.effect <> 'delete' and o.row_table = d.row_table and o.row_tid = d.row_tid
                    and (o.effect <> 'restrict', o.level, o.via) < (d.effect <> 'restrict', d.level, d.via));
  return iu_core.fn_ingest_snapshot_changed_keys();
end $$;

-- Notes under which key (`after_key`) an undo finds the rows of `ingest_dependent` that a foreign key changes, where it changes the
-- very columns that identify them. Returns why an undo could not bring such rows back; NULL: it can. Internal.
create or replace function iu_core.fn_ingest_snapshot_changed_keys() returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_change record;
  v_column record;
  v_default record;
  v_reference record;
  v_key jsonb;
  v_found boolean;
begin
  for v_change in
    select d.target::regclass as target, iu_core.fn_ingest_table_sql(d.target) as name, d.changed, min(d.effect) as effect,
           (array_agg(d.target_key))[1] as target_key, count(*) as rows
      from pg_temp.ingest_dependent d where d.changed is not null group by d.target, d.changed
  loop
    v_key := '{}';
    for v_column in
      select a.attname::text as name, a.attidentity, a.attgenerated from pg_attribute a
       where a.attrelid = v_change.target and a.attnum > 0 and not a.attisdropped
         and (a.attname = any (v_change.changed) and (a.attidentity = 'a' or v_change.target_key ? a.attname::text)
              or a.attgenerated <> '' and v_change.target_key ? a.attname::text)
       order by a.attnum
    loop
      select * into v_default from iu_core.fn_ingest_constant_default(v_change.target, v_column.name);
      if v_column.attidentity = 'a' then
        return format('%s of %s %s to rows that would be deleted by %s, which is set then (on delete %s) and which an undo could not set back, because it is generated always as identity: let them refer to other rows, then plan again',
                      case v_change.rows when 1 then '1 row' else v_change.rows || ' rows' end, v_change.name,
                      case v_change.rows when 1 then 'refers' else 'refer' end, v_column.name, v_change.effect);
      end if;
      if v_column.attgenerated <> '' or not v_default.is_constant then
        return format('%s of %s %s to rows that would be deleted, and an undo could not find %s again: their key has %s, which is set then (on delete %s) to a value that is not known before. Give %2$s another unique key, or %5$s a constant default',
                      case v_change.rows when 1 then '1 row' else v_change.rows || ' rows' end, v_change.name,
                      case v_change.rows when 1 then 'refers' else 'refer' end, case v_change.rows when 1 then 'it' else 'them' end, v_column.name, v_change.effect);
      end if;
      v_key := v_key || jsonb_build_object(v_column.name, v_default.value);
    end loop;
    if v_key <> '{}' then
      update pg_temp.ingest_dependent d set after_key = d.target_key || v_key where d.target = v_change.target and d.changed = v_change.changed;
    end if;
    -- What refers to the changed columns would follow, lose its reference or forbid the change, and is not in the plan.
    for v_reference in
      select r.* from iu_core.fn_ingest_references_to(v_change.target) r where r.parent_columns && v_change.changed
    loop
      v_found := true;
      if v_reference.visible then
        execute format($sql$
          select exists (select from pg_temp.ingest_dependent d join %s t on t.tableoid = d.row_table and t.ctid = d.row_tid join %s f on %s
                          where d.target = $1 and d.changed = $2)
        $sql$, v_change.name, iu_core.fn_ingest_table_sql(v_reference.child), v_reference.on_key) into v_found using v_change.target::oid, v_change.changed;
      end if;
      if v_found then
        return format('rows of %s%s refer to rows of %s by %s, which the foreign key of those rows would change (on delete %s), and an undo could not bring them back: delete the rows of %1$s or let them refer to other rows, then plan again',
                      iu_core.fn_ingest_table_sql(v_reference.child), case when v_reference.visible then '' else ', which Stagedoor may not read, may' end,
                      v_change.name, array_to_string(v_reference.parent_columns, ', '), v_change.effect);
      end if;
    end loop;
  end loop;
  return null;
end $$;

-- The value that a column gets by SET DEFAULT, if it is known before: is_constant is false for a default that calls what is not
-- immutable (a sequence, the time, a random number), calls a function of the user, or cannot be computed. Internal.
create or replace function iu_core.fn_ingest_constant_default(p_table regclass, p_column text, out is_constant boolean, out value jsonb)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_default record;
begin
  select pg_get_expr(d.adbin, d.adrelid) as expression, d.adbin::text as tree, format_type(a.atttypid, a.atttypmod) as type, t.typdefault
    into v_default
    from pg_attribute a join pg_type t on t.oid = a.atttypid left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
   where a.attrelid = p_table and a.attname = p_column;
  is_constant := v_default.typdefault is null and coalesce(v_default.tree, '') !~ '{(NEXTVALUEEXPR|SQLVALUEFUNCTION|COERCEVIAIO)'
    and not exists (select from regexp_matches(v_default.tree, ':funcid (\d+)', 'g') m join pg_proc f on f.oid = m[1]::oid
                     where f.provolatile <> 'i' or f.pronamespace <> 'pg_catalog'::regnamespace)
    and not exists (select from regexp_matches(v_default.tree, ':opno (\d+)', 'g') m join pg_operator o on o.oid = m[1]::oid
                      join pg_proc f on f.oid = o.oprcode where f.provolatile <> 'i' or f.pronamespace <> 'pg_catalog'::regnamespace);
  if is_constant and v_default.expression is not null then
    begin
      execute format('select to_jsonb((%s)::%s)', v_default.expression, v_default.type) into value;
    exception when others then
      is_constant := false;
    end;
  end if;
end $$;

-- The foreign keys that point at a table, at the partitioned table that it belongs to, or at its partitions: `on_key` compares a
-- referring row `f` with a row `t`; `child_key` identifies a row of the referring table; `set_columns` are those that a delete
-- sets. Where these cannot be set to NULL, the foreign key forbids the delete, whatever it says. Internal.
create or replace function iu_core.fn_ingest_references_to(p_target regclass)
returns table (name text, child regclass, effect text, on_key text, child_key text[], visible boolean, writable boolean,
               parent_columns text[], set_columns text[])
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select c.conname::text, c.conrelid::regclass,
         case when c.confdeltype in ('n', 'd') and s.never_null then 'restrict'
              else case c.confdeltype when 'c' then 'delete' when 'n' then 'set null' when 'd' then 'set default' else 'restrict' end end,
         string_agg(format('t.%I operator(%I.%s) f.%I', ta.attname, n.nspname, o.oprname, fa.attname), ' and '),
         iu_core.fn_ingest_unique_key(c.conrelid),
         has_table_privilege(c.conrelid, 'select') and not row_security_active(c.conrelid),
         has_table_privilege(c.conrelid, 'update') and (c.confdeltype <> 'c' or has_table_privilege(c.conrelid, 'insert')),
         array_agg(ta.attname::text), s.columns
    from pg_constraint c, unnest(c.conkey, c.confkey, c.conpfeqop) as k (child_column, parent_column, operator),
         pg_attribute fa, pg_attribute ta, pg_operator o, pg_namespace n,
         lateral (select array_agg(a.attname::text order by a.attnum) as columns,
                         coalesce(bool_or(a.attnotnull and (c.confdeltype = 'n' or not a.atthasdef and a.attidentity = '' and y.typdefault is null)), false) as never_null
                    from pg_attribute a join pg_type y on y.oid = a.atttypid
                   where a.attrelid = c.conrelid and a.attnum = any (coalesce(nullif(c.confdelsetcols, '{}'), c.conkey))) s
   where c.contype = 'f' and c.conparentid = 0
     and (c.confrelid = p_target
          or c.confrelid in (select relid from pg_partition_tree(p_target))
          or c.confrelid in (select relid from pg_partition_ancestors(p_target)))
     and fa.attrelid = c.conrelid and fa.attnum = k.child_column
     and ta.attrelid = c.confrelid and ta.attnum = k.parent_column
     and o.oid = k.operator and n.oid = o.oprnamespace
   group by c.oid, c.conname, c.conrelid, c.confdeltype, s.columns, s.never_null
   order by c.conrelid::regclass::text, c.conname
$$;

-- Columns that identify a row of a table: its primary key, else another unique index whose columns cannot be NULL. One that no
-- foreign key changes (set null, set default) comes first. Internal.
create or replace function iu_core.fn_ingest_unique_key(p_table regclass) returns text[]
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select k.columns
    from pg_index i,
         lateral (select array_agg(a.attname::text order by p.position) as columns, bool_and(a.attnotnull) as never_null,
                         bool_or(a.attgenerated <> '' or exists (
                           select from pg_constraint c where c.conrelid = p_table and c.contype = 'f' and c.confdeltype in ('n', 'd')
                              and a.attnum = any (coalesce(nullif(c.confdelsetcols, '{}'), c.conkey)))) as may_change
                    from unnest(i.indkey[0:i.indnkeyatts - 1]) with ordinality as p (number, position)
                    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = p.number) k
   where i.indrelid = p_table and i.indisunique and i.indisvalid and i.indpred is null and i.indexprs is null and k.never_null
   order by k.may_change, i.indisprimary desc, i.indnkeyatts, i.indexrelid limit 1
$$;

-- The dependents of every row to delete, and a fingerprint of exactly these rows. Internal.
create or replace function iu_core.fn_ingest_snapshot_dependents_by_row()
returns table (root integer, dependents jsonb, dependents_hash bytea, reason text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select d.root, jsonb_agg(jsonb_build_object('table', d.target, 'effect', d.effect, 'rows', d.rows) order by d.target, d.effect),
         sha256(convert_to(string_agg(d.rows_hash, '|' order by d.target, d.effect), 'UTF8')),
         string_agg(format('%s %s of %s %s to it', d.rows, case d.rows when 1 then 'row' else 'rows' end, d.target,
                           case d.rows when 1 then 'refers' else 'refer' end), '; ' order by d.target) filter (where d.effect = 'restrict')
    from (select x.root, iu_core.fn_ingest_table_sql(x.target) as target, x.effect, count(*) as rows,
                 concat_ws(':', x.target, x.effect, encode(sha256(string_agg(x.row_hash, '' order by x.row_hash)), 'hex')) as rows_hash
            from pg_temp.ingest_dependent x where x.level > 0 group by 1, 2, 3, x.target) d
   group by d.root
$$;

-- Why rows of `ingest_gone` cannot be deleted: others refer to them, or rows that the file has would be deleted or changed with
-- them. p_row_match: finds the row `t` of a planned row in `ingest_now n`. NULL if they can. Internal.
create or replace function iu_core.fn_ingest_snapshot_blocked(p_type record, p_row_match text) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_blocked text;
  v_rows bigint;
begin
  select string_agg(format('%s %s of %s', b.rows, case b.rows when 1 then 'row' else 'rows' end, b.target), ', ' order by b.target), sum(b.rows)
    into v_blocked, v_rows
    from (select iu_core.fn_ingest_table_sql(target) as target, count(*) as rows from pg_temp.ingest_dependent where effect = 'restrict' group by 1) b;
  if v_blocked is not null then
    return format('%s %s to rows that would be deleted, and the foreign key forbids that: --on-invalid skip leaves those rows as they are',
                  v_blocked, case v_rows when 1 then 'refers' else 'refer' end);
  end if;
  -- Rows of the table itself may refer to each other.
  if exists (select from pg_temp.ingest_dependent where level > 0 and target = p_type.target) then
    execute format($sql$
      select count(*) from pg_temp.ingest_dependent d join %s t on t.tableoid = d.row_table and t.ctid = d.row_tid
       where d.level > 0 and d.target = $1 and exists (select from pg_temp.ingest_now n where %s)
    $sql$, iu_core.fn_ingest_table_sql(p_type.target), p_row_match) into v_rows using p_type.target::oid;
    if v_rows > 0 then
      return format('%s %s of %s that the file has %s to rows that it lacks, and would be deleted or changed with them', v_rows,
                    case v_rows when 1 then 'row' else 'rows' end, p_type.target_name, case v_rows when 1 then 'refers' else 'refer' end);
    end if;
  end if;
  return null;
end $$;

-- Promotion: deletes the planned rows of a snapshot before anything else is written into its table, so that what depends on them
-- is what the plan saw. Locks them and what depends on them, compares, stores images of all in the ledger. Returns how many rows of
-- the table it deleted. Internal.
create or replace function iu_core.fn_ingest_snapshot_delete(p_upload_id uuid, p_type record) returns bigint
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_target text := iu_core.fn_ingest_table_sql(p_type.target);
  v_settings jsonb;
  v_match text;
  v_planned bigint;
  v_stale bigint;
  v_reason text;
  v_state text;
  v_deleted bigint;
  v_child record;
begin
  if p_type.spec ->> 'mode' is distinct from 'snapshot' then
    return 0;
  end if;
  v_settings := iu_core.fn_ingest_pin_text_settings();
  v_match := iu_core.fn_ingest_snapshot_rows(p_upload_id, p_type);
  select count(*) into v_planned from pg_temp.ingest_gone;
  if v_planned = 0 then
    perform iu_core.fn_ingest_pin_text_settings(v_settings);
    return 0;
  end if;
  execute format('select count(*) from (select from pg_temp.ingest_gone g join %s t on %s order by %s for update of t) locked', v_target, v_match,
                 (select string_agg(format('t.%I', k), ', ') from unnest(p_type.key_columns) k));
  -- Statements of their own: they see what was committed while we waited for the locks.
  v_stale := iu_core.fn_ingest_snapshot_compare(p_type, v_match);
  if v_stale > 0 then
    perform iu_core.fn_ingest_raise_plan_stale(p_upload_id, v_stale, p_type.target_name);
  end if;
  v_reason := iu_core.fn_ingest_snapshot_dependents(p_type.target, true);
  if v_reason is null then
    select count(*) into v_stale from pg_temp.ingest_gone g left join iu_core.fn_ingest_snapshot_dependents_by_row() d on d.root = g.position
     where d.dependents_hash is distinct from g.dependents_hash;
    v_reason := case when v_stale > 0 then format('rows that depend on %s %s to delete from %s changed since the plan was made', v_stale,
                                                  case v_stale when 1 then 'row' else 'rows' end, p_type.target_name) end;
  end if;
  if v_reason is not null then
    raise exception using errcode = 'SD606', message = upper(left(v_reason, 1)) || substr(v_reason, 2),
      hint = format('`stagedoor upload plan %s --again` plans it again.', p_upload_id),
      detail = json_build_object('upload', p_upload_id, 'reason', v_reason)::text;
  end if;

  execute format($sql$
    insert into iu_core.ingest_ledger (upload_id, type_order, row_type, row_number, target, target_id, target_key, action, before, exact)
    select p.upload_id, p.type_order, p.row_type, p.row_number, $3, p.target_id, case when p.target_id is null then p.target_key end, 'delete', p.before, %s
      from iu_core.ingest_plan_row p
      join pg_temp.ingest_gone g on g.position = p.row_number
      join %s t on t.tableoid = g.row_table and t.ctid = g.row_tid
     where p.upload_id = $1 and p.type_order = $2 and p.action = 'delete'
  $sql$, coalesce(iu_core.fn_ingest_exact_sql(p_type.target, 't'), 'null'), v_target) using p_upload_id, p_type.type_order, p_type.target_name;
  insert into iu_core.ingest_dependent (upload_id, position, type_order, row_number, level, target, target_key, effect, before, exact, after_key)
  select p_upload_id, row_number() over (order by d.level, d.root, d.row_table, d.row_tid), p_type.type_order, d.root, d.level,
         iu_core.fn_ingest_table_sql(d.target), d.target_key, d.effect, d.before, d.exact, d.after_key
    from pg_temp.ingest_dependent d where d.level > 0;
  perform iu_core.fn_ingest_pin_text_settings(v_settings);
  begin
    execute format('delete from %s t using pg_temp.ingest_gone g where t.tableoid = g.row_table and t.ctid = g.row_tid', v_target);
    get diagnostics v_deleted = row_count;
    v_reason := case when v_deleted <> v_planned then 'a trigger left rows out' end;
  exception when others then
    get stacked diagnostics v_reason = message_text, v_state = returned_sqlstate;
    if left(v_state, 2) in ('08', '0A', '25', '40', '42', '53', '54', '55', '57', '58', 'XX') then
      raise;
    end if;
  end;
  if v_reason is not null then
    raise exception using errcode = 'SD611',
      message = format('The table %s does not let rows be deleted: %s', p_type.target_name, v_reason),
      detail = json_build_object('target', p_type.target_name, 'line', null, 'reason', v_reason)::text;
  end if;

  -- Changed rows as the foreign key and their triggers left them.
  v_settings := iu_core.fn_ingest_pin_text_settings();
  for v_child in
    select distinct d.target::regclass as target, iu_core.fn_ingest_unique_key(d.target) as key from pg_temp.ingest_dependent d where d.effect like 'set %'
  loop
    execute format($sql$
      update iu_core.ingest_dependent d set after_hash = %1$s
        from (select x.position as place, %5$s from iu_core.ingest_dependent x, jsonb_populate_record(null::%2$s, coalesce(x.after_key, x.target_key)) b
               where x.upload_id = $1 and x.target = %3$L and x.effect like 'set %%') as b, %2$s f
       where d.upload_id = $1 and d.position = b.place and %4$s
    $sql$, iu_core.fn_ingest_row_hash_sql(v_child.target, 'f.*'), iu_core.fn_ingest_table_sql(v_child.target), iu_core.fn_ingest_table_sql(v_child.target),
       (select string_agg(format('f.%I = b.c%s', k.name, k.place), ' and ') from unnest(v_child.key) with ordinality as k (name, place)),
       (select string_agg(format('b.%I as c%s', k.name, k.place), ', ') from unnest(v_child.key) with ordinality as k (name, place))) using p_upload_id;
  end loop;
  perform iu_core.fn_ingest_pin_text_settings(v_settings);
  select min(d.target) into v_reason from iu_core.ingest_dependent d where d.upload_id = p_upload_id and d.effect like 'set %' and d.after_hash is null;
  if v_reason is not null then
    raise exception using errcode = 'SD611',
      message = format('A trigger of %s changed the key of a row that refers to a deleted one, or deleted it, so an undo could not find it again', v_reason),
      detail = json_build_object('target', v_reason, 'line', null, 'reason', 'a trigger changed the key of a row that refers to a deleted one')::text;
  end if;
  return v_deleted;
end $$;

-- Puts the planned deletes of an upload into `ingest_gone`, with their keys as typed columns, and returns the condition that finds
-- their rows `t`. Internal.
create or replace function iu_core.fn_ingest_snapshot_rows(p_upload_id uuid, p_type record) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_slots text;
  v_match text;
begin
  select string_agg(format('b.%I as c%s', a.attname, a.attnum), ', '),
         string_agg(format(case when a.attnotnull then 't.%I = g.c%s' else 't.%I is not distinct from g.c%s' end, a.attname, a.attnum), ' and ')
    into v_slots, v_match
    from unnest(p_type.key_columns) k join pg_attribute a on a.attrelid = p_type.target and a.attname = k and not a.attisdropped;
  drop table if exists pg_temp.ingest_gone;
  execute format($sql$
    create temporary table ingest_gone on commit drop as
    select p.row_number as position, p.before_hash, p.dependents_hash, null::bytea as now_hash, null::oid as row_table, null::tid as row_tid, %s
      from iu_core.ingest_plan_row p, jsonb_populate_record(null::%s, p.target_key) as b
     where p.upload_id = $1 and p.type_order = $2 and p.action = 'delete'
  $sql$, v_slots, iu_core.fn_ingest_table_sql(p_type.target)) using p_upload_id, p_type.type_order;
  analyze pg_temp.ingest_gone;
  return v_match;
end $$;

-- Notes where the rows of `ingest_gone` are now, and returns how many are not as the plan saw them. Internal.
create or replace function iu_core.fn_ingest_snapshot_compare(p_type record, p_match text) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  execute format('update pg_temp.ingest_gone g set row_table = t.tableoid, row_tid = t.ctid, now_hash = %s from %s t where %s',
                 iu_core.fn_ingest_row_hash_sql(p_type.target, 't.*'), iu_core.fn_ingest_table_sql(p_type.target), p_match);
  return (select count(*) from pg_temp.ingest_gone where now_hash is distinct from before_hash);
end $$;

-- Adds the deletes that are stale to `ingest_stale`: the row has changed or gone, or other rows depend on it than the plan saw.
-- Internal.
create or replace function iu_core.fn_ingest_snapshot_stale(p_upload_id uuid, p_type record) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_type.spec ->> 'mode' is distinct from 'snapshot' then
    return;
  end if;
  perform iu_core.fn_ingest_snapshot_compare(p_type, iu_core.fn_ingest_snapshot_rows(p_upload_id, p_type));
  if iu_core.fn_ingest_snapshot_dependents(p_type.target, false) is not null then
    update pg_temp.ingest_gone set now_hash = null;
  end if;
  execute format($sql$
    insert into pg_temp.ingest_stale (type_order, line, key, now)
    select $1, g.position, p.target_key, to_jsonb(t.*)
      from pg_temp.ingest_gone g
      join iu_core.ingest_plan_row p on p.upload_id = $2 and p.type_order = $1 and p.row_number = g.position
      left join %s t on t.tableoid = g.row_table and t.ctid = g.row_tid
      left join iu_core.fn_ingest_snapshot_dependents_by_row() d on d.root = g.position
     where g.now_hash is distinct from g.before_hash or d.dependents_hash is distinct from g.dependents_hash
  $sql$, iu_core.fn_ingest_table_sql(p_type.target)) using p_type.type_order, p_upload_id;
end $$;

-- Undo: decides in `ingest_undo` which deleted rows come back, and which rows that depended on them. A row stays away (kept) if
-- another one has taken its place in a unique index, and is refused if a row that it refers to no longer exists. A row that a
-- foreign key changed is restored if nobody has changed it since. Internal.
create or replace function iu_core.fn_ingest_snapshot_undo_decide(p_promotion iu_core.ingest_promotion, p_lock boolean) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_table record;
  v_index record;
  v_found bigint;
  v_refused bigint;
  v_reference record;
begin
  drop table if exists pg_temp.ingest_restored;
  create temporary table ingest_restored (
    position integer primary key, type_order smallint, row_type text, target_name text, target regclass, effect text, level integer,
    target_key jsonb, before jsonb, exact jsonb, after_hash bytea, row_table oid, row_tid tid, outcome text default 'reversed', reason text,
    -- By which the row is found now.
    after_key jsonb) on commit drop;
  insert into pg_temp.ingest_restored (position, type_order, row_type, target_name, target, effect, level, target_key, before, exact)
  select l.row_number, l.type_order, l.row_type, l.target, to_regclass(l.target), 'delete', 0, coalesce(l.target_key, p.target_key), l.before, l.exact
    from iu_core.ingest_ledger l
    left join iu_core.ingest_plan_row p on p.upload_id = l.upload_id and p.type_order = l.type_order and p.row_number = l.row_number
   where l.upload_id = p_promotion.upload_id and l.action = 'delete';
  if not found then
    return;
  end if;
  -- Numbers that no row to delete has.
  insert into pg_temp.ingest_restored (position, type_order, row_type, target_name, target, effect, level, target_key, before, exact, after_hash, after_key)
  select -1000000000 - d.position, d.type_order, d.target, d.target, to_regclass(d.target), d.effect, d.level, d.target_key, d.before, d.exact, d.after_hash,
         coalesce(d.after_key, d.target_key)
    from iu_core.ingest_dependent d where d.upload_id = p_promotion.upload_id;
  analyze pg_temp.ingest_restored;
  update pg_temp.ingest_restored set outcome = 'kept', reason = 'its table no longer exists' where target is null;

  for v_table in
    select r.target, iu_core.fn_ingest_table_sql(r.target) as name, min(r.level) as level from pg_temp.ingest_restored r where r.target is not null group by 1
  loop
    update pg_temp.ingest_restored r set outcome = 'kept', reason = 'its table has lost a column since'
     where r.target = v_table.target
       and exists (select from jsonb_object_keys(r.before) c
                    where not exists (select from pg_attribute a where a.attrelid = v_table.target and a.attname = c and a.attnum > 0 and not a.attisdropped));
    perform iu_core.fn_ingest_snapshot_undo_changed(v_table.target, p_lock);
    for v_index in
      select string_agg(format(case when i.indnullsnotdistinct then 't.%I is not distinct from b.c%s' else 't.%I = b.c%s' end, a.attname, p.position), ' and ') as matches,
             string_agg(format('b.%I as c%s', a.attname, p.position), ', ') as selected,
             string_agg(a.attname, ', ' order by p.position) as columns
        from pg_index i, unnest(i.indkey[0:i.indnkeyatts - 1]) with ordinality as p (number, position), pg_attribute a
       where i.indrelid = v_table.target and i.indisunique and i.indisvalid and i.indpred is null and i.indexprs is null
         and a.attrelid = i.indrelid and a.attnum = p.number
       group by i.indexrelid
    loop
      execute format($sql$
        update pg_temp.ingest_restored r set outcome = 'kept', reason = %1$L
          from (select x.position as place, %5$s from pg_temp.ingest_restored x, jsonb_populate_record(null::%2$s, x.before) b
                 where x.target = %3$s and x.outcome = 'reversed') as b
          join %2$s t on %4$s
         where r.position = b.place
           and not exists (select from pg_temp.ingest_undo u where u.outcome = 'reversed' and u.row_table = t.tableoid and u.row_tid = t.ctid)
           -- Rows that are restored, itself among them, leave their places at once.
           and not (r.effect <> 'delete' and exists (
                 select from pg_temp.ingest_restored o where o.outcome = 'reversed' and o.row_table = t.tableoid and o.row_tid = t.ctid))
      $sql$, format('another row with the same %s was inserted since', v_index.columns), v_table.name, v_table.target::oid, v_index.matches, v_index.selected);
    end loop;
  end loop;

  -- A row that does not come back keeps away what refers to it.
  loop
    v_refused := 0;
    for v_reference in
      select distinct r.target, x.* from (select distinct target from pg_temp.ingest_restored where outcome = 'reversed') r,
             lateral iu_core.fn_ingest_references_from(r.target) x
    loop
      execute format($sql$
        with child as materialized (
          select x.position as place, %1$s from pg_temp.ingest_restored x, jsonb_populate_record(null::%2$s, x.before) b
           where x.target = %3$s and x.outcome = 'reversed' and %4$s
        ), parent as materialized (
          select %5$s from pg_temp.ingest_restored x, jsonb_populate_record(null::%6$s, x.before) b
           where x.target = any (%7$L::oid[]) and x.outcome = 'reversed' and x.effect = 'delete'
        )
        update pg_temp.ingest_restored r set outcome = 'refused', reason = %8$L
          from child c
         where r.position = c.place and not exists (select from parent p where %9$s) and not exists (select from %6$s t where %10$s)
      $sql$, v_reference.child_columns, iu_core.fn_ingest_table_sql(v_reference.target), v_reference.target::oid, v_reference.not_null,
         v_reference.parent_columns, iu_core.fn_ingest_table_sql(v_reference.parent), v_reference.parents,
         format('the row of %s that it refers to no longer exists', iu_core.fn_ingest_table_sql(v_reference.parent)),
         v_reference.on_restored, v_reference.on_parent);
      get diagnostics v_found = row_count;
      v_refused := v_refused + v_found;
    end loop;
    exit when v_refused = 0;
  end loop;
  insert into pg_temp.ingest_undo (type_order, row_type, row_number, action, target, target_key, before, outcome, reason)
  select r.type_order, r.row_type, r.position, case when r.level = 0 then 'delete' else 'dependent' end, r.target, coalesce(r.target_key, '{}'),
         r.before, r.outcome, r.reason
    from pg_temp.ingest_restored r;
end $$;

-- Decides which rows of a table that a foreign key changed are still as it left them. Internal.
create or replace function iu_core.fn_ingest_snapshot_undo_changed(p_table regclass, p_lock boolean) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text := iu_core.fn_ingest_table_sql(p_table);
  v_rows text;
  v_joined text;
  v_image text;
begin
  if not exists (select from pg_temp.ingest_restored where target = p_table and effect like 'set %' and outcome = 'reversed') then
    return;
  end if;
  -- As it was then: a column that was added since does not count.
  select format('row(%s)', string_agg(format('t.%I', a.attname), ', ' order by a.attnum)) into v_image
    from pg_attribute a
   where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped
     and a.attname::text in (select jsonb_object_keys(before) from (select before from pg_temp.ingest_restored where target = p_table limit 1) r);
  select format($sql$
    (select x.position as place, x.after_hash as hash_then, %3$s from pg_temp.ingest_restored x, jsonb_populate_record(null::%1$s, x.after_key) b
      where x.target = %2$s and x.effect like 'set %%' and x.outcome = 'reversed') as b
  $sql$, v_name, p_table::oid, string_agg(format('b.%I as c%s', k.name, k.place), ', ')),
         format('%s t on %s', v_name, string_agg(format('t.%I = b.c%s', k.name, k.place), ' and '))
    into v_rows, v_joined
    from jsonb_object_keys((select after_key from pg_temp.ingest_restored where target = p_table and effect like 'set %' limit 1))
         with ordinality as k (name, place);
  if p_lock then
    execute format('select count(*) from (select from %s join %s for update of t) locked', v_rows, v_joined);
  end if;
  execute format($sql$
    update pg_temp.ingest_restored r
       set row_table = c.row_table, row_tid = c.row_tid, reason = c.reason, outcome = case when c.reason is null then 'reversed' else 'kept' end
      from (select b.place, t.tableoid as row_table, t.ctid as row_tid,
                   case when t.ctid is null then 'it was deleted since' when b.hash_then is distinct from %3$s then 'somebody changed it since' end as reason
              from %1$s left join %2$s) c
     where r.position = c.place
  $sql$, v_rows, v_joined, iu_core.fn_ingest_row_hash_sql(p_table,
     case when exists (select from pg_attribute a where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped
                          and not exists (select from pg_temp.ingest_restored x where x.target = p_table and x.before ? a.attname::text))
          then v_image else 't.*' end,
     array(select jsonb_object_keys(before) from (select before from pg_temp.ingest_restored where target = p_table limit 1) r)));
end $$;

-- The foreign keys of a table: expressions for the columns of a referring row `b` and of a restored parent `b`, and the conditions
-- that compare a child `c` with such a parent `p` and with a row `t` of the parent's table. Internal.
create or replace function iu_core.fn_ingest_references_from(p_table regclass)
returns table (parent regclass, parents oid[], child_columns text, not_null text, parent_columns text, on_restored text, on_parent text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select c.confrelid::regclass,
         c.confrelid || array(select relid::oid from pg_partition_tree(c.confrelid)) || array(select relid::oid from pg_partition_ancestors(c.confrelid)),
         string_agg(format('b.%I as k%s', fa.attname, k.place), ', '),
         string_agg(format('b.%I is not null', fa.attname), ' and '),
         string_agg(format('b.%I as k%s', ta.attname, k.place), ', '),
         string_agg(format('p.k%s operator(%I.%s) c.k%1$s', k.place, n.nspname, o.oprname), ' and '),
         string_agg(format('t.%I operator(%I.%s) c.k%s', ta.attname, n.nspname, o.oprname, k.place), ' and ')
    from pg_constraint c, unnest(c.conkey, c.confkey, c.conpfeqop) with ordinality as k (child_column, parent_column, operator, place),
         pg_attribute fa, pg_attribute ta, pg_operator o, pg_namespace n
   where c.contype = 'f' and c.conparentid = 0 and has_table_privilege(c.confrelid, 'select')
     and (c.conrelid = p_table or c.conrelid in (select relid from pg_partition_ancestors(p_table)))
     and fa.attrelid = c.conrelid and fa.attnum = k.child_column
     and ta.attrelid = c.confrelid and ta.attnum = k.parent_column
     and o.oid = k.operator and n.oid = o.oprnamespace
   group by c.oid, c.confrelid
$$;

-- Undo: inserts the deleted rows again, with their ids, tables that others refer to first, and then restores rows that a foreign
-- key changed. Internal.
create or replace function iu_core.fn_ingest_snapshot_undo(p_upload_id uuid, p_type record) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_open regclass[];
  v_table regclass;
begin
  if to_regclass('pg_temp.ingest_restored') is null
     or not exists (select from pg_temp.ingest_restored where type_order = p_type.type_order and level = 0) then
    return;
  end if;
  v_open := array(select target from pg_temp.ingest_restored where outcome = 'reversed' and effect = 'delete' group by target order by min(level));
  while cardinality(v_open) > 0 loop
    -- One that refers to none of the others; where tables refer to each other in a circle, the one that was reached first.
    select t into v_table from unnest(v_open) with ordinality as o (t, place)
     order by exists (select from iu_core.fn_ingest_references_from(o.t) x where x.parent <> o.t and x.parents && v_open::oid[]
                         and not x.parents && array[o.t::oid]), o.place limit 1;
    perform iu_core.fn_ingest_snapshot_undo_table(v_table, 'delete');
    v_open := array_remove(v_open, v_table);
  end loop;
  for v_table in select distinct target from pg_temp.ingest_restored where outcome = 'reversed' and effect like 'set %' loop
    perform iu_core.fn_ingest_snapshot_undo_table(v_table, 'set');
  end loop;
  update iu_core.ingest_dependent d set undo_outcome = r.outcome, undo_reason = r.reason
    from pg_temp.ingest_restored r where d.upload_id = p_upload_id and r.position = -1000000000 - d.position;
end $$;

-- Restores the rows of one table. Internal.
create or replace function iu_core.fn_ingest_snapshot_undo_table(p_table regclass, p_effect text) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_name text := iu_core.fn_ingest_table_sql(p_table);
  v_columns text;
  v_values text;
  v_sets text;
  v_image text := iu_core.fn_ingest_image_sql(p_table, 'r.before', 'r.exact');
  v_decided bigint;
  v_done bigint;
  v_reason text := 'a trigger left rows out';
begin
  select count(*) into v_decided from pg_temp.ingest_restored where target = p_table and outcome = 'reversed' and starts_with(effect, p_effect);
  -- Only what the image holds: a column that was added since keeps its default.
  select string_agg(quote_ident(a.attname), ', ' order by a.attnum),
         string_agg(iu_core.fn_ingest_image_value_sql(a, 'b', 'r.exact'), ', ' order by a.attnum),
         string_agg(format('%I = %s', a.attname, iu_core.fn_ingest_image_value_sql(a, 'b', 'r.exact')), ', ' order by a.attnum) filter (where a.attidentity <> 'a')
    into v_columns, v_values, v_sets
    from pg_attribute a
   where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     and a.attname::text in (select jsonb_object_keys(before) from (select before from pg_temp.ingest_restored where target = p_table limit 1) r);
  begin
    if p_effect = 'delete' then
      execute format($sql$
        insert into %1$s (%2$s) overriding system value
        select %3$s from pg_temp.ingest_restored r, %4$s b
         where r.target = $1 and r.outcome = 'reversed' and r.effect = 'delete' order by r.position
      $sql$, v_name, v_columns, v_values, v_image) using p_table;
    else
      execute format($sql$
        update %1$s t set %2$s
          from pg_temp.ingest_restored r, %4$s b, jsonb_populate_record(null::%1$s, r.after_key) k
         where r.target = $1 and r.outcome = 'reversed' and r.effect like 'set %%' and %3$s
      $sql$, v_name, v_sets,
         (select string_agg(format('t.%1$I = k.%1$I', c), ' and ')
            from jsonb_object_keys((select after_key from pg_temp.ingest_restored where target = p_table and effect like 'set %' limit 1)) c), v_image) using p_table;
    end if;
    get diagnostics v_done = row_count;
    if v_done = v_decided then
      return;
    end if;
  exception when integrity_constraint_violation or data_exception or raise_exception then
    get stacked diagnostics v_reason = message_text;
  end;
  raise exception using
    errcode = 'SD611',
    message = format('The table %s rejected the undo: %s', v_name, v_reason),
    detail = json_build_object('target', v_name, 'line', null, 'reason', v_reason)::text;
end $$;
