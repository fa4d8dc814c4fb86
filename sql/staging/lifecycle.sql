-- What happens to a record after the decision: consumption, expiry, cleanup, and the event of each transition.

-- approved → consumed by a run; pending → consumed if the kind needs no approval. The consumer may name the digest that it is
-- about to use. The digests are computed again from the stored bytes, so that only approved bytes are used. Approvals are counted again, by
-- the review policy, the memberships and the groups of this moment.
create or replace function iu_core.fn_iu_staging_consume(
  p_staging_record_id uuid,
  p_consumed_by_run_id uuid,
  p_digest text default null
) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid := iu_core.fn_iu_staging_workspace(p_staging_record_id);
begin
  perform iu_core.require_member(v_workspace, 'operate');
  perform iu_core.fn_gate_require('iu_core.staging_writes_enabled');
  -- People can name only runs of the record's workspace. Shared lock: the run cannot end while
  -- it consumes.
  perform from iu_core.dot_iu_command_run
    where run_id = p_consumed_by_run_id and status = 'running'
      and (workspace_id = v_workspace or iu_core.fn_caller_is_service())
    for share;
  if not found then
    raise exception using
      errcode = 'SD401',
      message = format('Run %s is not running', coalesce(p_consumed_by_run_id::text, 'NULL')),
      hint = 'Open one with iu_core.fn_command_run_start.',
      detail = json_build_object('run', p_consumed_by_run_id)::text;
  end if;
  perform iu_core.fn_iu_staging_set_consumed(p_staging_record_id, p_consumed_by_run_id, p_digest);
end $$;

grant execute on function iu_core.fn_iu_staging_consume(uuid, uuid, text) to
  dot_executor, service_role, directus, authenticated, stagedoor_reviewer;

