-- The plan of an upload: what it would change, row by row. plan-rows.sql computes the rows, plan-images.sql reads them back, and stale-rows.sql
-- compares them with production.

-- Computes what an upload would change, row by row, as a table that promotion applies. Production is neither written nor
-- locked. Planning again deletes the earlier plan and withdraws its review. Where production has moved on since that plan, and the file would
-- take it back, it asks first (conflicts.sql): p_on_conflict says whose values count (keep_theirs, use_mine), p_conflicts_seen for which
-- question (the digest that came with it).
create or replace function iu_core.fn_ingest_plan(
  p_upload_id uuid,
  p_gate_mode text default 'STRICT',
  p_threshold numeric default 0.9,
  p_planned_by text default null,
  p_repeated_keys text default null,
  p_on_conflict text default null,
  p_conflicts_seen text default null
) returns iu_core.ingest_plan
language plpgsql security definer
set search_path = pg_catalog, pg_temp
-- Compiling its statements takes ten times as long as they take: 223 lines were planned in 10 s instead of 0.3.
set jit = off
set work_mem = '64MB'
set default_statistics_target = 10
-- Temporary tables are dropped if they exist; no notice is needed if they do not.
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
  v_nullable text[];
  v_check_casts boolean;
  v_plan iu_core.ingest_plan;
  v_totals jsonb;
  v_parts jsonb;
  v_control jsonb;
  v_notes jsonb;
  v_snapshot jsonb;
  v_own_totals jsonb;
  v_at timestamptz;
  v_steps jsonb := '[]';
  v_inner jsonb;
  v_looked constant pg_snapshot := pg_current_snapshot();
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'stage');
  perform iu_core.fn_gate_require('iu_core.staging_writes_enabled');
  perform iu_core.fn_ingest_raise_temp_buffers();
  v_actor := iu_core.fn_actor_for(p_planned_by);
  if p_gate_mode is null or p_gate_mode not in ('STRICT', 'LENIENT') then
    raise exception using errcode = 'SD001', message = format('The mode %L is neither STRICT nor LENIENT', p_gate_mode);
  end if;
  if p_threshold is null or p_threshold not between 0 and 1 then
    raise exception using errcode = 'SD001', message = 'The threshold is a share of valid lines from 0 to 1';
  end if;
  if p_on_conflict not in ('keep_theirs', 'use_mine', 'list') then
    raise exception using errcode = 'SD001', message = format('Whose values count is keep_theirs or use_mine, not %L', p_on_conflict);
  end if;
  if p_on_conflict = 'use_mine' and iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'stage') = 'agent' then
    raise exception using
      errcode = 'SD202',
      message = 'An agent cannot take back what somebody changed: a person says that the values of the file count',
      detail = json_build_object('actor', iu_core.fn_actor(), 'role', 'agent', 'right', 'stage')::text;
  end if;
  perform iu_core.fn_ingest_repeated_keys_check(p_repeated_keys);
  u := iu_core.fn_ingest_lock(p_upload_id, array['staged', 'planned'], 'planned');
  perform iu_core.fn_proposal_refuse_replan(u);
  v_dataset := iu_core.fn_ingest_require_same_dataset(u);
  perform iu_core.fn_ingest_require_tables(v_dataset);
  perform iu_core.fn_ingest_base_load(u, v_dataset.definition);
  perform iu_core.fn_ingest_plan_delete(u);
  v_at := clock_timestamp();
  if p_repeated_keys <> iu_core.fn_ingest_repeated_keys(u, v_dataset.definition) then
    -- Choosing which lines count is a change of the upload, so this person cannot approve it.
    update iu_core.ingest_upload
       set repeated_keys = p_repeated_keys,
           changed_by = array(select distinct unnest(changed_by || array_remove(array[v_actor.actor, v_actor.via], null)))
     where upload_id = p_upload_id returning * into u;
    perform iu_core.fn_ingest_check_across_lines(u, v_dataset.definition);
    perform iu_core.fn_ingest_recount(p_upload_id, u.reading -> 'layout' ->> 'leaf', u.line_count);
    select * into u from iu_core.ingest_upload where upload_id = p_upload_id;
  elsif iu_core.fn_ingest_check_lookups(u, v_dataset.definition) > 0 then
    perform iu_core.fn_ingest_recount(p_upload_id, u.reading -> 'layout' ->> 'leaf', u.line_count);
    select * into u from iu_core.ingest_upload where upload_id = p_upload_id;
  end if;

  v_steps := v_steps || iu_core.fn_ingest_step('lookups', v_at);

  -- A value that its column cannot hold fails the statement of all lines; then it is worked out which lines they are.
  foreach v_check_casts in array array[false, true] loop
    begin
      v_inner := '[]';
      v_at := clock_timestamp();
      v_nullable := iu_core.fn_ingest_plan_lines(u, v_dataset.definition, v_check_casts);
      v_inner := v_inner || iu_core.fn_ingest_step('keys_and_types', v_at);
      -- Its counts may have changed: a key that repeats was found now.
      select * into u from iu_core.ingest_upload where upload_id = p_upload_id;
      loop
        v_inner := v_inner || iu_core.fn_ingest_plan_row_types(u, v_dataset, v_nullable);
        exit when not iu_core.fn_ingest_plan_without_refused(u, v_dataset.definition);
      end loop;
      perform iu_core.fn_ingest_plan_refuse_added(u, v_dataset.definition);
      exit;
    exception when data_exception or check_violation or not_null_violation then
      if v_check_casts then
        raise;
      end if;
    end;
  end loop;
  v_steps := v_steps || v_inner;
  v_at := clock_timestamp();
  perform iu_core.fn_ingest_conflicts_find(u, v_dataset.definition, p_on_conflict);
  v_steps := v_steps || iu_core.fn_ingest_step('conflicts', v_at);
  v_notes := iu_core.fn_ingest_plan_notes(v_dataset.definition, u.reading -> 'layout');
  perform iu_core.fn_ingest_plan_left_out(u, v_dataset.definition, p_gate_mode);
  v_at := clock_timestamp();
  v_snapshot := iu_core.fn_ingest_snapshot_plan(u, v_dataset.definition, p_gate_mode, p_on_conflict);
  if v_snapshot is not null then
    v_steps := v_steps || iu_core.fn_ingest_step('deletes', v_at);
  end if;
  v_notes := nullif(coalesce(v_notes, '[]')
    || iu_core.fn_ingest_conflicts_settle(u, v_dataset.definition, p_on_conflict, p_conflicts_seen, v_actor.actor, v_actor.via), '[]');
  v_at := clock_timestamp();
  v_totals := iu_core.fn_ingest_plan_totals(u.upload_id);
  v_parts := iu_core.fn_ingest_control_parts(u, v_dataset.definition, true,
    (v_totals -> (u.reading -> 'layout' ->> 'leaf')) - 'insert' - 'skipped' = '{}' and not exists (select from pg_temp.ingest_conflict_cell));
  v_parts := v_parts || iu_core.fn_ingest_conflict_control_parts(u, v_dataset.definition);
  v_control := iu_core.fn_ingest_control_sum(v_parts, v_dataset.definition, u.reading -> 'layout', true);
  v_steps := v_steps || iu_core.fn_ingest_step('totals', v_at);
  v_at := clock_timestamp();
  v_own_totals := iu_core.fn_ingest_own_totals(u, v_dataset.definition);
  if v_own_totals is not null then
    v_steps := v_steps || iu_core.fn_ingest_step('own_totals', v_at);
  end if;
  -- A line that the plan refuses is invalid: it is listed, exported and kept like one that the reader refused.
  perform iu_core.fn_ingest_plan_problems(u);
  select * into u from iu_core.ingest_upload where upload_id = p_upload_id;

  v_at := clock_timestamp();
  insert into iu_core.ingest_plan (
    upload_id, digest, gate_mode, threshold, totals, control, control_parts, repeated_keys, notes, inserted_columns, written, refusal, definition_digest, approval_required, planned_by, took_ms, snapshot,
    row_blocks, row_digests)
  select u.upload_id,
         iu_core.fn_ingest_plan_digest(u.upload_id, p_gate_mode, p_threshold,
                                       jsonb_build_object('control', v_control, 'repeated_keys', k.repeated_keys, 'notes', v_notes)
                                       || case when v_snapshot is null then '{}' else jsonb_build_object('snapshot', v_snapshot) end
                                       || case when v_own_totals is null then '{}' else jsonb_build_object('own_totals', v_own_totals) end,
                                       r.blocks, r.digests),
         p_gate_mode, p_threshold, v_totals, v_control, coalesce(v_parts, '[]'), k.repeated_keys, coalesce(v_notes, '[]'),
         (select coalesce(jsonb_object_agg(r.row_type, c.columns) filter (where c.columns is not null), '{}')
            from iu_core.fn_ingest_row_types(v_dataset.definition, u.reading -> 'layout') as r,
                 lateral (select iu_core.fn_ingest_plan_texts(r.written)) as c (columns)),
         iu_core.fn_ingest_written_columns(v_dataset.definition, u.reading -> 'layout'),
         coalesce(iu_core.fn_ingest_plan_refusal_reason(u, p_gate_mode, p_threshold, v_totals, v_control), v_snapshot ->> 'refusal',
                  iu_core.fn_ingest_own_totals_refusal(v_own_totals, v_dataset.definition)), v_dataset.definition_digest, v_dataset.approval_required, v_actor.actor,
         extract(epoch from clock_timestamp() - v_started) * 1000, v_snapshot - 'refusal', r.blocks, r.digests
    from iu_core.fn_ingest_repeated_keys(u, v_dataset.definition) as k (repeated_keys), iu_core.fn_ingest_plan_row_digests(u.upload_id) as r
  returning * into v_plan;
  v_steps := v_steps || iu_core.fn_ingest_step('digest', v_at);
  v_at := clock_timestamp();
  v_plan := iu_core.fn_ingest_plan_assertions(u, v_dataset.definition, v_plan);
  if exists (select from jsonb_array_elements(v_plan.notes) n where n ->> 'rule' like 'assertion.%') then
    v_steps := v_steps || iu_core.fn_ingest_step('assertions', v_at);
    v_at := clock_timestamp();
  end if;
  perform iu_core.fn_review_plan(u, v_plan);
  v_steps := v_steps || iu_core.fn_ingest_step('policy', v_at);
  update iu_core.ingest_plan set steps = iu_core.fn_ingest_steps_sum(v_steps) where upload_id = u.upload_id returning * into v_plan;
  perform iu_core.fn_ingest_store_lookups(u.upload_id);
  perform iu_core.fn_ingest_plan_store_hashes(u, v_dataset.definition);
  perform iu_core.fn_ingest_base_delete(u.upload_id);
  perform iu_core.fn_ingest_mark_seen(u.upload_id, v_looked, 0);
  update iu_core.ingest_upload set status = 'planned', error = null, control = v_control, own_totals = v_own_totals where upload_id = u.upload_id;
  perform iu_core.fn_event_emit('staging', 'ingestion_planned',
    p_event_subject_ref => p_upload_id::text, p_workspace_id => u.workspace_id, p_actor => p_planned_by,
    p_safe_payload => jsonb_build_object('upload_id', p_upload_id, 'dataset', u.dataset, 'plan_digest', v_plan.digest,
                                         'totals', v_plan.totals));
  return v_plan;
