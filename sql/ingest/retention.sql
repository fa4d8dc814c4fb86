-- Retention of staged rows, resolved ids, plans and images.

-- Deletes staged rows after their retention, in batches (fn_ingest_cleanup_rows), for up to a minute. Called by hand it is one
-- transaction; the job calls the batches itself and commits after each.
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

-- Deletes one batch of staged rows after their retention: promoted rows after 7 days, invalid rows after 30, orphaned rows
-- after 1. Each row belongs to one group: processed, else invalid, else orphaned. Rows younger than a day, and rows of an
-- upload that awaits a decision, are kept. A result below 10,000 in all means that nothing more is due. The job commits after
-- each batch.
create or replace function iu_core.fn_ingest_cleanup_rows(out promoted_deleted integer, out invalid_deleted integer, out orphan_deleted integer)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_batch constant integer := 10000;
  v_now constant timestamptz := now();
begin
  -- An upload without a change for the longest duration of a review has expired.
  perform iu_core.fn_ingest_expire();
  with due as (
    select s.ctid, p.processed_at is not null as processed, s.validation_status = 'invalid' as invalid
      from iu_core.ingest_staged_row s
      left join iu_core.ingest_upload u on u.upload_id = s.upload_id
      left join iu_core.ingest_promotion i on i.upload_id = s.upload_id and s.row_type = any (i.inserted_types)
     cross join lateral (select coalesce(s.processed_at, case when s.validation_status = 'valid' then i.promoted_at end)) as p (processed_at)
     where s.created_at < v_now - interval '24 hours'
       and (u.status is null or u.status not in ('reading', 'staged', 'planned'))
       and case when p.processed_at is not null then p.processed_at < v_now - interval '7 days'
                when s.validation_status = 'invalid' then s.created_at < v_now - interval '30 days'
                else s.created_at < v_now - interval '1 day' end
     limit v_batch for update of s skip locked
  ), deleted as (
    delete from iu_core.ingest_staged_row s using due where s.ctid = due.ctid returning due.processed, due.invalid
  )
  select count(*) filter (where processed), count(*) filter (where not processed and invalid),
         count(*) filter (where not processed and not invalid)
    into promoted_deleted, invalid_deleted, orphan_deleted from deleted;
end $$;

grant execute on function iu_core.fn_ingest_cleanup_rows() to service_role;

-- Deletes resolutions after their retention, in batches (fn_ingest_cleanup_resolutions), for up to a minute. Called by hand it
-- is one transaction; the job calls the batches itself and commits after each.
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

-- Deletes one batch of resolutions after 7 days, but never before the last row of their upload. Returns how many; fewer than
-- 10,000 means that nothing more is due. The job commits after each batch.
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
       and not exists (select from iu_core.ingest_staged_row s where s.upload_id = r.upload_id)
     limit 10000 for update of r skip locked
  )
  delete from public.staging_id_resolution r using due where r.id = due.id;
  get diagnostics v_deleted = row_count;
  return v_deleted;
end $$;

grant execute on function iu_core.fn_ingest_cleanup_resolutions() to service_role;

-- Expires uploads that were staged or planned and not promoted: after a day without a review, or when the review has ended. An
-- upload under review is kept. Returns how many expired. For maintenance.
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
       -- A repair, a plan and the end of a review count as activity: after a rejection there is a day to repair it.
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
    perform iu_core.fn_ingest_notify_uploads_table(u.upload_id, 'failed', null);
    perform iu_core.fn_event_emit('staging', 'ingestion_expired',
      p_event_subject_ref => u.upload_id::text, p_workspace_id => u.workspace_id,
      p_safe_payload => jsonb_build_object('upload_id', u.upload_id, 'dataset', u.dataset, 'platform', u.platform));
    v_count := v_count + 1;
  end loop;
  -- No plan is that old, or was made beside it.
  delete from iu_core.ingest_plan_mark m
   where m.marked_at < clock_timestamp() - interval '7 days'
     and not exists (select from iu_core.ingest_upload p where p.upload_id = m.upload_id and p.status = 'planned');
  return v_count;
end $$;

grant execute on function iu_core.fn_ingest_expire(interval) to service_role, dot_executor;

-- Deletes the images and the plan of one promotion that can no longer be undone; the lineage of each row stays. Returns how
-- many rows it deleted, NULL if no such promotion is left. For maintenance.
create or replace function iu_core.fn_ingest_images_drop() returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_upload uuid;
  v_rows bigint;
begin
  select upload_id into v_upload from iu_core.ingest_promotion
   where images_dropped_at is null and (undo_until < clock_timestamp() or undone_at < clock_timestamp() - interval '7 days')
   order by promoted_at limit 1 for update skip locked;
  if not found then
    return null;
  end if;
  delete from iu_core.ingest_plan_row where upload_id = v_upload;
  update iu_core.ingest_ledger set before = null, exact = null, after_hash = null where upload_id = v_upload;
  get diagnostics v_rows = row_count;
  update iu_core.ingest_dependent set before = null, exact = null, after_hash = null where upload_id = v_upload;
  update iu_core.ingest_promotion set images_dropped_at = clock_timestamp() where upload_id = v_upload;
  return v_rows;
end $$;

grant execute on function iu_core.fn_ingest_images_drop() to service_role, dot_executor;
