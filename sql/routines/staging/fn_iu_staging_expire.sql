-- pending or approved → expired, for what is overdue, oldest first. Silence is never consent. Returns how many.
create or replace function iu_core.fn_iu_staging_expire(p_limit integer default 1000) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Once: a volatile function is no condition for an index, and every ended record would be read.
  v_now timestamptz := clock_timestamp();
  v_ids uuid[];
begin
  perform iu_core.fn_gate_require('iu_core.staging_cleanup_enabled');
  if p_limit is null or p_limit < 1 then
    raise exception using errcode = 'SD001', message = 'The limit must be at least 1';
  end if;
  with overdue as (
    select staging_record_id, staging_kind from iu_core.iu_staging_record
     where lifecycle_status in ('pending', 'approved') and expires_at <= v_now
     order by expires_at limit p_limit
       for update skip locked
  ), expired as (
    update iu_core.iu_staging_record r
       set lifecycle_status = 'expired', expired_at = clock_timestamp(), retain_until = clock_timestamp() + p.retention
      from overdue o join iu_core.iu_staging_kind_policy p on p.staging_kind = o.staging_kind
     where r.staging_record_id = o.staging_record_id
    returning r.staging_record_id
  )
  select array_agg(staging_record_id) into v_ids from expired;
  perform iu_core.fn_iu_staging_emit(r, 'record_expired', iu_core.fn_actor())
     from iu_core.iu_staging_record r where r.staging_record_id = any (v_ids);
  return coalesce(cardinality(v_ids), 0);
end $$;

grant execute on function iu_core.fn_iu_staging_expire(integer) to dot_executor, service_role;
