-- Edits of units: versions, profiles, kinds.

-- Edits a draft: text, title or language; NULL keeps the current value. The editor names the version that the edit was made
-- from; if it is no longer current, nothing is written and the error has both hashes. An edit without a change writes no
-- version (changed = false). p_actor: the person for whom a back-end service acts; other callers leave it out or name
-- themselves.
create or replace function iu_core.fn_unit_edit(
  p_unit_id uuid,
  p_expected_version integer,
  p_body text default null,
  p_title text default null,
  p_note text default null,
  p_language text default null,
  p_actor text default null,
  out version_no integer,
  out unit_version_id uuid,
  out content_hash text,
  out changed boolean
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record;
  u iu_core.information_unit;
begin
  perform iu_core.fn_unit_require_member(p_unit_id, 'operate');
  v_actor := iu_core.fn_actor_for(p_actor);
  u := iu_core.fn_unit_lock_for_edit(p_unit_id, p_expected_version);
  select * into version_no, unit_version_id, content_hash, changed
    from iu_core.fn_unit_version_write(u, p_body, p_title, p_language, p_note, v_actor.actor, v_actor.via);
end $$;

grant execute on function iu_core.fn_unit_edit(uuid, integer, text, text, text, text, text) to
  dot_executor, service_role, authenticated, stagedoor_reviewer;

-- Locks a unit for an edit and returns it: it must be a draft, not deleted, and still at the expected version. A conflict has
-- both hashes. Internal: the caller has checked the actor.
create or replace function iu_core.fn_unit_lock_for_edit(p_unit_id uuid, p_expected_version integer) returns iu_core.information_unit
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  u iu_core.information_unit;
begin
  if p_expected_version is null then
    raise exception using errcode = 'SD001', message = 'An edit needs the version that it was made from';
  end if;
  select * into u from iu_core.information_unit where unit_id = p_unit_id for no key update;
  if u.lifecycle_status <> 'draft' or u.deleted_at is not null then
    perform iu_core.fn_unit_raise_locked(u);
  end if;
  perform iu_core.fn_unit_expect_version(u, p_expected_version);
  return u;
end $$;

-- Replaces a slice of a draft's text: characters from p_from to p_to (exclusive), counted from 0. An empty slice inserts, an
-- empty text deletes. Otherwise like fn_unit_edit. p_actor: the person for whom a back-end service acts; other callers leave it
-- out or name themselves.
create or replace function iu_core.fn_unit_edit_slice(
  p_unit_id uuid,
  p_expected_version integer,
  p_from integer,
  p_to integer,
  p_text text,
  p_note text default null,
  p_actor text default null,
  out version_no integer,
  out unit_version_id uuid,
  out content_hash text,
  out changed boolean
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record;
  u iu_core.information_unit;
  v_body text;
begin
  perform iu_core.fn_unit_require_member(p_unit_id, 'operate');
  v_actor := iu_core.fn_actor_for(p_actor);
  if num_nulls(p_from, p_to, p_text) > 0 then
    raise exception using errcode = 'SD001', message = 'A slice edit needs from, to and a text, which may be empty';
  end if;
  u := iu_core.fn_unit_lock_for_edit(p_unit_id, p_expected_version);
  select body into v_body from iu_core.unit_version v where v.unit_version_id = u.current_version_id;
  if p_from < 0 or p_to < p_from or p_to > length(v_body) then
    raise exception using
      errcode = 'SD906',
      message = format('The slice from %s to %s is not within the text, which has %s characters', p_from, p_to, length(v_body)),
      detail = json_build_object('from', p_from, 'to', p_to, 'length', length(v_body))::text;
  end if;
  select * into version_no, unit_version_id, content_hash, changed
    from iu_core.fn_unit_version_write(u, left(v_body, p_from) || p_text || substr(v_body, p_to + 1), null, null, p_note, v_actor.actor, v_actor.via);
end $$;

grant execute on function iu_core.fn_unit_edit_slice(uuid, integer, integer, integer, text, text, text) to
  dot_executor, service_role, authenticated, stagedoor_reviewer;

-- Changes the profile of a draft or enacted unit: the patch is merged at the top level, null removes a key. Topics are in
-- topic_labels. Metadata: it writes no version and no work for search. Returns the new profile. p_actor: the person for whom a
-- back-end service acts; other callers leave it out or name themselves.
create or replace function iu_core.fn_unit_profile_patch(p_unit_id uuid, p_patch jsonb, p_actor text default null) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record;
  u iu_core.information_unit;
  v_profile jsonb;
begin
  perform iu_core.fn_unit_require_member(p_unit_id, 'operate');
  v_actor := iu_core.fn_actor_for(p_actor);
  perform iu_core.fn_unit_profile_check(p_patch);
  u := iu_core.fn_unit_metadata_lock(p_unit_id);
  v_profile := u.content_profile || p_patch;
  if p_patch @? '$.* ? (@ == null)' then
    v_profile := v_profile - array(select key from jsonb_each(p_patch) where value = 'null');
  end if;
  if v_profile = u.content_profile then
    return v_profile;
  end if;
  update iu_core.information_unit set content_profile = v_profile where unit_id = p_unit_id;
  -- Keys, never values; and of a profile with thousands of long ones the first.
  perform iu_core.fn_event_write('iu', 'unit_profile_changed', p_unit_id::text, u.workspace_id, v_actor.actor, v_actor.via, jsonb_build_object(
    'unit_id', p_unit_id,
    'keys', array(select left(k, 60) from jsonb_object_keys(p_patch) k
                   where u.content_profile -> k is distinct from v_profile -> k order by k limit 50)), u.canonical_address);
  return v_profile;
end $$;

grant execute on function iu_core.fn_unit_profile_patch(uuid, jsonb, text) to dot_executor, service_role, authenticated, stagedoor_reviewer;

-- Changes the kind of a unit (U3), with an approval of its own, other than the unit's current one. Metadata: it emits the event
-- of a profile change, with the kind before and after, and its history has a line. Versions keep the kind that they were
-- written with. p_actor: the person whose decision a back-end service carries out; reviewers leave it out or name themselves.
create or replace function iu_core.fn_unit_change_kind(p_unit_id uuid, p_unit_kind text, p_apr_ref text, p_actor text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record;
  u iu_core.information_unit;
  v_event uuid;
begin
  perform iu_core.fn_unit_require_member(p_unit_id, 'review');
  v_actor := iu_core.fn_unit_decision_actor(p_actor);
  perform iu_core.fn_unit_apr_ref_check(p_apr_ref), iu_core.fn_unit_kind_check(p_unit_kind);
  u := iu_core.fn_unit_metadata_lock(p_unit_id);
  if u.unit_kind = p_unit_kind then
    return;
  end if;
  update iu_core.information_unit set unit_kind = p_unit_kind, apr_ref = p_apr_ref where unit_id = p_unit_id;
  v_event := iu_core.fn_event_write('iu', 'unit_profile_changed', p_unit_id::text, u.workspace_id, v_actor.actor, v_actor.via,
    jsonb_build_object('unit_id', p_unit_id, 'keys', array['unit_kind'], 'from_kind', u.unit_kind, 'to_kind', p_unit_kind,
                       'apr_ref', p_apr_ref), u.canonical_address);
  -- The status does not change; the log keeps the approval for later readers.
  insert into public.iu_lifecycle_log (
    workspace_id, unit_id, from_status, to_status, change_set_id, apr_ref, reason, changed_by, changed_via)
  values (
    u.workspace_id, p_unit_id, u.lifecycle_status, u.lifecycle_status, v_event, p_apr_ref,
    format('its kind was %s and is %s', u.unit_kind, p_unit_kind), v_actor.actor, v_actor.via);
end $$;

grant execute on function iu_core.fn_unit_change_kind(uuid, text, text, text) to dot_executor, service_role, stagedoor_reviewer;

-- Writes the next version of a unit that the caller has locked (fn_unit_lock_for_edit). NULL keeps the current value. Without a
-- change there is no version, no event and no work for search; a new title alone is a version, but nothing to embed. Internal.
create or replace function iu_core.fn_unit_version_write(
  u iu_core.information_unit,
  p_body text,
  p_title text,
  p_language text,
  p_note text,
  p_actor text,
  p_via text default null,
  out version_no integer,
  out unit_version_id uuid,
  out content_hash text,
  out changed boolean
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_hash text := u.content_hash;
  v_body text := p_body;
  v_language text;
begin
  if p_body is not null then
    perform iu_core.fn_unit_body_check(p_body);
    v_hash := encode(sha256(convert_to(p_body, 'UTF8')), 'hex');
  end if;
  if num_nonnulls(p_title, p_language) > 0 then
    perform iu_core.fn_unit_title_language_check(p_title, p_language);
  end if;
  if length(p_note) > 2000 then
    raise exception using errcode = 'SD001', message = 'A note has at most 2000 characters';
  end if;
  select v.language, coalesce(v_body, v.body) into v_language, v_body
    from iu_core.unit_version v where v.unit_version_id = u.current_version_id;
  changed := v_hash <> u.content_hash or p_title <> u.title or p_language <> v_language;
  if changed is not true then
    changed := false;
    version_no := u.version_no;
    unit_version_id := u.current_version_id;
    content_hash := u.content_hash;
    return;
  end if;
  version_no := u.version_no + 1;
  insert into iu_core.unit_version (unit_id, version_no, unit_kind, title, language, body, content_hash, note, edited_by, edited_via)
  values (u.unit_id, version_no, u.unit_kind, coalesce(p_title, u.title), coalesce(p_language, v_language), v_body, '', p_note, p_actor, p_via)
  returning unit_version.unit_version_id, unit_version.content_hash into unit_version_id, content_hash;
  update iu_core.information_unit x
     set current_version_id = fn_unit_version_write.unit_version_id, version_no = fn_unit_version_write.version_no,
         content_hash = v_hash, title = coalesce(p_title, u.title)
   where x.unit_id = u.unit_id;
  if v_hash <> u.content_hash then
    perform iu_core.fn_vector_enqueue_unit(u.unit_id, v_hash, 'upsert');
  elsif p_language <> v_language then
    -- The same text has other words in another language.
    perform iu_core.fn_vector_enqueue_unit(u.unit_id, v_hash, 'patch');
  end if;
  perform iu_core.fn_event_write('iu', 'unit_versioned', u.unit_id::text, u.workspace_id, p_actor, p_via, jsonb_build_object(
    'unit_id', u.unit_id, 'unit_version_id', unit_version_id, 'version_no', version_no, 'content_hash', content_hash,
    'previous_hash', u.content_hash), u.canonical_address);
end $$;

-- Checks a profile, or a patch of one: an object without core keys at any depth, and small enough for lists of units. Topics
-- are checked when the row is written. Internal.
create or replace function iu_core.fn_unit_profile_check(p_profile jsonb) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_keys text[];
begin
  if p_profile = '{}' then
    return;
  end if;
  if jsonb_typeof(p_profile) is distinct from 'object' then
    raise exception using errcode = 'SD001', message = 'A profile must be a JSON object';
  end if;
  -- At any depth: a nested copy would also be a second source of truth.
  v_keys := array(select distinct k
                    from jsonb_path_query(p_profile, 'strict $.** ? (@.type() == "object")') as o,
                         jsonb_object_keys(o) as k
                   where k = any (iu_core.fn_unit_core_keys()) order by k);
  if v_keys <> '{}' then
    raise exception using
      errcode = 'SD911',
      message = format('A profile cannot contain %s: the unit itself has it', array_to_string(v_keys, ', ')),
      detail = json_build_object('keys', array_to_string(v_keys, ', '))::text;
  end if;
  if pg_column_size(p_profile) > 65536 then
    raise exception using errcode = 'SD001', message = 'A profile has at most 64 KiB: put larger data into the text of a unit';
  end if;
end $$;

-- Keys that a profile may not contain, because they are columns of the unit. Internal.
create or replace function iu_core.fn_unit_core_keys() returns text[]
language sql immutable parallel safe
as $$
  select '{unit_id,workspace_id,canonical_address,unit_kind,container_id,container_ref,position,source_ref,owner_actor,owner_via,created_at,current_version_id,unit_version_id,version_no,content_hash,title,body,language,lifecycle_status,apr_ref,deleted_at,superseded_by,supersedes,conformance,drift,vector,embedding}'::text[]
$$;

-- Locks a unit against changes of its lifecycle until the end of the transaction. Edges, container and order may change while
-- it is a draft or enacted; superseded, retired and deleted units cannot change. Internal.
create or replace function iu_core.fn_unit_metadata_lock(p_unit_id uuid) returns iu_core.information_unit
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  u iu_core.information_unit;
begin
  select * into u from iu_core.information_unit where unit_id = p_unit_id for no key update;
  if u.lifecycle_status not in ('draft', 'enacted') or u.deleted_at is not null then
    perform iu_core.fn_unit_raise_locked(u);
  end if;
  return u;
end $$;

-- Raises if the unit is not at the expected version, with both hashes, so that both texts can be found. Internal.
create or replace function iu_core.fn_unit_expect_version(u iu_core.information_unit, p_expected_version integer) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_expected_hash text;
begin
  if u.version_no = p_expected_version then
    return;
  end if;
  select content_hash into v_expected_hash from iu_core.unit_version where unit_id = u.unit_id and version_no = p_expected_version;
  raise exception using
    errcode = 'SD902',
    message = format('The unit %s is at version %s (%s), not at %s (%s)', u.unit_id, u.version_no, u.content_hash, p_expected_version,
                     coalesce(v_expected_hash, 'which never was')),
    detail = json_build_object('unit', u.unit_id, 'expected_version', p_expected_version, 'expected_hash', v_expected_hash,
                               'current_version', u.version_no, 'current_hash', u.content_hash)::text;
end $$;
