-- Review of staging records: checklist, approval by a second person, rejection, withdrawal.

-- The items of a record's checklist (its JSON part named checklist), with their ticks.
create or replace function iu_core.fn_iu_staging_checklist(p_staging_record_id uuid)
returns table (item_id text, label text, required boolean, ticked_by text, ticked_at timestamptz, note text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from iu_core.iu_staging_record r where r.staging_record_id = p_staging_record_id) then
    raise exception using
      errcode = 'SD501',
      message = format('There is no staging record %s', coalesce(p_staging_record_id::text, 'NULL')),
      detail = json_build_object('record', p_staging_record_id)::text;
  end if;
  return query
  select i.item_id, i.label, i.required, c.ticked_by, c.ticked_at, c.note
    from iu_core.iu_staging_payload p
   cross join lateral iu_core.fn_iu_staging_checklist_items(p.payload_json) as i
    left join iu_core.iu_staging_check c
      on c.staging_record_id = p.staging_record_id and c.item_id = i.item_id
   where p.staging_record_id = p_staging_record_id and p.part_name = 'checklist' and p.payload_kind = 'json'
   order by p.part_index, i.item_position;
end $$;

grant execute on function iu_core.fn_iu_staging_checklist(uuid) to
  dot_executor, service_role, directus, authenticated, stagedoor_agent, stagedoor_reviewer;

-- Ticks an item of a pending record's checklist, or removes the tick. If that was the last item and the change has the approvals that it
-- needs, the record is approved.
create or replace function iu_core.fn_iu_staging_tick(
  p_staging_record_id uuid,
  p_item_id text,
  p_ticked boolean default true,
  p_note text default null
) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c iu_core.change;
  v_has_change boolean;
begin
  perform iu_core.require_member(iu_core.fn_iu_staging_workspace(p_staging_record_id), 'review');
  perform iu_core.fn_gate_require('iu_core.staging_writes_enabled');
  if p_ticked is null then
    raise exception using errcode = 'SD001', message = 'p_ticked must be true or false, not NULL';
  end if;
  perform iu_core.fn_review_lock(iu_core.fn_iu_staging_workspace(p_staging_record_id));
  select ch.* into c from iu_core.change ch
   where (ch.kind = 'upload' and ch.subject_id = (select s.upload_id from iu_core.ingest_submission s where s.staging_record_id = p_staging_record_id))
      or (ch.kind <> 'upload' and ch.subject_id = p_staging_record_id);
  v_has_change := found;
  if v_has_change then
    perform iu_core.fn_review_lock_subject(c);
  end if;
  perform iu_core.fn_iu_staging_tick_as(p_staging_record_id, p_item_id, p_ticked, iu_core.fn_actor(), p_note);
  -- The approvals may have waited for this tick only.
  if p_ticked and v_has_change then
    perform iu_core.fn_review_settle(c);
  end if;
end $$;

grant execute on function iu_core.fn_iu_staging_tick(uuid, text, boolean, text) to
  dot_executor, service_role, directus, stagedoor_reviewer;

-- Approves exactly the bytes that the reviewer saw: their digest is an argument. The approval is recorded as a review of the record's
-- change, and pending → approved follows when the change has all approvals that its review policy asks for (fn_review_standing).
create or replace function iu_core.fn_iu_staging_approve(
  p_staging_record_id uuid,
  p_digest text,
  p_approved_by text default null,
  p_approval_doc_id text default null
) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  r iu_core.iu_staging_record;
  v_workspace uuid := iu_core.fn_iu_staging_workspace(p_staging_record_id);
  v_actor record;
  v_open text;
  v_standing jsonb;
