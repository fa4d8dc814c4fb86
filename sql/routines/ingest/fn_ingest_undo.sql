-- Takes a promotion back in one transaction: rows that are as we left them are restored or deleted, the others are kept
-- and said. With a digest only if it is still what was seen in the plan of the undo.
create or replace function iu_core.fn_ingest_undo(p_upload_id uuid, p_digest text default null, p_undone_by text default null)
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
  v_promotion iu_core.ingest_promotion;
  v_actor record;
  v_run uuid;
  v_summary record;
  v_type record;
  v_settings jsonb;
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'review');
  perform iu_core.fn_gate_require('iu_core.staging_writes_enabled');
  v_actor := iu_core.fn_actor_for(p_undone_by);
  u := iu_core.fn_ingest_lock(p_upload_id, array['promoted'], 'undone');
  v_promotion := iu_core.fn_ingest_undoable(p_upload_id);
  perform pg_advisory_xact_lock(hashtextextended(format('stagedoor.ingest.promote.%s.%s', u.dataset, u.client_id), 0));
  v_settings := iu_core.fn_ingest_write_as_always();
  perform iu_core.fn_ingest_undo_decide(v_promotion, true);
  perform iu_core.fn_ingest_write_as_always(v_settings);
  select * into v_summary from iu_core.fn_ingest_undo_summary(p_upload_id);
  if p_digest is not null and p_digest <> v_summary.digest then
    raise exception using
      errcode = 'SD606',
      message = 'This is not the undo that you saw: rows have changed since',
      detail = json_build_object('upload', p_upload_id, 'reason', 'rows have changed since you looked at the undo')::text;
  end if;
  v_run := iu_core.fn_command_run_start('ingest.undo', v_summary.digest, u.workspace_id, p_undone_by);
  perform set_config('search_path', 'pg_catalog, public, pg_temp', true);
  for v_type in select * from iu_core.fn_ingest_undo_types(v_promotion) where target is not null loop
    perform iu_core.fn_ingest_undo_type(p_upload_id, v_type);
  end loop;
  set constraints all immediate;
  update iu_core.ingest_ledger l set undo_outcome = d.outcome, undo_reason = d.reason
    from pg_temp.ingest_undo d
   where l.upload_id = p_upload_id and l.type_order = d.type_order and l.row_number = d.row_number;
  update iu_core.ingest_promotion
     set undone_by = v_actor.actor, undone_at = clock_timestamp(), undo_run_id = v_run, undo_totals = v_summary.totals
   where upload_id = p_upload_id returning * into v_promotion;
  update iu_core.ingest_upload set status = 'undone', ended_at = clock_timestamp() where upload_id = p_upload_id;
  perform iu_core.fn_ingest_cursor_back(p_upload_id);
  -- Staged rows whose row was taken back have none there any more. What stays in production is what the upload still counts.
  update public.staging_rows s set processing_action = 'skipped', target_internal_id = null, updated_at = now()
    from pg_temp.ingest_undo d
   where s.upload_id = p_upload_id and s.row_type = d.row_type and s.row_number = d.row_number and d.outcome = 'reversed';
  perform iu_core.fn_ingest_tell_uploads_table(p_upload_id, 'undone',
    (select count(*) from pg_temp.ingest_undo where outcome <> 'reversed'));
  perform iu_core.fn_event_emit('staging', 'ingestion_undone',
    p_event_subject_ref => p_upload_id::text, p_canonical_address => 'client:' || u.client_id, p_workspace_id => u.workspace_id, p_actor => p_undone_by,
    p_safe_payload => jsonb_build_object('upload_id', p_upload_id, 'dataset', u.dataset, 'platform', u.platform,
      'client_id', u.client_id, 'totals', v_summary.totals)
      || iu_core.fn_ingest_date_range(u, v_promotion.definition));
  perform iu_core.fn_command_run_finish(v_run);
  return v_promotion;
end $$;

grant execute on function iu_core.fn_ingest_undo(uuid, text, text) to service_role, stagedoor_reviewer;
