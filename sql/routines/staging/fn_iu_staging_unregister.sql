-- Takes a record away as if it had never been staged. Refused for anything that was ever approved or consumed:
-- those stay, as records or as tombstones.
create or replace function iu_core.fn_iu_staging_unregister(p_staging_record_id uuid) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  r iu_core.iu_staging_record;
begin
  perform iu_core.require_member(iu_core.fn_iu_staging_workspace(p_staging_record_id), 'administer');
  perform iu_core.fn_gate_require('iu_core.staging_writes_enabled');
  select * into r from iu_core.iu_staging_record where staging_record_id = p_staging_record_id for update;
  if not found then
    perform iu_core.fn_iu_staging_refuse(p_staging_record_id, 'unregistered');
  end if;
  if r.approved_at is not null or r.consumed_at is not null then
    raise exception using
      errcode = 'SD512',
      message = format('Record %s was %s and stays', p_staging_record_id,
                       case when r.consumed_at is null then 'approved' else 'consumed' end),
      detail = json_build_object('record', p_staging_record_id)::text;
  end if;
  perform iu_core.fn_iu_staging_emit(r, 'record_unregistered', iu_core.fn_actor());
  insert into iu_core.iu_staging_blob_trash (blob_ref)
  select distinct blob_ref from iu_core.iu_staging_payload
   where staging_record_id = p_staging_record_id and blob_ref is not null
   order by blob_ref
  -- As in cleanup.
  on conflict (blob_ref) do update set trashed_at = excluded.trashed_at;
  delete from iu_core.iu_staging_record where staging_record_id = p_staging_record_id;
end $$;

grant execute on function iu_core.fn_iu_staging_unregister(uuid) to
  dot_executor, service_role, directus, stagedoor_reviewer;
