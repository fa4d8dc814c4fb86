-- Uploads that were staged or planned and came to nothing: after a day without a review, or when the review has ended.
-- An upload under review is left alone. Returns how many expired. For maintenance.
create or replace function iu_core.fn_ingest_expire(p_age interval default '1 day') returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  u iu_core.ingest_upload;
  v_count integer := 0;
begin
  for u in
    select * from iu_core.ingest_upload up
     where up.status in ('staged', 'planned')
       -- A repair, a plan and the end of a review are signs of life, too: whoever is told no has a day to mend it.
       and greatest(up.staged_at, (select max(greatest(p.planned_at, r.rejected_at, r.expired_at,
                                                       case when r.lifecycle_status in ('pending', 'approved') then r.expires_at end))
                                     from iu_core.ingest_plan p
                                     left join iu_core.iu_staging_record r on r.staging_record_id = p.review_record_id
                                    where p.upload_id = up.upload_id))
           < clock_timestamp() - greatest(p_age, interval '24 hours')
     order by up.upload_id limit 100 for update skip locked
  loop
    delete from iu_core.ingest_plan_row where upload_id = u.upload_id;
    delete from iu_core.ingest_plan where upload_id = u.upload_id;
    update iu_core.ingest_upload set status = 'expired', ended_at = clock_timestamp() where upload_id = u.upload_id;
    perform iu_core.fn_ingest_tell_uploads_table(u.upload_id, 'failed', null);
    perform iu_core.fn_event_emit('staging', 'ingestion_expired',
      p_event_subject_ref => u.upload_id::text, p_workspace_id => u.workspace_id,
      p_safe_payload => jsonb_build_object('upload_id', u.upload_id, 'dataset', u.dataset, 'platform', u.platform));
    v_count := v_count + 1;
  end loop;
  return v_count;
end $$;

grant execute on function iu_core.fn_ingest_expire(interval) to service_role, dot_executor;
