-- Tells the review targets of a record that waits for approval, or of an upload whose plan does: by references only. Each
-- target once for a record, whichever event led here. A record that was decided in the meantime is not told of.
create or replace function iu_core.fn_notify_reviewers(p_ref uuid) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  r iu_core.iu_staging_record;
  v_upload uuid;
begin
  select * into r from iu_core.iu_staging_record
   where staging_record_id in (p_ref, (select p.review_record_id from iu_core.ingest_plan p where p.upload_id = p_ref));
  if not found then
    return jsonb_build_object('skipped', 'there is no such record any more');
  elsif not r.approval_required or r.lifecycle_status <> 'pending' or r.expires_at <= clock_timestamp() then
    return jsonb_build_object('skipped', 'it waits for no approval');
  end if;
  -- Metadata is whatever its owner wrote: an upload counts only if it knows the record.
  if r.metadata ->> 'upload_id' ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
    select p.upload_id into v_upload from iu_core.ingest_plan p
     where p.upload_id = (r.metadata ->> 'upload_id')::uuid and p.review_record_id = r.staging_record_id;
  end if;
  return jsonb_build_object('targets', iu_core.fn_webhook_send(
    'review', r.workspace_id, 'review:' || r.staging_record_id, r.staging_record_id::text,
    jsonb_strip_nulls(jsonb_build_object(
      'type', 'review.waiting', 'staging_record_id', r.staging_record_id, 'staging_kind', r.staging_kind, 'upload_id', v_upload,
      'path', coalesce('/uploads/' || v_upload, '/review')))));
end $$;

grant execute on function iu_core.fn_notify_reviewers(uuid) to dot_executor, service_role;
