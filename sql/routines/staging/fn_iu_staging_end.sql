-- The one way to end a record as rejected: for a reviewer, and for an owner who withdraws. Internal.
create or replace function iu_core.fn_iu_staging_end(p_staging_record_id uuid, p_by text, p_reason text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  r iu_core.iu_staging_record;
begin
  update iu_core.iu_staging_record u
     set lifecycle_status = 'rejected', rejected_at = clock_timestamp(), rejected_by = p_by, rejected_reason = p_reason,
         retain_until = clock_timestamp() + p.retention
    from iu_core.iu_staging_kind_policy p
   where u.staging_record_id = p_staging_record_id and u.lifecycle_status = 'pending' and u.expires_at > clock_timestamp()
     and p.staging_kind = u.staging_kind
  returning u.* into r;
  if not found then
    perform iu_core.fn_iu_staging_refuse(p_staging_record_id, case p_reason when 'withdrawn' then 'withdrawn' else 'rejected' end);
  end if;
  perform iu_core.fn_iu_staging_emit(r, 'record_rejected', p_by);
end $$;