end $$;

grant execute on function iu_core.fn_ingest_plan(uuid, text, numeric, text, text, text, text)
  to service_role, dot_executor, authenticated, stagedoor_agent, stagedoor_reviewer;

-- A step of a plan or a check with the time since p_since. Internal.
create or replace function iu_core.fn_ingest_step(p_step text, p_since timestamptz) returns jsonb
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object('step', p_step, 'ms', round(extract(epoch from clock_timestamp() - p_since) * 1000, 1))
$$;

-- Steps of the same name as one, in the order in which they first ran. Internal.
create or replace function iu_core.fn_ingest_steps_sum(p_steps jsonb) returns jsonb
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_agg(jsonb_build_object('step', s.step, 'ms', s.ms) order by s.place), '[]')
    from (select x.value ->> 'step' as step, sum((x.value ->> 'ms')::numeric) as ms, min(x.ordinality) as place
            from jsonb_array_elements(p_steps) with ordinality as x group by 1) s
$$;

-- Plans the rows of all row types from the lines in `ingest_line`, parents first. Returns its steps with their times. Internal.
create or replace function iu_core.fn_ingest_plan_row_types(p_upload iu_core.ingest_upload, p_dataset iu_core.ingest_dataset, p_nullable text[]) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_definition jsonb := p_dataset.definition;
  v_type record;
  v_at timestamptz;
  v_steps jsonb := '[]';
