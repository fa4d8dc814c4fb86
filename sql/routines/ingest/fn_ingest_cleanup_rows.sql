-- One batch of staged rows past their retention: what was promoted after 7 days, what was wrong after 30, what came to nothing
-- after 1. Every row is in one bucket: processed, else invalid, else orphaned. Nothing younger than a day goes, and nothing of
-- an upload that still waits for a person. Fewer than 10,000 in all: nothing is left that is due. The job commits after each.
create or replace function iu_core.fn_ingest_cleanup_rows(out promoted_deleted integer, out invalid_deleted integer, out orphan_deleted integer)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_batch constant integer := 10000;
  v_now constant timestamptz := now();
begin
  -- An upload that nobody touched for as long as a review may last has expired.
  perform iu_core.fn_ingest_expire();
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
  select count(*) filter (where processed), count(*) filter (where not processed and invalid),
         count(*) filter (where not processed and not invalid)
    into promoted_deleted, invalid_deleted, orphan_deleted from deleted;
end $$;

grant execute on function iu_core.fn_ingest_cleanup_rows() to service_role;
