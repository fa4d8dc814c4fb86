-- Deletes resolutions after 7 days, but never before the last row of their upload, in batches, for up to a minute.
create or replace function public.cleanup_staging_id_resolution() returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_batch constant integer := 10000;
  v_until constant timestamptz := clock_timestamp() + interval '60 seconds';
  v_deleted integer;
  v_all integer := 0;
begin
  loop
    with due as (
      select r.id from public.staging_id_resolution r
       where r.created_at < now() - interval '7 days'
         and not exists (select from public.staging_rows s where s.upload_id = r.upload_id)
       limit v_batch for update of r skip locked
    )
    delete from public.staging_id_resolution r using due where r.id = due.id;
    get diagnostics v_deleted = row_count;
    v_all := v_all + v_deleted;
    exit when v_deleted < v_batch or clock_timestamp() > v_until;
  end loop;
  return v_all;
end $$;

grant execute on function public.cleanup_staging_id_resolution() to service_role;
