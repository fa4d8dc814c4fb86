-- Deletes staged rows past their retention, in batches, for up to a minute, as fn_ingest_cleanup_rows says. Called by hand it is
-- one transaction; the job calls the batches itself and commits after each.
create or replace function public.cleanup_staging_rows()
returns table (promoted_deleted integer, invalid_deleted integer, orphan_deleted integer)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_batch constant integer := 10000;
  v_until constant timestamptz := clock_timestamp() + interval '60 seconds';
  v_deleted record;
begin
  promoted_deleted := 0;
  invalid_deleted := 0;
  orphan_deleted := 0;
  loop
    select * into v_deleted from iu_core.fn_ingest_cleanup_rows();
    promoted_deleted := promoted_deleted + v_deleted.promoted_deleted;
    invalid_deleted := invalid_deleted + v_deleted.invalid_deleted;
    orphan_deleted := orphan_deleted + v_deleted.orphan_deleted;
    exit when v_deleted.promoted_deleted + v_deleted.invalid_deleted + v_deleted.orphan_deleted < v_batch or clock_timestamp() > v_until;
  end loop;
  return next;
end $$;

grant execute on function public.cleanup_staging_rows() to service_role;