begin
  perform iu_core.fn_ingest_plan_entity_table(v_definition, p_upload.reading -> 'layout');
  for v_type in select * from iu_core.fn_ingest_row_types(v_definition, p_upload.reading -> 'layout') loop
    if v_type.target is null then
      raise exception using errcode = 'SD605',
        message = format('The table %s no longer exists', v_type.target_name),
        detail = json_build_object('dataset', p_upload.dataset, 'reason', format('the table %s no longer exists', v_type.target_name))::text;
    end if;
    if p_dataset.workspace_id is null and not iu_core.fn_ingest_key_is_tenant_scoped(v_definition, v_type.spec) then
      raise exception using errcode = 'SD605',
        message = format('The key of %s no longer identifies the workspace of a row', v_type.target_name),
        detail = json_build_object('dataset', p_upload.dataset, 'reason',
          format('the key of %s no longer identifies the workspace of a row: the column of a parent can be NULL now', v_type.target_name))::text;
    end if;
    v_at := clock_timestamp();
    if v_type.is_entity then
      perform iu_core.fn_ingest_plan_entities(p_upload, v_type, p_nullable);
      perform iu_core.fn_ingest_plan_mode_entities(p_upload, v_type);
      v_steps := v_steps || iu_core.fn_ingest_step('parents', v_at);
      v_at := clock_timestamp();
    end if;
    perform iu_core.fn_ingest_plan_own_references(p_upload, v_definition, v_type, p_nullable);
    perform iu_core.fn_ingest_plan_type(p_upload, v_type, p_nullable);
    v_steps := v_steps || iu_core.fn_ingest_step('compare', v_at);
    v_at := clock_timestamp();
    perform iu_core.fn_ingest_plan_references(p_upload, v_definition, v_type);
    v_steps := v_steps || iu_core.fn_ingest_step('references', v_at);
  end loop;
  return v_steps;
