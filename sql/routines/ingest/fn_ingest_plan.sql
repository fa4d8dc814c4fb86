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
