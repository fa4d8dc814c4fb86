-- Deletes resolutions past their retention, in batches, for up to a minute, as fn_ingest_cleanup_resolutions says. Called by hand
-- it is one transaction; the job calls the batches itself and commits after each.
create or replace function public.cleanup_staging_id_resolution() returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_until constant timestamptz := clock_timestamp() + interval '60 seconds';
  v_deleted integer;
  v_all integer := 0;
begin
  loop
    v_deleted := iu_core.fn_ingest_cleanup_resolutions();
    v_all := v_all + v_deleted;
    exit when v_deleted < 10000 or clock_timestamp() > v_until;
  end loop;
  return v_all;
end $$;

grant execute on function public.cleanup_staging_id_resolution() to service_role;
