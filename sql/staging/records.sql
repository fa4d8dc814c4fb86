-- Staging records and their parts: creation, digests, and the trigger that enforces the lifecycle.

-- Creates one record with its parts, atomically. A part is a JSON object
--   {"part_name": "manifest", "payload_kind": "json", "payload_json": …}
--   {"part_name": "commentary", "payload_kind": "text", "payload_text": "…"}
--   {"part_name": "video", "payload_kind": "blob_ref", "blob_ref": "…", "byte_len": 123, "content_hash": "…"}
-- Idempotency: the same key with the same content returns the existing record, whatever its status; the same key with other
-- content is an error. Keys are separate for each workspace. Without a key, one is derived from the source reference and the
-- kind, so that the same call is safe to repeat; p_new => true creates another record anyway. Without key and source reference
-- every call creates a record. A mark_manifest that could not be cut is refused (fn_mark_manifest_require). Its document is its
-- second part, or is given to the cut. The default source kind is agent if an agent stages the record, else user.
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
    raise exception using errcode = 'SD001', message = 'A record needs a purpose: a few words for the reviewer';
  end if;
  -- By the member's role and by the token's: an agent's token may come without a role of its own.
  v_by_agent := v_role = 'agent' or iu_core.fn_caller_role() = 'stagedoor_agent';
  v_source_kind := coalesce(p_source_kind, case when v_by_agent then 'agent' else 'user' end);
  if v_source_kind not in ('agent', 'user', 'system', 'import') then
    raise exception using errcode = 'SD001',
      message = format('The source kind %L is not one of agent, user, system, import', v_source_kind);
  end if;
  if v_by_agent and v_source_kind = 'user' then
    raise exception using errcode = 'SD001', message = 'An agent cannot stage a record with the source kind user',
      hint = 'Leave the source kind out, or set it to agent.';
  end if;
  if p_expires_at <= v_now or not isfinite(p_expires_at) then
    raise exception using errcode = 'SD001', message = 'The expiry must be a time in the future';
  end if;
  if v_new and p_idempotency_key is not null then
    raise exception using errcode = 'SD001', message = 'p_new cannot be combined with an idempotency key';
  end if;
  if p_idempotency_key !~ '\S' then
    raise exception using errcode = 'SD001', message = 'The idempotency key is blank: give a key, or leave it out';
  end if;
  if p_metadata is not null and jsonb_typeof(p_metadata) <> 'object' then
    raise exception using errcode = 'SD001', message = 'The metadata must be a JSON object';
  end if;
  -- It is part of every list of records.
  if pg_column_size(p_metadata) > 16384 then
    raise exception using errcode = 'SD001', message = 'The metadata is larger than 16 KiB: put large data into a part';
  elsif p_metadata is not null then
    perform iu_core.fn_iu_staging_json_digest(p_metadata);
  end if;
  v_digests := iu_core.fn_iu_staging_part_digests(p_parts);
  perform iu_core.fn_iu_staging_checklist_check(p_parts, v_policy.checklist_required);
  v_hash := iu_core.fn_iu_staging_record_digest(v_digests);
  if v_digests @> '[{"payload_kind": "blob_ref"}]' then
    perform iu_core.fn_iu_staging_blobs_lock(
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
    -- An existing record was valid when it was staged; the cut checks topics and addresses again.
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
    perform iu_core.fn_iu_staging_event_write(v_record, 'record_created', v_owner.actor, v_owner.via);
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

-- Derives an idempotency key from the origin of something: a digest over a length-prefixed tuple, so that ('ab', 'c') and ('a',
-- 'bc') differ, and NULL differs from the empty text.
create or replace function iu_core.fn_iu_staging_key(variadic p_parts text[]) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(cardinality(p_parts), 0) = 0 then
    raise exception using errcode = 'SD001', message = 'A key needs at least one part';
  end if;
  return (
    select encode(sha256(convert_to(string_agg(
             coalesce(octet_length(convert_to(part, 'UTF8')) || ':' || part, '-'), ',' order by position), 'UTF8')), 'hex')
      from unnest(p_parts) with ordinality as t (part, position));
end $$;

grant execute on function iu_core.fn_iu_staging_key(text[]) to
  dot_executor, service_role, directus, authenticated, stagedoor_agent, stagedoor_reviewer;

-- Enforces the lifecycle for everybody, also for the owner: which status may follow which, which columns never change, and that
-- no actor or time of a decision is ever removed.
--   pending → approved → consumed → cleaned
--   pending → consumed (if the kind needs no approval) · pending → rejected · pending, approved → expired
--   approved → pending (fn_review_reopen: approvals of its change fell; they stay in change_review)
create or replace function iu_core.fn_iu_staging_record_guard() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_reopens constant boolean := old.lifecycle_status = 'approved' and new.lifecycle_status = 'pending' and new.approved_at is null
                                and current_setting('stagedoor.review_reopens', true) = old.staging_record_id::text;
begin
  if not v_reopens and (old.lifecycle_status, new.lifecycle_status) not in (
       ('pending', 'approved'), ('pending', 'rejected'), ('pending', 'expired'), ('pending', 'consumed'),
       ('approved', 'consumed'), ('approved', 'expired'),
       ('consumed', 'cleaned'), ('rejected', 'cleaned'), ('expired', 'cleaned')) then
    raise exception using errcode = 'SD502',
      message = format('A staging record cannot change from %s to %s', old.lifecycle_status, new.lifecycle_status);
  end if;
  if (old.staging_record_id, old.workspace_id, old.staging_kind, old.payload_type, old.purpose, old.owner_actor, old.owner_via,
      old.source_kind, old.source_ref, old.idempotency_key, old.content_hash, old.byte_len, old.part_count, old.part_digests,
      old.metadata, old.referenced_iu_ids, old.approval_required, old.four_eyes, old.checklist_required, old.created_at,
      old.expires_at)
     is distinct from
     (new.staging_record_id, new.workspace_id, new.staging_kind, new.payload_type, new.purpose, new.owner_actor, new.owner_via,
      new.source_kind, new.source_ref, new.idempotency_key, new.content_hash, new.byte_len, new.part_count, new.part_digests,
      new.metadata, new.referenced_iu_ids, new.approval_required, new.four_eyes, new.checklist_required, new.created_at,
      new.expires_at) then
    raise exception using errcode = 'SD002', message = 'A staged record cannot be changed: stage a new one';
  end if;
  if (old.approved_at is not null and not v_reopens and (old.approved_at, old.approved_by, old.approved_via, old.approval_doc_id)
        is distinct from (new.approved_at, new.approved_by, new.approved_via, new.approval_doc_id))
     or (old.rejected_at is not null and (old.rejected_at, old.rejected_by, old.rejected_reason)
        is distinct from (new.rejected_at, new.rejected_by, new.rejected_reason))
     or (old.consumed_at is not null and (old.consumed_at, old.consumed_by_run_id)
        is distinct from (new.consumed_at, new.consumed_by_run_id))
     or (old.expired_at is not null and old.expired_at is distinct from new.expired_at)
     or (old.retain_until is not null and old.retain_until is distinct from new.retain_until) then
    raise exception using errcode = 'SD002', message = 'The actor and the time of a decision cannot be changed or removed';
  end if;
  return new;
end $$;

create or replace trigger iu_staging_record_keeps_its_lifecycle
  before update on iu_core.iu_staging_record
  for each row execute function iu_core.fn_iu_staging_record_guard();

-- Bytes never change. They are deleted with their record's end only, by cleanup and unregister.
create or replace trigger iu_staging_payload_never_changes
  before update on iu_core.iu_staging_payload
  for each row execute function iu_core.fn_refuse_change();

-- Checks the parts and returns name, kind, length and digest of each, in order.
create or replace function iu_core.fn_iu_staging_part_digests(p_parts jsonb[]) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_part jsonb;
  v_digest record;
  v_digests jsonb[] := '{}';
  v_total bigint := 0;
  v_problem text;
begin
  if coalesce(cardinality(p_parts), 0) = 0 then
    raise exception using errcode = 'SD506', message = 'A record needs at least one part';
  end if;
  if cardinality(p_parts) > 100 then
    raise exception using errcode = 'SD506', message = format('%s parts; a record holds at most 100', cardinality(p_parts));
  end if;
  foreach v_part in array p_parts loop
    v_problem := case
      when jsonb_typeof(v_part) is distinct from 'object' then 'it must be a JSON object'
      when jsonb_typeof(v_part -> 'part_name') is distinct from 'string' or v_part ->> 'part_name' !~ '\S'
        then 'part_name is missing'
      when length(v_part ->> 'part_name') > 200 then 'part_name has more than 200 characters'
      when jsonb_typeof(v_part -> 'payload_kind') is distinct from 'string' or v_part ->> 'payload_kind' not in ('json', 'text', 'blob_ref')
        then 'payload_kind must be json, text or blob_ref'
      when v_part ->> 'payload_kind' = 'json' and not v_part ? 'payload_json' then 'payload_json is missing'
      when v_part ->> 'payload_kind' = 'text' and jsonb_typeof(v_part -> 'payload_text') is distinct from 'string'
        then 'payload_text is missing or not a string'
      when v_part ->> 'payload_kind' = 'blob_ref' and (jsonb_typeof(v_part -> 'blob_ref') is distinct from 'string' or v_part ->> 'blob_ref' = '') then 'blob_ref is missing'
      when v_part ->> 'payload_kind' = 'blob_ref' and (jsonb_typeof(v_part -> 'content_hash') is distinct from 'string' or v_part ->> 'content_hash' !~ '^[0-9a-f]{64}$')
        then 'content_hash must be the sha-256 of the blob, in hex'
      when v_part ->> 'payload_kind' = 'blob_ref'
           and (jsonb_typeof(v_part -> 'byte_len') is distinct from 'number' or v_part ->> 'byte_len' !~ '^[0-9]{1,15}$')
        then 'byte_len must be the length of the blob: a whole number, less than 10^15'
      end;
    if v_problem is not null then
      raise exception using
        errcode = 'SD506',
        message = format('Part %s: %s', cardinality(v_digests), v_problem),
        detail = json_build_object('part', cardinality(v_digests))::text;
    end if;
    case v_part ->> 'payload_kind'
      when 'json' then
        v_digest := iu_core.fn_iu_staging_json_digest(v_part -> 'payload_json');
      when 'text' then
        select iu_core.fn_iu_staging_payload_hash(null, v_part ->> 'payload_text') as content_hash,
               octet_length(convert_to(v_part ->> 'payload_text', 'UTF8'))::bigint as byte_len into v_digest;
      else
        select v_part ->> 'content_hash' as content_hash, (v_part ->> 'byte_len')::bigint as byte_len into v_digest;
    end case;
    if v_part ->> 'payload_kind' <> 'blob_ref' then
      if v_digest.byte_len > 10485760 then
        raise exception using
          errcode = 'SD506',
          message = format('Part %s (%s) has %s bytes; json and text parts hold at most 10 MiB',
                           cardinality(v_digests), v_part ->> 'part_name', v_digest.byte_len),
          hint = 'Store it as a blob and give the reference (blob_ref).';
      end if;
      v_total := v_total + v_digest.byte_len;
    end if;
    v_digests := v_digests || jsonb_build_object(
      'part_index', cardinality(v_digests),
      'part_name', v_part ->> 'part_name',
      'payload_kind', v_part ->> 'payload_kind',
      'byte_len', v_digest.byte_len,
      'content_hash', v_digest.content_hash);
  end loop;
  if v_total > 67108864 then
    raise exception using
      errcode = 'SD506',
      message = format('The json and text parts have %s bytes together; a record holds at most 64 MiB of them', v_total),
      hint = 'Store the large ones as blobs and give the references (blob_ref).';
  end if;
  return to_jsonb(v_digests);
end $$;

-- Digest and length of a JSON value over its canonical form: PostgreSQL's own jsonb text in UTF-8. That form is exact for any
-- number, sorts keys, and keeps the last of two equal keys. A few bytes such as 1e131071 would become megabytes of zeros, so
-- numbers with more than 401 digits before the point or 400 after it are refused. Numbers that are long by their exponent alone
-- (and zeros, which may be) are checked before any text is made. The others were given digit by digit, so their text is not
-- much longer than the input. The regular expression is only a quick filter, because a long run of digits may be part of a
-- string. Arrays are used because the time of jsonb_path_query grows with the square of its results.
create or replace function iu_core.fn_iu_staging_json_digest(p_json jsonb, out content_hash text, out byte_len bigint)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_suspects jsonb;
  v_too_long boolean := false;
  v_text text;
  v_bytes bytea;
begin
  if p_json is null then
    raise exception using errcode = 'SD506', message = 'A JSON part needs a value';
  end if;
  if jsonb_path_exists(p_json, 'strict $.**{101}') then
    raise exception using errcode = 'SD506', message = 'JSON nested more than 100 deep is refused';
  end if;
  v_suspects := jsonb_path_query_array(p_json, 'strict $.** ? (@ >= 1e401 || (@ < 1e-400 && (@ > -1e-400 || @ <= -1e401)))');
  -- Queries only where there is something to look at: starting one costs as much as the digest of a short text.
  if v_suspects <> '[]' then
    v_too_long := exists (select from jsonb_array_elements(v_suspects) as n (value)
                           where abs(value::numeric) >= 1e401 or scale(value::numeric) > 400);
  end if;
  if not v_too_long then
    v_text := p_json::text;
    if v_text ~ '[0-9]{255}' then
      v_too_long := exists (
        select from jsonb_array_elements(jsonb_path_query_array(p_json, 'strict $.** ? (@.type() == "number")')) as n (value)
         where abs(value::numeric) >= 1e401 or scale(value::numeric) > 400);
    end if;
  end if;
  if v_too_long then
    raise exception using errcode = 'SD506',
      message = 'A number has more than 401 digits before the point or 400 after it';
  end if;
  v_bytes := convert_to(v_text, 'UTF8');
  content_hash := encode(sha256(v_bytes), 'hex');
  byte_len := octet_length(v_bytes);
end $$;

-- The digest of the stored bytes of a part: JSON in its canonical text, or the text. NULL for a blob, whose bytes are stored
-- elsewhere. fn_iu_staging_json_digest computes the same for new JSON, after checking it. Internal.
create or replace function iu_core.fn_iu_staging_payload_hash(p_payload_json jsonb, p_payload_text text) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return encode(sha256(convert_to(coalesce(p_payload_json::text, p_payload_text), 'UTF8')), 'hex');
end $$;

-- The digest of a record over its parts in order: name (with its length, so that no byte can move from one field to the next),
-- kind and digest of each part.
create or replace function iu_core.fn_iu_staging_record_digest(p_part_digests jsonb) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select encode(sha256(convert_to(string_agg(
             format('%s:%s:%s:%s', octet_length(convert_to(d ->> 'part_name', 'UTF8')), d ->> 'part_name',
                    d ->> 'payload_kind', d ->> 'content_hash'),
             e'\n' order by position), 'UTF8')), 'hex')
      from jsonb_array_elements(p_part_digests) with ordinality as t (d, position));