end $$;

-- Takes refused lines out of `ingest_line`, and all rows out of the plan that are not refused, if a row of the plan may depend on
-- these lines: a parent that no other line has, an attribute of a parent, a row to which others refer. Returns whether the rest is
-- to be planned again. Refused rows stay in the plan. Internal.
create or replace function iu_core.fn_ingest_plan_without_refused(p_upload iu_core.ingest_upload, p_definition jsonb) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_layout jsonb := p_upload.reading -> 'layout';
  v_leaf text := v_layout ->> 'leaf';
  v_order smallint := iu_core.fn_ingest_type_order(p_definition, v_leaf);
  v_lines integer[];
  v_parents text;
  v_depends boolean;
begin
  v_lines := array(
    select p.row_number from iu_core.ingest_plan_row p
     where p.upload_id = p_upload.upload_id and p.type_order = v_order and p.action = 'refused'
       and p.row_number in (select l.row_number from pg_temp.ingest_line l));
  if v_lines = '{}' then
    return false;
  end if;
  v_depends := exists (select from iu_core.fn_ingest_lookup_fields(p_definition, v_layout) f where f.own_type is not null)
            or exists (select from iu_core.fn_ingest_references(p_definition, v_layout) r where r.has_own and not r.is_sure);
  if not v_depends then
    -- A parent that is refused itself stays in the plan.
    select string_agg(format('e.row_type = %L and e.external_id = l.%I', r.row_type, iu_core.fn_ingest_line_column(v_layout, '$' || r.row_type)), ' or ')
      into v_parents from iu_core.fn_ingest_row_types(p_definition, v_layout) r where r.is_entity and not r.is_leaf;
    if v_parents is null then
      return false;
    end if;
    execute format($sql$
      select exists (select from (select * from pg_temp.ingest_line where row_number = any ($1)) l
                      join pg_temp.ingest_entity e on (%s) and not e.ambiguous)
    $sql$, v_parents) into v_depends using v_lines;
    if not v_depends then
      return false;
    end if;
  end if;
  delete from pg_temp.ingest_line l using (select unnest(v_lines) as line) r where l.row_number = r.line;
  delete from iu_core.ingest_plan_row where upload_id = p_upload.upload_id and action in ('insert', 'update', 'unchanged');
  delete from public.staging_id_resolution
   where upload_id = p_upload.upload_id and (resolution_status <> 'unresolved' or entity_type = v_leaf);
  delete from iu_core.ingest_staged_row
   where upload_id = p_upload.upload_id and validation_status = 'valid'
     and row_type = any (array(select t from jsonb_array_elements_text(v_layout -> 'row_types') t where t <> v_leaf));
  return true;
