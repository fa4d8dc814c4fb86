-- Says why a transition was not possible: not there, expired, decided by whom and when, cleaned.
create or replace function iu_core.fn_iu_staging_refuse(p_staging_record_id uuid, p_wanted text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  r iu_core.iu_staging_record;
begin
  select * into r from iu_core.iu_staging_record where staging_record_id = p_staging_record_id;
  if not found then
    raise exception using errcode = 'SD501', message = format('There is no staging record %s', coalesce(p_staging_record_id::text, 'NULL')),
      detail = json_build_object('record', p_staging_record_id)::text;
  end if;
  if r.lifecycle_status = 'expired' or (r.lifecycle_status in ('pending', 'approved') and r.expires_at <= clock_timestamp()) then
    raise exception using
      errcode = 'SD503',
      message = format('Record %s expired at %s and can no longer be %s', p_staging_record_id, r.expires_at, p_wanted),
      detail = json_build_object('record', p_staging_record_id, 'expired_at', r.expires_at)::text;
  end if;
  if r.lifecycle_status = 'pending' and p_wanted = 'consumed' then
    raise exception using
      errcode = 'SD510',
      message = format('Record %s is a %s and must be approved before it is consumed', p_staging_record_id, r.staging_kind),
      detail = json_build_object('record', p_staging_record_id)::text;
  end if;
  raise exception using
    errcode = 'SD502',
    message = format('Record %s can no longer be %s: already %s', p_staging_record_id, p_wanted,
      case
        when r.rejected_at is not null then format('rejected by %s at %s', r.rejected_by, r.rejected_at)
        when r.consumed_at is not null then format('consumed by run %s at %s', r.consumed_by_run_id, r.consumed_at)
        when r.approved_at is not null then format('approved by %s at %s', r.approved_by, r.approved_at)
        else r.lifecycle_status
      end),
    detail = json_build_object('record', p_staging_record_id, 'status', r.lifecycle_status)::text;
end $$;