end $$;

-- The workspace of a record that the caller may see. Another workspace's record gives the same error as a missing one, so that
-- an error reveals nothing. Internal: definer functions pass the result to require_member.
create or replace function iu_core.fn_iu_staging_workspace(p_staging_record_id uuid) returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
begin
  select workspace_id into v_workspace from iu_core.iu_staging_record where staging_record_id = p_staging_record_id;
  if not found
     or not iu_core.fn_workspace_is_visible(v_workspace) then
    raise exception using
      errcode = 'SD501',
      message = format('There is no staging record %s', coalesce(p_staging_record_id::text, 'NULL')),
      detail = json_build_object('record', p_staging_record_id)::text;
  end if;
  return v_workspace;
end $$;

-- Records with the parts that are still stored, their age and the days left.
create or replace view iu_core.v_iu_staging_record with (security_invoker = true) as
select r.staging_record_id, r.workspace_id, r.staging_kind, r.payload_type, r.purpose, r.lifecycle_status,
       r.owner_actor, r.owner_via, r.source_kind, r.source_ref, r.idempotency_key, r.content_hash,
       r.byte_len, r.part_count, r.part_digests, r.metadata, r.referenced_iu_ids, r.approval_required,
       r.four_eyes, r.checklist_required, r.created_at, r.expires_at, r.approved_at, r.approved_by,
       r.approved_via, r.approval_doc_id, r.rejected_at, r.rejected_by, r.rejected_reason, r.consumed_at,
       r.consumed_by_run_id, r.expired_at, r.retain_until, r.cleaned_at, r.vector_excluded,
       (select count(*) from iu_core.iu_staging_payload p where p.staging_record_id = r.staging_record_id)::integer as parts_present,
       round((extract(epoch from r.expires_at - now()) / 86400)::numeric, 2) as days_to_expiry,
       now() - r.created_at as age
  from iu_core.iu_staging_record r;

grant select on iu_core.v_iu_staging_record to
  authenticated, service_role, dot_executor, directus, stagedoor_agent, stagedoor_reviewer;
