-- approved → consumed by a run; pending → consumed where the kind needs no approval. Whoever consumes may name the
-- digest that it is about to use. The bytes are checked once more: what is used is what was approved.
create or replace function iu_core.fn_iu_staging_consume(
  p_staging_record_id uuid,
  p_consumed_by_run_id uuid,
  p_digest text default null
) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  r iu_core.iu_staging_record;
begin
  perform iu_core.require_member(iu_core.fn_iu_staging_workspace(p_staging_record_id), 'operate');
  perform iu_core.fn_gate_require('iu_core.staging_writes_enabled');
  -- People name runs of the record's own workspace, and hear nothing of others. Shared lock: the run cannot end while
  -- it consumes.
  perform iu_core.fn_command_run_workspace(p_consumed_by_run_id);
  perform from iu_core.dot_iu_command_run
    where run_id = p_consumed_by_run_id and status = 'running'
      and (iu_core.fn_caller_is_service() or workspace_id = iu_core.fn_iu_staging_workspace(p_staging_record_id))
    for share;
  if not found then
    raise exception using
      errcode = 'SD401',
      message = format('Run %s is not running', coalesce(p_consumed_by_run_id::text, 'NULL')),
      hint = 'Open one with iu_core.fn_command_run_start.',
      detail = json_build_object('run', p_consumed_by_run_id)::text;
  end if;
  select * into r from iu_core.iu_staging_record
   where staging_record_id = p_staging_record_id and expires_at > clock_timestamp()
     and (lifecycle_status = 'approved' or (lifecycle_status = 'pending' and not approval_required))
     for update;
  -- Asked again under the lock: it may have been a long wait.
  if not found or r.expires_at <= clock_timestamp() then
    perform iu_core.fn_iu_staging_refuse(p_staging_record_id, 'consumed');
  end if;
  if p_digest is not null and p_digest <> r.content_hash then
    raise exception using
      errcode = 'SD504',
      message = format('The digest %s is not that of record %s, which is %s', p_digest, p_staging_record_id, r.content_hash),
      detail = json_build_object('record', p_staging_record_id, 'seen', p_digest, 'actual', r.content_hash)::text;
  end if;
  perform iu_core.fn_iu_staging_verify(p_staging_record_id);
  update iu_core.iu_staging_record u
     set lifecycle_status = 'consumed', consumed_at = clock_timestamp(), consumed_by_run_id = p_consumed_by_run_id,
         retain_until = clock_timestamp() + p.retention
    from iu_core.iu_staging_kind_policy p
   where u.staging_record_id = p_staging_record_id and p.staging_kind = u.staging_kind
  returning u.* into r;
  perform iu_core.fn_iu_staging_emit(r, 'record_consumed', iu_core.fn_actor());
end $$;

grant execute on function iu_core.fn_iu_staging_consume(uuid, uuid, text) to
  dot_executor, service_role, directus, authenticated, stagedoor_reviewer;
