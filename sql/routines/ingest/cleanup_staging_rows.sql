-- Deletes staged rows past their retention, in batches, for up to a minute: what was promoted after 7 days, what was
-- wrong after 30, what came to nothing after 1. Every row is in one bucket: processed, else invalid, else orphaned.
-- Nothing younger than a day goes, and nothing of an upload that still waits for a person.
create or replace function public.cleanup_staging_rows()
returns table (promoted_deleted integer, invalid_deleted integer, orphan_deleted integer)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_batch constant integer := 10000;
  v_until constant timestamptz := clock_timestamp() + interval '60 seconds';
  v_now constant timestamptz := now();
  v_deleted record;
begin
  promoted_deleted := 0;
  invalid_deleted := 0;
  orphan_deleted := 0;
  -- An upload that nobody touched for as long as a review may last has expired.
  perform iu_core.fn_ingest_expire();
  loop
    with due as (
      select s.ctid, s.processed_at is not null as processed, s.validation_status = 'invalid' as invalid
        from public.staging_rows s
        left join iu_core.ingest_upload u on u.upload_id = s.upload_id
       where s.created_at < v_now - interval '24 hours'
         and (u.status is null or u.status not in ('reading', 'staged', 'planned'))
         and case when s.processed_at is not null then s.processed_at < v_now - interval '7 days'
                  when s.validation_status = 'invalid' then s.created_at < v_now - interval '30 days'
                  else s.created_at < v_now - interval '1 day' end
       limit v_batch for update of s skip locked
    ), deleted as (
      delete from public.staging_rows s using due where s.ctid = due.ctid returning due.processed, due.invalid
    )
    select count(*) filter (where processed) as promoted, count(*) filter (where not processed and invalid) as invalid,
           count(*) filter (where not processed and not invalid) as orphan, count(*) as total
      into v_deleted from deleted;
    promoted_deleted := promoted_deleted + v_deleted.promoted;
    invalid_deleted := invalid_deleted + v_deleted.invalid;
    orphan_deleted := orphan_deleted + v_deleted.orphan;
    exit when v_deleted.total < v_batch or clock_timestamp() > v_until;
  end loop;
  return next;
end $$;

grant execute on function public.cleanup_staging_rows() to service_role;
