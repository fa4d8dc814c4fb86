-- One batch of resolutions past their 7 days, but never before the last row of their upload. Returns how many; fewer than 10,000:
-- nothing is left that is due. The job commits after each.
create or replace function iu_core.fn_ingest_cleanup_resolutions() returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_deleted integer;
begin
  with due as (
    select r.id from public.staging_id_resolution r
     where r.created_at < now() - interval '7 days'
       and not exists (select from public.staging_rows s where s.upload_id = r.upload_id)
     limit 10000 for update of r skip locked
  )
  delete from public.staging_id_resolution r using due where r.id = due.id;
  get diagnostics v_deleted = row_count;
  return v_deleted;
end $$;

grant execute on function iu_core.fn_ingest_cleanup_resolutions() to service_role;