-- Ends a record as consumed by a run, under its lock. Internal: the caller has checked the right, the gate and the run.
create or replace function iu_core.fn_iu_staging_set_consumed(p_staging_record_id uuid, p_run_id uuid, p_digest text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  r iu_core.iu_staging_record;
begin
  select * into r from iu_core.iu_staging_record
   where staging_record_id = p_staging_record_id and expires_at > clock_timestamp()
     and (lifecycle_status = 'approved' or (lifecycle_status = 'pending' and not approval_required))
     for update;
  -- Checked again under the lock, because the wait may have been long.
  if not found or r.expires_at <= clock_timestamp() then
    perform iu_core.fn_iu_staging_raise_status(p_staging_record_id, 'consumed');
  end if;
  if p_digest is not null and p_digest <> r.content_hash then
    raise exception using
      errcode = 'SD504',
      message = format('The digest %s is not that of record %s, which is %s', p_digest, p_staging_record_id, r.content_hash),
      detail = json_build_object('record', p_staging_record_id, 'seen', p_digest, 'actual', r.content_hash)::text;
  end if;
  perform iu_core.fn_iu_staging_verify(p_staging_record_id);
  if r.approval_required then
    perform iu_core.fn_review_require(r);
  end if;
  update iu_core.iu_staging_record u
     set lifecycle_status = 'consumed', consumed_at = clock_timestamp(), consumed_by_run_id = p_run_id,
         retain_until = clock_timestamp() + p.retention
    from iu_core.iu_staging_kind_policy p
   where u.staging_record_id = p_staging_record_id and p.staging_kind = u.staging_kind
  returning u.* into r;
  perform iu_core.fn_iu_staging_event_write(r, 'record_consumed', iu_core.fn_actor());
end $$;

-- pending or approved → expired, for overdue records, oldest first. A record is never approved by waiting. Returns how many
-- expired.
create or replace function iu_core.fn_iu_staging_expire(p_limit integer default 1000) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Computed once: an index cannot use a volatile function, and every ended record would be read.
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
  perform iu_core.fn_iu_staging_event_write(r, 'record_expired', iu_core.fn_actor())
     from iu_core.iu_staging_record r where r.staging_record_id = any (v_ids);
  return coalesce(cardinality(v_ids), 0);
end $$;

grant execute on function iu_core.fn_iu_staging_expire(integer) to dot_executor, service_role;

-- consumed, rejected or expired → cleaned, after the retention: the payload is deleted, the record stays as a tombstone with
-- its digests, counts and sizes. One batch for each call, so that cleanup can stop and continue. p_scope: {"limit": 1000,
-- "dry_run": false, "kinds": ["mark_manifest"], "workspace_id": "…"}, all optional.
create or replace function iu_core.fn_iu_staging_cleanup(p_scope jsonb default '{}') returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_problem text;
  v_limit integer;
  v_dry_run boolean;
  v_kinds text[];
  v_workspace uuid;
  -- Once, as in expire.
  v_now timestamptz := clock_timestamp();
  v_ids uuid[];
  v_parts bigint;
  v_bytes bigint;
begin
  perform iu_core.require_member(null, 'administer');
  perform iu_core.fn_gate_require('iu_core.staging_cleanup_enabled');
  if jsonb_typeof(p_scope) is distinct from 'object' then
    raise exception using errcode = 'SD001', message = 'The scope of a cleanup must be a JSON object, not NULL';
  end if;
  select case key
           when 'limit' then case when value::text !~ '^[1-9][0-9]{0,6}$' then 'The limit must be a whole number from 1 to 9999999' end
           when 'dry_run' then case when jsonb_typeof(value) <> 'boolean' then 'dry_run must be true or false' end
           when 'kinds' then case when jsonb_typeof(value) <> 'array' then 'kinds must be an array of staging kinds' end
           when 'workspace_id' then case when value::text !~* '^"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"$'
             then 'workspace_id must be a uuid' end
           else format('A cleanup has no setting %L', key)
         end as problem
    into v_problem from jsonb_each(p_scope) order by problem nulls last limit 1;
  if v_problem is not null then
    raise exception using errcode = 'SD001', message = v_problem;
  end if;
  v_limit := coalesce((p_scope ->> 'limit')::integer, 1000);
  v_dry_run := coalesce((p_scope ->> 'dry_run')::boolean, false);
  v_workspace := (p_scope ->> 'workspace_id')::uuid;
  if p_scope ? 'kinds' then
    v_kinds := array(select jsonb_array_elements_text(p_scope -> 'kinds'));
    select format('There is no staging kind %L', kind) into v_problem from unnest(v_kinds) as kind
     where not exists (select from iu_core.iu_staging_kind_policy p where p.staging_kind = kind) limit 1;
    if v_problem is not null then
      raise exception using errcode = 'SD507', message = v_problem;
    end if;
  end if;
  select array_agg(staging_record_id), sum(part_count), sum(byte_len) into v_ids, v_parts, v_bytes from (
    select staging_record_id, part_count, byte_len from iu_core.iu_staging_record
     where lifecycle_status in ('consumed', 'rejected', 'expired') and retain_until <= v_now
       and (v_kinds is null or staging_kind = any (v_kinds))
       and (v_workspace is null or workspace_id = v_workspace)
     order by retain_until limit v_limit
       for update skip locked) as ended;
  if v_ids is not null and not v_dry_run then
    with removed as (
      delete from iu_core.iu_staging_payload where staging_record_id = any (v_ids) returning blob_ref
    )
    insert into iu_core.iu_staging_blob_trash (blob_ref)
    select distinct blob_ref from removed where blob_ref is not null order by blob_ref
    -- DO UPDATE rather than DO NOTHING: it locks the row, so that no claim treats it as one that a record still has.
    on conflict (blob_ref) do update set trashed_at = excluded.trashed_at;
    update iu_core.iu_staging_record
       set lifecycle_status = 'cleaned', cleaned_at = clock_timestamp()
     where staging_record_id = any (v_ids);
    perform iu_core.fn_iu_staging_event_write(r, 'record_cleaned', iu_core.fn_actor())
       from iu_core.iu_staging_record r where r.staging_record_id = any (v_ids);
  end if;
  return jsonb_build_object('cleaned', coalesce(cardinality(v_ids), 0), 'parts', coalesce(v_parts, 0),
                            'bytes', coalesce(v_bytes, 0), 'dry_run', v_dry_run);
end $$;

grant execute on function iu_core.fn_iu_staging_cleanup(jsonb) to dot_executor, service_role, directus;

-- Deletes a record as if it had never been staged. Refused for a record that was ever approved or consumed: it stays, as a
-- record or as a tombstone.
create or replace function iu_core.fn_iu_staging_unregister(p_staging_record_id uuid) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  r iu_core.iu_staging_record;
  v_upload uuid;
begin
  perform iu_core.require_member(iu_core.fn_iu_staging_workspace(p_staging_record_id), 'administer');
  perform iu_core.fn_gate_require('iu_core.staging_writes_enabled');
  select * into r from iu_core.iu_staging_record where staging_record_id = p_staging_record_id for update;
  if not found then
    perform iu_core.fn_iu_staging_raise_status(p_staging_record_id, 'unregistered');
  end if;
  if r.approved_at is not null or r.consumed_at is not null then
    raise exception using
      errcode = 'SD512',
      message = format('Record %s was %s and cannot be removed', p_staging_record_id,
                       case when r.consumed_at is null then 'approved' else 'consumed' end),
      detail = json_build_object('record', p_staging_record_id)::text;
  end if;
  select p.upload_id into v_upload from iu_core.ingest_plan p where p.review_record_id = p_staging_record_id;
  if found then
    raise exception using
      errcode = 'SD512',
      message = format('Record %s is the review package of upload %s and cannot be removed while its plan stands', p_staging_record_id, v_upload),
      hint = format('Discard the upload (`stagedoor upload discard %s`) or plan it again; then the package can be removed.', v_upload),
      detail = json_build_object('record', p_staging_record_id, 'upload', v_upload)::text;
  end if;
  perform iu_core.fn_iu_staging_event_write(r, 'record_unregistered', iu_core.fn_actor());
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

-- Emits an event about a record, with references only. The lifecycle functions write their own events.
create or replace function iu_core.fn_iu_staging_emit_event(
  p_staging_record_id uuid,
  p_event_type text,
  p_actor text default null
) returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  r iu_core.iu_staging_record;
  v_actor record;
begin
  perform iu_core.require_member(iu_core.fn_iu_staging_workspace(p_staging_record_id), 'read');
  if not iu_core.fn_gate_open('iu_core.staging_cleanup_enabled') then
    perform iu_core.fn_gate_require('iu_core.staging_writes_enabled');
  end if;
  select * into v_actor from iu_core.fn_actor_for(p_actor);
  if not exists (select from iu_core.event_vocabulary where event_domain = 'staging' and event_type = p_event_type) then
    raise exception using
      errcode = 'SD301',
      message = format('staging.%s is not in the event vocabulary', p_event_type),
      detail = json_build_object('event', concat_ws('.', 'staging', p_event_type))::text;
  end if;
  -- Locked, so that of two callers that report the same transition the second sees the event of the first.
  select * into r from iu_core.iu_staging_record where staging_record_id = p_staging_record_id for update;
  if not found then
    perform iu_core.fn_iu_staging_raise_status(p_staging_record_id, 'reported');
  end if;
  -- A transition has one event, and its own function writes it: a transition that did not happen cannot be reported.
  if p_event_type like 'record\_%' then
    if not (case p_event_type
             when 'record_created' then true
             when 'record_approved' then r.approved_at is not null
             when 'record_rejected' then r.rejected_at is not null
             when 'record_consumed' then r.consumed_at is not null
             when 'record_expired' then r.expired_at is not null
             when 'record_cleaned' then r.cleaned_at is not null
             else false end)
       or exists (select from iu_core.event_outbox e
                   where e.event_domain = 'staging' and e.event_type = p_event_type
                     and e.event_subject_ref = p_staging_record_id::text) then
      raise exception using errcode = 'SD001',
        message = format('staging.%s does not apply to record %s, or was emitted already', p_event_type, p_staging_record_id);
    end if;
  end if;
  return iu_core.fn_iu_staging_event_write(r, p_event_type, v_actor.actor, v_actor.via);
end $$;

grant execute on function iu_core.fn_iu_staging_emit_event(uuid, text, text) to dot_executor, service_role, directus;

-- Writes the event of a transition, with references only. Internal: the caller has checked the actor, the gate, and that the
-- type is in the vocabulary.
create or replace function iu_core.fn_iu_staging_event_write(
  r iu_core.iu_staging_record,
  p_event_type text,
  p_actor text,
  p_via text default null
) returns uuid
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return iu_core.fn_event_write('staging', p_event_type, r.staging_record_id::text, r.workspace_id, p_actor, p_via,
    jsonb_strip_nulls(jsonb_build_object(
      'staging_record_id', r.staging_record_id,
      'staging_kind', r.staging_kind,
      'payload_type', r.payload_type,
      'lifecycle_status', r.lifecycle_status,
      'content_hash', r.content_hash,
      'part_count', r.part_count,
      'run_id', r.consumed_by_run_id)));
end $$;
