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
      from (select x.row_number, x.normalized_payload, x.validation_errors, null::text as planned from iu_core.v_ingest_staged_row x
             where x.upload_id = $2 and x.row_type = $3 and x.validation_status in ('invalid', 'skipped')
               and (x.validation_status <> 'valid' or x.validation_warnings <> '[]')
               and not (x.validation_status = 'skipped'
                        and iu_core.fn_ingest_left_out_reason(x.validation_warnings) = any (iu_core.fn_ingest_totals_rules()))
            union all
            -- Lines that this plan refuses.
            select p.row_number, '{}', '[]', p.reason from iu_core.ingest_plan_row p join iu_core.ingest_staged_row x on x.id = p.staging_row_id
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