begin
  perform iu_core.require_member(v_workspace, 'review');
  perform iu_core.fn_gate_require('iu_core.staging_writes_enabled');
  v_actor := iu_core.fn_actor_for(p_approved_by);
  perform iu_core.fn_review_lock(v_workspace);
  select * into r from iu_core.iu_staging_record
   where staging_record_id = p_staging_record_id and lifecycle_status = 'pending' and expires_at > clock_timestamp()
     for update;
  if not found then
    -- Its approvals may have fallen: then it is pending again.
    perform iu_core.fn_review_reopen_unmet(p_staging_record_id);
    select * into r from iu_core.iu_staging_record
     where staging_record_id = p_staging_record_id and lifecycle_status = 'pending' and expires_at > clock_timestamp()
       for update;
  end if;
  -- Checked again under the lock, because the wait may have been long.
  if not found or r.expires_at <= clock_timestamp() then
    perform iu_core.fn_iu_staging_raise_status(p_staging_record_id, 'approved');
  end if;
  if p_digest is distinct from r.content_hash then
    raise exception using
      errcode = 'SD504',
      message = format('The digest %s is not that of record %s, which is %s',
                       coalesce(p_digest, 'NULL'), p_staging_record_id, r.content_hash),
      detail = json_build_object('record', p_staging_record_id, 'seen', p_digest, 'actual', r.content_hash)::text;
  end if;
  perform iu_core.fn_iu_staging_verify(p_staging_record_id);
  perform iu_core.fn_iu_staging_require_four_eyes(r, v_actor.actor, v_actor.via);
  if r.checklist_required then
    select string_agg(c.item_id, ', ') into v_open
      from iu_core.fn_iu_staging_checklist(p_staging_record_id) c
     where c.required and (c.ticked_at is null or (r.four_eyes and lower(c.ticked_by) in (lower(r.owner_actor), lower(r.owner_via))));
    if v_open is not null then
      raise exception using
        errcode = 'SD509',
        message = format('The checklist of record %s has open items: %s', p_staging_record_id, v_open),
        detail = json_build_object('record', p_staging_record_id, 'items', v_open)::text;
    end if;
  end if;
  v_standing := iu_core.fn_review_approve(r, v_actor.actor, v_actor.via);
  perform iu_core.fn_approval_store_answers(r, v_actor.actor);
  if not (v_standing ->> 'met')::boolean then
    return;
  end if;
  update iu_core.iu_staging_record
     set lifecycle_status = 'approved', approved_at = clock_timestamp(), approved_by = v_actor.actor,
         approved_via = v_actor.via, approval_doc_id = p_approval_doc_id
   where staging_record_id = p_staging_record_id
  returning * into r;
  perform iu_core.fn_iu_staging_event_write(r, 'record_approved', v_actor.actor, v_actor.via);
end $$;

grant execute on function iu_core.fn_iu_staging_approve(uuid, text, text, text) to
  dot_executor, service_role, directus, stagedoor_reviewer;

