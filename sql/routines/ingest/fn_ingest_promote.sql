-- Applies an approved plan in one transaction, exactly as it stands: all of it, or (LENIENT) less the rows that a table
-- refuses, if the rest is enough. If production has changed since, nothing is applied.
create or replace function iu_core.fn_ingest_promote(p_upload_id uuid, p_plan_digest text, p_promoted_by text default null)
returns iu_core.ingest_promotion
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set work_mem = '64MB'
set default_statistics_target = 10
-- Temporary tables are dropped if they exist; nobody needs to hear that they do not.
set client_min_messages = 'warning'
as $$
declare
  u iu_core.ingest_upload;
  v_dataset iu_core.ingest_dataset;
  v_plan iu_core.ingest_plan;
  v_approval iu_core.iu_staging_record;
  v_actor record;
  v_run uuid;
  v_type record;
  v_promotion iu_core.ingest_promotion;
  v_written bigint;
  v_at_once boolean;
  v_range jsonb := '{}';
  v_payload jsonb;
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'operate');
  perform iu_core.fn_gate_require('iu_core.staging_writes_enabled');
  perform iu_core.fn_ingest_temp_room();
  v_actor := iu_core.fn_actor_for(p_promoted_by);
  u := iu_core.fn_ingest_lock(p_upload_id, array['planned'], 'promoted');
  v_plan := iu_core.fn_ingest_plan_seen(p_upload_id, p_plan_digest);
  if v_plan.refusal is not null then
    perform iu_core.fn_ingest_refuse_plan(p_upload_id, v_plan.refusal);
  end if;
  -- Its columns may have other sources now than those that were planned, and until we are done nobody gives them others.
  select * into v_dataset from iu_core.ingest_dataset where dataset = u.dataset for share;
  if v_dataset.definition_digest <> v_plan.definition_digest then
    raise exception using
      errcode = 'SD606',
      message = format('The dataset %s was registered anew since the plan was made', u.dataset),
      hint = 'Discard the upload and upload the file again: it is then read by the dataset as it is now.',
      detail = json_build_object('upload', p_upload_id, 'reason', 'its dataset was registered anew since')::text;
  end if;
  v_run := iu_core.fn_command_run_start('ingest.promote', v_plan.digest, u.workspace_id, p_promoted_by);
  if v_plan.approval_required or v_dataset.approval_required then
    v_approval := iu_core.fn_ingest_approval(u, v_plan);
    perform iu_core.fn_iu_staging_consume(v_approval.staging_record_id, v_run);
  end if;
  -- Two uploads for one client would lock each other's rows in different orders.
  perform pg_advisory_xact_lock(hashtextextended(format('stagedoor.ingest.promote.%s.%s', u.dataset, u.client_id), 0));
  -- What triggers on the target tables call by a plain name is found where it always was.
  perform set_config('search_path', 'pg_catalog, public, pg_temp', true);

  insert into iu_core.ingest_promotion (
    upload_id, plan_digest, gate_mode, totals, definition, review_record_id, approved_by, approved_at, promoted_by,
    promoted_via, promoted_at, run_id, undo_until)
  values (u.upload_id, v_plan.digest, v_plan.gate_mode, '{}',
          v_dataset.definition || iu_core.fn_ingest_table_columns(v_dataset.definition), v_approval.staging_record_id,
          v_approval.approved_by, v_approval.approved_at, v_actor.actor, v_actor.via, clock_timestamp(), v_run,
          clock_timestamp() + v_dataset.undo_window);
  -- A constraint that is checked at the end of a transaction must not fail after we said that it worked. At first it is
  -- asked once, after everything, as its table wants it; if it then refuses, all is done again with every row asked at
  -- once, so that the row is known.
  foreach v_at_once in array array[false, true] loop
    begin
      if v_at_once then
        set constraints all immediate;
      end if;
      v_written := 0;
      for v_type in select * from iu_core.fn_ingest_row_types(v_dataset.definition, u.reading -> 'layout') loop
        v_written := v_written + iu_core.fn_ingest_promote_type(u.upload_id, v_type, v_plan.gate_mode);
        if v_type.is_leaf then
          v_range := iu_core.fn_ingest_date_range(u, v_dataset.definition, true);
        end if;
      end loop;
      set constraints all immediate;
      for v_type in select * from iu_core.fn_ingest_row_types(v_dataset.definition, u.reading -> 'layout') loop
        perform iu_core.fn_ingest_after_triggers(u.upload_id, v_type);
      end loop;
      exit;
    exception when integrity_constraint_violation or raise_exception then
      if v_at_once then
        raise;
      end if;
    end;
  end loop;

  -- What is wrong was not processed: it keeps its own, longer retention.
  update public.staging_rows s
     set processing_action = 'skipped', processed_at = case when s.validation_status = 'skipped' then now() end, updated_at = now()
   where s.upload_id = u.upload_id and s.validation_status in ('invalid', 'skipped') and s.processing_action = 'pending'
     and (s.validation_status <> 'valid' or s.validation_warnings <> '[]');
  if v_plan.gate_mode = 'LENIENT' and exists (
       select from public.staging_rows s
        where s.upload_id = u.upload_id and s.validation_status = 'invalid' and s.processing_action = 'failed'
          and (s.validation_status <> 'valid' or s.validation_warnings <> '[]')) then
    perform iu_core.fn_ingest_recount(u.upload_id, u.reading -> 'layout' ->> 'leaf', u.line_count);
  end if;
  update iu_core.ingest_promotion
     -- LENIENT may have left out rows that were planned.
     set totals = case v_plan.gate_mode when 'LENIENT' then iu_core.fn_ingest_plan_totals(u.upload_id) else v_plan.totals end,
         control = case v_plan.gate_mode when 'LENIENT' then iu_core.fn_ingest_control_promoted(v_plan, v_dataset.definition,
             iu_core.fn_ingest_type_order(v_dataset.definition, u.reading -> 'layout' ->> 'leaf')::smallint) else v_plan.control end
   where upload_id = u.upload_id returning * into v_promotion;
  -- The threshold is one of what is written: tables may have refused what the plan took for valid.
  if v_plan.gate_mode = 'LENIENT' and v_promotion.totals <> v_plan.totals then
    perform iu_core.fn_ingest_refuse_below_threshold(u, v_plan, v_promotion);
  end if;
  update iu_core.ingest_upload set status = 'promoted' where upload_id = u.upload_id;
  perform iu_core.fn_ingest_tell_uploads_table(u.upload_id, 'completed', v_written);
  perform iu_core.fn_ingest_cursor_move(u);
  v_payload := jsonb_build_object('upload_id', u.upload_id, 'dataset', u.dataset, 'platform', u.platform,
    'client_id', u.client_id, 'rows', v_written, 'totals', v_promotion.totals) || v_range;
  -- Many measures in many currencies are too long for an event; then they are read from the upload.
  if length((v_payload || jsonb_build_object('control', v_promotion.control))::text) <= 8192 then
    v_payload := v_payload || jsonb_build_object('control', v_promotion.control);
  end if;
  perform iu_core.fn_event_emit('staging', 'ingestion_complete',
    p_event_subject_ref => u.upload_id::text, p_canonical_address => 'client:' || u.client_id, p_workspace_id => u.workspace_id, p_actor => p_promoted_by,
    p_safe_payload => v_payload);
  perform iu_core.fn_command_run_finish(v_run);
  return v_promotion;
end $$;

grant execute on function iu_core.fn_ingest_promote(uuid, text, text)
  to service_role, dot_executor, authenticated, stagedoor_reviewer;
