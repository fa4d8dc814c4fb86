-- Hands a plan to a second person: a review package in the staging zone, with the totals, a sample and the plan's digest.
-- Submitted again, it is the same package.
create or replace function iu_core.fn_ingest_submit(p_upload_id uuid, p_plan_digest text, p_submitted_by text default null)
returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  u iu_core.ingest_upload;
  v_plan iu_core.ingest_plan;
  v_record record;
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'stage');
  u := iu_core.fn_ingest_lock(p_upload_id, array['planned'], 'submitted');
  v_plan := iu_core.fn_ingest_plan_seen(p_upload_id, p_plan_digest);
  if v_plan.refusal is not null then
    perform iu_core.fn_ingest_refuse_plan(p_upload_id, v_plan.refusal);
  end if;
  if v_plan.review_record_id is not null and exists (
       select from iu_core.iu_staging_record
        where staging_record_id = v_plan.review_record_id and lifecycle_status in ('pending', 'approved')
          and expires_at > clock_timestamp()) then
    return v_plan.review_record_id;
  end if;
  select * into v_record from iu_core.fn_iu_staging_create(
    'review_package', 'review_bundle',
    format('Promote %s (%s, %s)', u.file_name, u.dataset, u.platform),
    p_new => true, p_parts => array[
      jsonb_build_object('part_name', 'plan', 'payload_kind', 'json', 'payload_json', jsonb_build_object(
        'upload_id', u.upload_id, 'file_name', u.file_name, 'file_hash', u.file_hash, 'dataset', u.dataset,
        'platform', u.platform, 'client_id', u.client_id, 'lines', u.line_count, 'plan_digest', v_plan.digest,
        'gate_mode', v_plan.gate_mode, 'threshold', v_plan.threshold, 'totals', v_plan.totals,
        'control', v_plan.control, 'repeated_keys', v_plan.repeated_keys, 'left_out', u.left_out, 'notes', v_plan.notes)),
      jsonb_build_object('part_name', 'sample', 'payload_kind', 'json',
                         'payload_json', iu_core.fn_ingest_plan_sample(p_upload_id)),
      jsonb_build_object('part_name', 'checklist', 'payload_kind', 'json', 'payload_json', (
        select jsonb_agg(jsonb_build_object('id', id, 'text', text, 'required', true)) from (values
          ('changes', 'I looked at what will change', true),
          ('left_out', 'The lines that are left out may stay out',
           u.invalid_count > 0 or exists (select from iu_core.ingest_plan_row
                                           where upload_id = u.upload_id and action = 'refused')
           -- What sums up others is lost by nobody.
           or u.left_out - array['row.total', 'row.subtotal', 'row.sum'] <> '{}')) as i (id, text, applies)
         where applies))],
    p_workspace_id => u.workspace_id, p_owner_actor => coalesce(p_submitted_by, case when iu_core.fn_caller_is_service() then u.uploaded_by end),
    p_source_ref => 'upload ' || u.upload_id,
    p_metadata => jsonb_build_object('upload_id', u.upload_id, 'plan_digest', v_plan.digest));
  update iu_core.ingest_plan set review_record_id = v_record.staging_record_id where upload_id = p_upload_id;
  perform iu_core.fn_event_emit('staging', 'ingestion_submitted',
    p_event_subject_ref => p_upload_id::text, p_workspace_id => u.workspace_id, p_actor => p_submitted_by,
    p_safe_payload => jsonb_build_object('upload_id', p_upload_id, 'staging_record_id', v_record.staging_record_id,
                                         'plan_digest', v_plan.digest));
  return v_record.staging_record_id;
end $$;

grant execute on function iu_core.fn_ingest_submit(uuid, text, text)
  to service_role, authenticated, stagedoor_agent, stagedoor_reviewer;