end $$;

-- Refuses lines that were added to a refused one: their figures are written nowhere. Internal.
create or replace function iu_core.fn_ingest_plan_refuse_added(p_upload iu_core.ingest_upload, p_definition jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_order smallint := iu_core.fn_ingest_type_order(p_definition, p_upload.reading -> 'layout' ->> 'leaf');
begin
  if iu_core.fn_ingest_repeated_keys(p_upload, p_definition) <> 'sum' or to_regclass('pg_temp.ingest_repeated') is null then
    return;
  end if;
  update iu_core.ingest_plan_row p
     set action = 'refused', reason = a.reason, row_hash = sha256(convert_to(concat_ws('|', p.row_number, 'refused', a.reason), 'UTF8'))
    from (select unnest(g.lines[2:]) as line, format('added to line %s, which is refused: %s', f.row_number, f.reason) as reason
            from iu_core.ingest_plan_row f join pg_temp.ingest_repeated g on g.lines[1] = f.row_number
           where f.upload_id = p_upload.upload_id and f.type_order = v_order and f.action = 'refused') a
   where p.upload_id = p_upload.upload_id and p.type_order = v_order and p.row_number = a.line and p.action = 'skipped';
end $$;

-- The temporary table of the entities of a plan. Internal.
create or replace function iu_core.fn_ingest_plan_entity_table(p_definition jsonb, p_layout jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  drop table if exists pg_temp.ingest_entity;
  create temporary table ingest_entity (
    row_type text, external_id text, row_number integer, staging_row_id uuid, new_id uuid, internal_id uuid,
    parent_external_id text, parent_id uuid, existing boolean default false, ambiguous boolean default false,
    conflicting text[] default '{}', filled_from integer[], reason text) on commit drop;
  -- Ids of several types have only their text in common.
  if exists (select from iu_core.fn_ingest_row_types(p_definition, p_layout) r where r.spec -> 'ref' ->> 'type' <> 'uuid') then
    alter table pg_temp.ingest_entity alter column internal_id type text, alter column parent_id type text;
  end if;
end $$;

-- Attributes on which lines of one entity differ, by row type, from `ingest_entity`, and foreign keys that cannot be checked; NULL
-- if there are none. Internal.
create or replace function iu_core.fn_ingest_plan_notes(p_definition jsonb, p_layout jsonb) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return nullif(coalesce((
  select jsonb_agg(jsonb_build_object('rule', 'entity.conflicting', 'line', n.line, 'count', n.entities, 'message',
           format('Lines differ about the %s of %s %s; the first value that is not empty is taken.', n.fields, n.entities,
                  replace(n.row_type, '_', ' ') || case n.entities when 1 then '' else 's' end)) order by n.line)
    from (select e.row_type, count(distinct e.external_id) as entities, min(e.row_number) as line,
                 string_agg(distinct coalesce(p_definition -> 'fields' -> c ->> 'title', replace(c, '_', ' ')), ', ') as fields
            from pg_temp.ingest_entity e, unnest(e.conflicting) as c group by 1) n), '[]')
    || coalesce(iu_core.fn_ingest_reference_notes(p_definition, p_layout), '[]'), '[]');
end $$;

-- Lines that were left out or found wrong are part of the plan, too. p_lines: only these. Internal.
create or replace function iu_core.fn_ingest_plan_left_out(
  p_upload iu_core.ingest_upload, p_definition jsonb, p_gate_mode text, p_lines integer[] default null
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into iu_core.ingest_plan_row (upload_id, type_order, row_type, row_number, staging_row_id, action, reason, row_hash)
  select p_upload.upload_id, iu_core.fn_ingest_type_order(p_definition, s.row_type), s.row_type, s.row_number, s.id, a.action, a.reason,
         sha256(convert_to(concat_ws('|', s.row_number, a.action, a.reason), 'UTF8'))
    from (select * from iu_core.ingest_staged_row
           where upload_id = p_upload.upload_id and (validation_status <> 'valid' or validation_warnings <> '[]')
             and (p_lines is null or row_number = any (p_lines))
          -- Its own index finds them; without a fence the planner takes the one over all lines.
          offset 0) s,
         lateral (select case when s.validation_status = 'skipped' or p_gate_mode = 'LENIENT' then 'skipped' else 'refused' end,
                         coalesce(s.validation_errors -> 0 ->> 'message',
                                  (select w ->> 'message' from jsonb_array_elements(s.validation_warnings) w
                                    where w ->> 'rule' = iu_core.fn_ingest_left_out_reason(s.validation_warnings) limit 1))) as a (action, reason)
   where s.row_type = p_upload.reading -> 'layout' ->> 'leaf' and s.validation_status in ('invalid', 'skipped');
end $$;

-- Deletes a plan and what was derived for it: entities, resolutions, an open review. An approved review stays approved until it
-- expires; it names a plan that no longer exists, so it cannot be used. Internal.
create or replace function iu_core.fn_ingest_plan_delete(p_upload iu_core.ingest_upload) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_review uuid;
begin
  delete from iu_core.ingest_plan_row where upload_id = p_upload.upload_id;
  delete from public.staging_id_resolution where upload_id = p_upload.upload_id;
  delete from iu_core.ingest_staged_row
   where upload_id = p_upload.upload_id
     -- Named one by one, because only then the index finds them without passing over every line.
     and row_type = any (array(select t from jsonb_array_elements_text(p_upload.reading -> 'layout' -> 'row_types') t
                                where t <> p_upload.reading -> 'layout' ->> 'leaf'));
  -- Errors that a plan found belong to that plan only.
  update iu_core.ingest_staged_row s
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
  perform iu_core.fn_ingest_plan_withdraw_review(v_review);
end $$;

-- Rejects the open review of a plan that was replaced. Internal.
create or replace function iu_core.fn_ingest_plan_withdraw_review(p_review uuid) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform from iu_core.iu_staging_record
    where staging_record_id = p_review and lifecycle_status = 'pending' and expires_at > clock_timestamp() for update;
  if found then
    perform iu_core.fn_iu_staging_set_rejected(p_review, iu_core.fn_actor(), 'the plan was replaced');
  end if;
end $$;

-- The number of planned rows: row type → action → rows. Internal.
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

-- Stores the error on each line that a plan refuses (a value that its column cannot hold, an ambiguous parent), like errors of
-- the reader. Its scope is the plan, so the next plan checks the line again. Internal.
create or replace function iu_core.fn_ingest_plan_problems(p_upload iu_core.ingest_upload) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
-- As in fn_ingest_check_across_lines: nothing is known yet of these rows.
set enable_nestloop = off
as $$
declare
  v_leaf text := p_upload.reading -> 'layout' ->> 'leaf';
begin
  update iu_core.ingest_staged_row s
     set validation_status = 'invalid',
         validation_errors = coalesce(s.validation_errors, '[]') || jsonb_build_object(
           'scope', 'plan', 'line', s.row_number, 'rule', 'plan.refused', 'message', p.reason || '.',
           'suggestion', 'Correct the line, or what it refers to, and plan again.'),
         updated_at = now()
    -- Line by line through the key, and then by place: as a join the planner may look through the whole plan for each line (74 s for 12,000).
    from (select l.place, r.reason
            from (select * from iu_core.ingest_plan_row
                   where upload_id = p_upload.upload_id and row_type = v_leaf and action = 'refused' offset 0) r
           cross join lateral (select x.ctid as place from iu_core.ingest_staged_row x
                                where x.upload_id = p_upload.upload_id and x.row_type = v_leaf and x.row_number = r.row_number
                                  and x.validation_status = 'valid' offset 0) l) p
   where s.ctid = p.place;
  if found then
    perform iu_core.fn_ingest_recount(p_upload.upload_id, v_leaf, p_upload.line_count);
  end if;
end $$;

-- The sha-256 of a plan: every row in order, by the digests of their blocks, the mode of its promotion, and the control totals that
-- the reviewer sees. Internal.
create or replace function iu_core.fn_ingest_plan_digest(
  p_upload_id uuid, p_gate_mode text, p_threshold numeric, p_shown jsonb, p_blocks bigint[], p_digests bytea[]
) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select encode(sha256(convert_to(concat_ws('|', p_upload_id, p_gate_mode, trim_scale(p_threshold), p_shown, p_blocks), 'UTF8')
                       || coalesce((select string_agg(d.digest, '' order by d.place) from unnest(p_digests) with ordinality as d (digest, place)), '')), 'hex')
$$;

-- The rows of a plan in blocks of 1,024 row numbers, and the sha-256 over the hashes of each block's rows. A block is numbered by
-- its type's order and its place. p_changed: only these blocks, without those that have no row any more. Internal.
create or replace function iu_core.fn_ingest_plan_row_digests(p_upload_id uuid, p_changed bigint[] default null)
returns table (blocks bigint[], digests bytea[])
language plpgsql stable
set search_path = pg_catalog, pg_temp
-- In the order of the key by the key's own index: gathered first and then sorted it takes twice as long.
set enable_bitmapscan = off
set enable_seqscan = off
as $$
declare
  v_blocks bigint[] := p_changed;
begin
  if v_blocks is null then
    -- From block to block by the index.
    with recursive b as (
      (select r.type_order, r.row_number >> 10 as place from iu_core.ingest_plan_row r
        where r.upload_id = p_upload_id order by r.type_order, r.row_number limit 1)
      union all
      select n.type_order, n.row_number >> 10
        from b, lateral (select r.type_order, r.row_number from iu_core.ingest_plan_row r
                          where r.upload_id = p_upload_id and (r.type_order, r.row_number) > (b.type_order, (b.place << 10) | 1023)
                          order by r.type_order, r.row_number limit 1) n
    )
    select array_agg(iu_core.fn_ingest_plan_block(b.type_order, b.place << 10)) into v_blocks from b;
  end if;
  return query
    select coalesce(array_agg(x.block order by x.block), '{}'), coalesce(array_agg(x.digest order by x.block), '{}')
      from (select distinct k.block from unnest(v_blocks) as k (block)) k,
           lateral (select ((k.block + 2147483648) >> 32)::smallint) as t (type_order),
           lateral (select ((k.block - (t.type_order::bigint << 32)) << 10)::integer) as f (first_row),
           lateral (select k.block, sha256(string_agg(r.row_hash, '')) as digest
                      from (select p.row_hash from iu_core.ingest_plan_row p
                             where p.upload_id = p_upload_id and p.type_order = t.type_order
                               and p.row_number between f.first_row and f.first_row | 1023 order by p.row_number) r
                    having count(*) > 0) x;
end $$;

-- The block of a plan's row (see fn_ingest_plan_row_digests). Internal.
create or replace function iu_core.fn_ingest_plan_block(p_type_order smallint, p_row_number integer) returns bigint
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select (p_type_order::bigint << 32) + (p_row_number >> 10)
$$;

-- Why a plan cannot be promoted; NULL if it can. STRICT takes all lines or none. LENIENT takes the valid lines if their share
-- reaches the threshold, by number and, if the dataset names an amount, by amount. Lines that a rule left out (totals) do not
-- count. Internal.
create or replace function iu_core.fn_ingest_plan_refusal_reason(
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
  if p_totals - (p_upload.reading -> 'layout' ->> 'leaf') @? '$.*.refused' then
    select count(distinct row_number) into v_refused from iu_core.ingest_plan_row where upload_id = p_upload.upload_id and action = 'refused';
  else
    v_refused := coalesce((p_totals -> (p_upload.reading -> 'layout' ->> 'leaf') ->> 'refused')::bigint, 0);
  end if;
  -- Lines that the plan refuses are among the invalid ones by now.
  v_valid := p_upload.valid_count;
  v_lines := p_upload.valid_count + p_upload.invalid_count;
  if p_upload.run_mode = 'FULL_DRY_RUN' then
    return 'this is a dry run';
  elsif v_valid = 0 then
    return 'no line is valid';
  elsif p_gate_mode = 'STRICT' and (p_upload.invalid_count > 0 or v_refused > 0) then
    return format('%s of %s lines %s invalid', greatest(p_upload.invalid_count, v_refused),
                  v_lines, case greatest(p_upload.invalid_count, v_refused) when 1 then 'is' else 'are' end);
  elsif p_gate_mode = 'LENIENT' and v_valid < p_threshold * v_lines then
    return format('only %s of %s lines are valid, and the threshold is %s %%', v_valid, v_lines,
                  trim_scale(p_threshold * 100));
  end if;
  -- A few wrong lines may hold most of the money.
  if p_gate_mode = 'LENIENT' then
    select c.title, c.currency, c.lost_share into v_lost
      from jsonb_to_recordset(p_control) as c (title text, currency text, lost_share numeric)
     where c.lost_share > 1 - p_threshold order by c.lost_share desc limit 1;
    if found then
      return format('invalid or skipped lines hold %s %% of %s, and the threshold is %s %%', trim_scale(round(v_lost.lost_share * 100, 2)),
                    concat_ws(' in ', v_lost.title, v_lost.currency), trim_scale(p_threshold * 100));
    end if;
  end if;
  return null;
end $$;

-- Keeps with a staged upload why it could not be planned, until it is planned: {"code", "message", "hint"}. fn_ingest_complete_reading
-- left the rules over all lines to the plan; they run here, so that the upload shows its control totals and repeated keys.
-- If they fail as well, the reason is kept all the same. For the back end.
create or replace function iu_core.fn_ingest_plan_failed(p_upload_id uuid, p_error jsonb) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set work_mem = '64MB'
as $$
declare
  u iu_core.ingest_upload;
  v_definition jsonb;
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'stage');
  update iu_core.ingest_upload set error = p_error where upload_id = p_upload_id and status = 'staged' returning * into u;
  select d.definition into v_definition from iu_core.ingest_dataset d
   where d.dataset = u.dataset and d.definition_digest = u.reading ->> 'definition_digest';
  -- Control totals exist once the rules have run.
  if v_definition is null or u.control <> '[]' then
    return;
  end if;
  begin
    perform iu_core.fn_ingest_check_across_lines(u, v_definition);
    update iu_core.ingest_upload
       set control = iu_core.fn_ingest_control_totals(u, v_definition, false), own_totals = iu_core.fn_ingest_own_totals(u, v_definition)
     where upload_id = p_upload_id;
    perform iu_core.fn_ingest_recount(p_upload_id, u.reading -> 'layout' ->> 'leaf', u.line_count);
  exception when others then
    raise warning 'The lines of upload % could not be checked: %', p_upload_id, sqlerrm;
  end;
end $$;

grant execute on function iu_core.fn_ingest_plan_failed(uuid, jsonb) to service_role;