-- pending → rejected, with a reason.
create or replace function iu_core.fn_iu_staging_reject(p_staging_record_id uuid, p_reason text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(iu_core.fn_iu_staging_workspace(p_staging_record_id), 'review');
  perform iu_core.fn_gate_require('iu_core.staging_writes_enabled');
  if p_reason is null or p_reason !~ '\S' then
    raise exception using errcode = 'SD001', message = 'A rejection needs a reason';
  end if;
  perform iu_core.fn_iu_staging_set_rejected(p_staging_record_id, iu_core.fn_actor(), p_reason);
end $$;

grant execute on function iu_core.fn_iu_staging_reject(uuid, text) to
  dot_executor, service_role, directus, stagedoor_reviewer;

-- The owner withdraws a record that nobody has decided on: pending → rejected, with the reason withdrawn.
create or replace function iu_core.fn_iu_staging_withdraw(p_staging_record_id uuid) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(iu_core.fn_iu_staging_workspace(p_staging_record_id), 'stage');
  perform iu_core.fn_gate_require('iu_core.staging_writes_enabled');
  if exists (select from iu_core.iu_staging_record
              where staging_record_id = p_staging_record_id and owner_actor <> iu_core.fn_actor()) then
    raise exception using
      errcode = 'SD511',
      message = format('Record %s belongs to another person: only its owner can withdraw it', p_staging_record_id),
      detail = json_build_object('record', p_staging_record_id)::text;
  end if;
  perform iu_core.fn_iu_staging_set_rejected(p_staging_record_id, iu_core.fn_actor(), 'withdrawn');
end $$;

grant execute on function iu_core.fn_iu_staging_withdraw(uuid) to
  dot_executor, service_role, directus, authenticated, stagedoor_agent, stagedoor_reviewer;

-- Ticks an item of a pending record's checklist for an actor, or removes the tick. Internal: the caller has checked the actor's
-- right.
create or replace function iu_core.fn_iu_staging_tick_as(
  p_staging_record_id uuid, p_item_id text, p_ticked boolean, p_by text, p_note text
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  r iu_core.iu_staging_record;
begin
  -- Locked, so that no tick is written after a decision.
  select * into r from iu_core.iu_staging_record
    where staging_record_id = p_staging_record_id and lifecycle_status = 'pending' and expires_at > clock_timestamp()
    for update;
  if not found then
    perform iu_core.fn_iu_staging_raise_status(p_staging_record_id, 'ticked');
  end if;
  -- A tick says that a second person has looked.
  perform iu_core.fn_iu_staging_require_four_eyes(r, p_by);
  if not exists (select from iu_core.fn_iu_staging_checklist(p_staging_record_id) c where c.item_id = p_item_id) then
    raise exception using
      errcode = 'SD001',
      message = format('The checklist has no item %L', p_item_id),
      hint = coalesce((select 'It has: ' || string_agg(c.item_id, ', ') from iu_core.fn_iu_staging_checklist(p_staging_record_id) c),
                      'The record has no part named checklist.');
  end if;
  if p_ticked then
    insert into iu_core.iu_staging_check as c (staging_record_id, item_id, ticked_by, note)
    values (p_staging_record_id, p_item_id, p_by, p_note)
    -- The first tick stays. A tick of the owner, from before owners were refused, does not count and is replaced.
    on conflict (staging_record_id, item_id) do update
       set ticked_by = excluded.ticked_by, ticked_at = excluded.ticked_at, note = excluded.note
     where r.four_eyes and lower(c.ticked_by) in (lower(r.owner_actor), lower(r.owner_via));
  else
    delete from iu_core.iu_staging_check where staging_record_id = p_staging_record_id and item_id = p_item_id;
  end if;
end $$;

-- Four-eyes rule: whoever staged a record, or changed the upload that it reviews, can neither tick nor approve it. This also
-- holds for a service that names another actor, and for the service that staged the record for somebody: such a service counts
-- as one party, whoever it names. Names that differ only in case are the same person. Internal.
create or replace function iu_core.fn_iu_staging_require_four_eyes(r iu_core.iu_staging_record, p_actor text, p_via text default null) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  u iu_core.ingest_upload;
  v_by record;
begin
  if not r.four_eyes then
    return;
  end if;
  if array[lower(p_actor), lower(p_via)] && array[lower(r.owner_actor), lower(r.owner_via)] then
    raise exception using
      errcode = 'SD508',
      message = format('Record %s was staged by %s%s: another person must decide', r.staging_record_id, r.owner_actor,
                       case when lower(p_via) = lower(r.owner_via) then format(' through %s, which acts here too', r.owner_via) else '' end),
      detail = json_build_object('record', r.staging_record_id)::text;
  end if;
  if r.staging_kind <> 'review_package' then
    return;
  end if;
  select * into u from iu_core.ingest_upload
   where upload_id in (select p.upload_id from iu_core.ingest_plan p where p.review_record_id = r.staging_record_id);
  if found then
    select p_actor as actor, p_via as via into v_by;
    perform iu_core.fn_ingest_require_four_eyes(u, r.staging_record_id, v_by);
  end if;
end $$;

-- Raises if the checklist in these parts cannot be ticked by a person. If the policy requires a checklist, the owner cannot
-- leave it out: there must be exactly one JSON part named checklist with at least one required item. Internal.
create or replace function iu_core.fn_iu_staging_checklist_check(p_parts jsonb[], p_required boolean) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_part jsonb;
  v_list jsonb;
  v_found integer := 0;
  v_must integer := 0;
  v_problem text;
begin
  foreach v_part in array p_parts loop
    continue when v_part ->> 'part_name' <> 'checklist' or v_part ->> 'payload_kind' <> 'json';
    v_found := v_found + 1;
    v_list := case jsonb_typeof(v_part -> 'payload_json')
      when 'object' then v_part -> 'payload_json' -> 'items' else v_part -> 'payload_json' end;
    -- Checked before the array is expanded: a few megabytes could be millions of items.
    if jsonb_typeof(v_list) = 'array' and jsonb_array_length(v_list) > 500 then
      v_problem := format('%s items; at most 500', jsonb_array_length(v_list));
    else
      select count(*) filter (where i.required),
             case when bool_or(i.item_id !~ '\S') then 'an item with a blank id'
                  when bool_or(length(i.item_id) > 200) then 'an id of more than 200 characters'
                  when count(*) > count(distinct i.item_id) then 'two items with the same id' end
        into v_must, v_problem
        from iu_core.fn_iu_staging_checklist_items(v_part -> 'payload_json') i;
    end if;
    if v_problem is not null then
      raise exception using errcode = 'SD506', message = 'The checklist has ' || v_problem;
    end if;
  end loop;
  if p_required and (v_found <> 1 or v_must = 0) then
    raise exception using
      errcode = 'SD506',
      message = 'This kind needs a checklist: one JSON part named checklist with at least one required item',
      hint = 'For example {"part_name": "checklist", "payload_kind": "json", "payload_json": ["the figures match"]}.';
  end if;
end $$;

-- The items of a checklist's JSON: an array, or an object with items. An item is a text, or an object
-- {"id", "text", "required"} (required unless it says false). Without an id its position is its id.
create or replace function iu_core.fn_iu_staging_checklist_items(p_json jsonb)
returns table (item_id text, label text, required boolean, item_position bigint)
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case jsonb_typeof(item) when 'object' then coalesce(item ->> 'id', position::text) else position::text end,
         case jsonb_typeof(item)
           when 'object' then coalesce(item ->> 'text', item ->> 'label', item ->> 'title', item ->> 'id')
           else item #>> '{}' end,
         case jsonb_typeof(item) when 'object' then coalesce(item ->> 'required', 'true') <> 'false' else true end,
         position
    from jsonb_array_elements(case jsonb_typeof(p_json)
           when 'array' then p_json
           when 'object' then case jsonb_typeof(p_json -> 'items') when 'array' then p_json -> 'items' else '[]' end
           else '[]' end) with ordinality as t (item, position)
$$;

grant execute on function iu_core.fn_iu_staging_checklist_items(jsonb) to
  dot_executor, service_role, directus, authenticated, stagedoor_agent, stagedoor_reviewer;

-- Computes the digests of a record's parts again from their bytes and compares them with those recorded at creation. Returns
-- the record's digest, or raises if the bytes were changed.
create or replace function iu_core.fn_iu_staging_verify(p_staging_record_id uuid) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_recorded jsonb;
  v_hash text;
  v_found jsonb;
begin
  select r.part_digests, r.content_hash, (
           select jsonb_agg(jsonb_build_object(
                    'part_index', p.part_index, 'part_name', p.part_name, 'payload_kind', p.payload_kind,
                    'byte_len', p.byte_len,
                    -- Neither the bytes nor their stored digest may differ.
                    'content_hash', case when p.payload_kind = 'blob_ref'
                       or p.content_hash = iu_core.fn_iu_staging_payload_hash(p.payload_json, p.payload_text)
                       then p.content_hash end) order by p.part_index)
             from iu_core.iu_staging_payload p
            where p.staging_record_id = r.staging_record_id)
    into v_recorded, v_hash, v_found
    from iu_core.iu_staging_record r where r.staging_record_id = p_staging_record_id;
  if not found then
    perform iu_core.fn_iu_staging_raise_status(p_staging_record_id, 'verified');
  end if;
  if v_found is distinct from v_recorded or iu_core.fn_iu_staging_record_digest(v_found) is distinct from v_hash then
    raise exception using
      errcode = 'SD514',
      message = format('The bytes of record %s are not those that were staged', p_staging_record_id),
      detail = json_build_object('record', p_staging_record_id)::text;
  end if;
  return v_hash;
end $$;

-- Ends a record as rejected: called for a reviewer, and for an owner who withdraws. Internal.
create or replace function iu_core.fn_iu_staging_set_rejected(p_staging_record_id uuid, p_by text, p_reason text) returns void
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
    perform iu_core.fn_iu_staging_raise_status(p_staging_record_id, case p_reason when 'withdrawn' then 'withdrawn' else 'rejected' end);
  end if;
  perform iu_core.fn_iu_staging_event_write(r, 'record_rejected', p_by);
end $$;

-- Raises the reason why a transition is not possible: the record does not exist, has expired, was decided (by whom and when),
-- or was cleaned.
create or replace function iu_core.fn_iu_staging_raise_status(p_staging_record_id uuid, p_wanted text) returns void
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
