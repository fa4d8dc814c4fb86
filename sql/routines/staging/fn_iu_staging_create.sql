-- Holds something: one record with its parts, atomically. A part is a JSON object
--   {"part_name": "manifest", "payload_kind": "json", "payload_json": …}
--   {"part_name": "commentary", "payload_kind": "text", "payload_text": "…"}
--   {"part_name": "video", "payload_kind": "blob_ref", "blob_ref": "…", "byte_len": 123, "content_hash": "…"}
-- With an idempotency key: the same key and content gives the record that exists, whatever has become of it; the
-- same key with other content is an error. Keys of different workspaces never meet. Without one it is made of the source reference
-- and the kind, so that the same call again is safe; p_new => true makes another record all the same. Without either every call makes one.
-- A mark_manifest that could not be cut is refused (fn_mark_manifest_require). Its document is its second part, or is given to the cut.
-- Where it comes from, if nobody says: from an agent when an agent stages it, else from a user.
create or replace function iu_core.fn_iu_staging_create(
  p_staging_kind text,
  p_payload_type text,
  p_purpose text,
  p_owner_actor text default null,
  p_source_kind text default null,
  p_source_ref text default null,
  p_idempotency_key text default null,
  p_parts jsonb[] default null,
  p_expires_at timestamptz default null,
  p_workspace_id uuid default null,
  p_metadata jsonb default null,
  p_referenced_iu_ids uuid[] default null,
  p_new boolean default false,
  out staging_record_id uuid,
  out lifecycle_status text,
  out content_hash text,
  out created boolean
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_role text;
  v_by_agent boolean;
  v_source_kind text;
  v_policy iu_core.iu_staging_kind_policy;
  v_owner record;
  v_digests jsonb;
  v_bytes bigint;
  v_key text;
  v_hash text;
  v_record iu_core.iu_staging_record;
  v_existing iu_core.iu_staging_record;
  v_new boolean := coalesce(p_new, false);
  v_now timestamptz := clock_timestamp();
begin
  v_role := iu_core.require_member(p_workspace_id, 'stage');
  perform iu_core.fn_require_workspace(p_workspace_id);
  perform iu_core.fn_gate_require('iu_core.staging_writes_enabled');
  v_owner := iu_core.fn_actor_for(p_owner_actor);
  v_policy := iu_core.fn_iu_staging_policy(p_staging_kind, p_payload_type);
  if p_purpose is null or p_purpose !~ '\S' then
    raise exception using errcode = 'SD001', message = 'A record needs a purpose: a few words for whoever decides';
  end if;
  -- By the member's role and by the token's: an agent's token may come without a role of its own.
  v_by_agent := v_role = 'agent' or iu_core.fn_caller_role() = 'stagedoor_agent';
  v_source_kind := coalesce(p_source_kind, case when v_by_agent then 'agent' else 'user' end);
  if v_source_kind not in ('agent', 'user', 'system', 'import') then
    raise exception using errcode = 'SD001',
      message = format('The source kind %L is none of agent, user, system, import', v_source_kind);
  end if;
  if v_by_agent and v_source_kind = 'user' then
    raise exception using errcode = 'SD001', message = 'What an agent stages does not come from a user',
      hint = 'Leave the source kind out, or say agent.';
  end if;
  if p_expires_at <= v_now or not isfinite(p_expires_at) then
    raise exception using errcode = 'SD001', message = 'The expiry must be in the future, and a date';
  end if;
  if v_new and p_idempotency_key is not null then
    raise exception using errcode = 'SD001', message = 'Another record needs another key: p_new goes without one';
  end if;
  if p_idempotency_key !~ '\S' then
    raise exception using errcode = 'SD001', message = 'A blank idempotency key would be everybody''s; name one, or none';
  end if;
  if p_metadata is not null and jsonb_typeof(p_metadata) <> 'object' then
    raise exception using errcode = 'SD001', message = 'The metadata must be a JSON object';
  end if;
  -- It travels with every list of records.
  if pg_column_size(p_metadata) > 16384 then
    raise exception using errcode = 'SD001', message = 'The metadata has more than 16 KiB; what is large is a part';
  elsif p_metadata is not null then
    perform iu_core.fn_iu_staging_json_digest(p_metadata);
  end if;
  v_digests := iu_core.fn_iu_staging_part_digests(p_parts);
  perform iu_core.fn_iu_staging_checklist_check(p_parts, v_policy.checklist_required);
  v_hash := iu_core.fn_iu_staging_record_digest(v_digests);
  if v_digests @> '[{"payload_kind": "blob_ref"}]' then
    perform iu_core.fn_iu_staging_blobs_hold(
      array(select part ->> 'blob_ref' from unnest(p_parts) as part where part ->> 'payload_kind' = 'blob_ref'));
    perform iu_core.fn_blobs_bind(p_workspace_id, p_parts);
  end if;
  select sum((d ->> 'byte_len')::bigint) into v_bytes from jsonb_array_elements(v_digests) d;
  v_key := case
    when p_idempotency_key is not null then iu_core.fn_iu_staging_key(p_workspace_id::text, p_idempotency_key)
    when p_source_ref is not null and not v_new then iu_core.fn_iu_staging_key(p_workspace_id::text, p_source_ref, p_staging_kind, '')
    else iu_core.fn_iu_staging_key(p_workspace_id::text, gen_random_uuid()::text) end;

  loop
    insert into iu_core.iu_staging_record (
      workspace_id, staging_kind, payload_type, purpose, owner_actor, owner_via, source_kind, source_ref,
      idempotency_key, content_hash, byte_len, part_count, part_digests, metadata, referenced_iu_ids,
      approval_required, four_eyes, checklist_required, created_at, expires_at)
    values (
      p_workspace_id, p_staging_kind, p_payload_type, p_purpose, v_owner.actor, v_owner.via, v_source_kind, p_source_ref,
      v_key, v_hash, v_bytes, cardinality(p_parts), v_digests, p_metadata, p_referenced_iu_ids,
      v_policy.approval_required, v_policy.four_eyes, v_policy.checklist_required, v_now,
      coalesce(p_expires_at, v_now + v_policy.time_to_live))
    on conflict (idempotency_key) do nothing
    returning iu_staging_record.* into v_record;
    exit when found;
    select * into v_existing from iu_core.iu_staging_record r where r.idempotency_key = v_key;
    exit when found;
    -- Unregistered between the two statements: the key is free again.
  end loop;
  created := v_record.staging_record_id is not null;

  if created then
    -- What is held already was good when it was staged; what has become of topics and addresses since, the cut asks.
    if (p_staging_kind, p_payload_type) = ('mark_manifest', 'manifest_json') then
      perform iu_core.fn_mark_manifest_require(
        case when p_parts[1] @> '{"part_name": "manifest", "payload_kind": "json"}' then p_parts[1] -> 'payload_json' end,
        case when p_parts[2] @> '{"part_name": "source", "payload_kind": "text"}' then p_parts[2] ->> 'payload_text' end,
        p_workspace_id, p_alone => cardinality(p_parts) = 1);
    end if;
    staging_record_id := v_record.staging_record_id;
    insert into iu_core.iu_staging_payload (
      staging_record_id, part_index, part_name, payload_kind, payload_json, payload_text, blob_ref, byte_len, content_hash)
    select staging_record_id, p.position - 1, d.part_name, d.payload_kind,
           case d.payload_kind when 'json' then p.part -> 'payload_json' end,
           case d.payload_kind when 'text' then p.part ->> 'payload_text' end,
           case d.payload_kind when 'blob_ref' then p.part ->> 'blob_ref' end,
           d.byte_len, d.content_hash
      from unnest(p_parts) with ordinality as p (part, position)
      join jsonb_to_recordset(v_digests) as d (part_index integer, part_name text, payload_kind text, byte_len bigint, content_hash text)
        on d.part_index = p.position - 1;
    perform iu_core.fn_iu_staging_emit(v_record, 'record_created', v_owner.actor, v_owner.via);
    lifecycle_status := 'pending';
    content_hash := v_hash;
    return;
  end if;

  if (v_existing.staging_kind, v_existing.payload_type, v_existing.content_hash)
     is distinct from (p_staging_kind, p_payload_type, v_hash) then
    raise exception using
      errcode = 'SD505',
      hint = case when p_idempotency_key is null
               then 'Without a key of its own a record is known by its source_ref and kind: name a key, or say p_new => true.'
               else 'Use another key for other content.' end,
      message = format('This idempotency key belongs to record %s with other content: it holds %s %s %s, this is %s %s %s',
                       v_existing.staging_record_id, v_existing.staging_kind, v_existing.payload_type, v_existing.content_hash,
                       p_staging_kind, p_payload_type, v_hash),
      detail = json_build_object('record', v_existing.staging_record_id, 'existing', v_existing.content_hash, 'given', v_hash)::text;
  end if;
  staging_record_id := v_existing.staging_record_id;
  lifecycle_status := v_existing.lifecycle_status;
  content_hash := v_existing.content_hash;
end $$;

grant execute on function iu_core.fn_iu_staging_create(
  text, text, text, text, text, text, text, jsonb[], timestamptz, uuid, jsonb, uuid[], boolean)
  to dot_executor, service_role, directus, authenticated, stagedoor_agent, stagedoor_reviewer;
