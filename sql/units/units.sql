-- Information units: creation and reading.

-- Creates a unit: identity, first version, work for search and event, in one transaction and one round trip. Without a title,
-- its first heading or line is the title; without a language, it is found out (fn_text_language). In a container it comes last; of two created at the same moment and place the older
-- id comes first. p_actor: the person for whom a back-end service acts; other callers leave it out or name themselves.
create or replace function iu_core.fn_unit_create(
  p_workspace_id uuid,
  p_canonical_address text,
  p_body text,
  p_title text default null,
  p_unit_kind text default 'note',
  p_language text default null,
  p_container_id uuid default null,
  p_source_ref text default null,
  p_profile jsonb default '{}',
  p_unit_id uuid default null,
  p_actor text default null,
  out unit_id uuid,
  out unit_version_id uuid,
  out content_hash text
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_actor record;
  v_title text;
  v_kind text := coalesce(p_unit_kind, 'note');
  v_profile jsonb := coalesce(p_profile, '{}');
  v_position integer := 0;
begin
  -- One statement, from left to right: each of its own costs as much again as the check.
  perform iu_core.require_member(p_workspace_id, 'operate'), iu_core.fn_unit_workspace_check(p_workspace_id),
    iu_core.fn_unit_create_check(p_canonical_address, p_body, p_title, v_kind, p_language, p_source_ref, v_profile);
  v_actor := iu_core.fn_actor_for(p_actor);
  v_title := coalesce(p_title, iu_core.fn_unit_title(p_body));
  if p_container_id is not null then
    perform iu_core.fn_unit_container_check(p_workspace_id, p_container_id);
    select coalesce(max(c.position), 0) + 1 into v_position from iu_core.information_unit c where c.container_id = p_container_id;
  end if;
  unit_id := coalesce(p_unit_id, iu_core.fn_time_uuid());
  if p_unit_id is not null and exists (select from iu_core.information_unit x where x.unit_id = p_unit_id) then
    raise exception using errcode = 'SD001', message = format('The id %s belongs to another unit', p_unit_id);
  end if;
  -- The version first: it needs no unit to look at yet (fn_unit_version_guard), and the unit finds it there.
  insert into iu_core.unit_version (unit_id, version_no, unit_kind, title, language, body, content_hash, edited_by, edited_via)
  values (unit_id, 1, v_kind, v_title, coalesce(p_language, iu_core.fn_text_language(p_body)), p_body, '', v_actor.actor, v_actor.via)
  returning unit_version.unit_version_id, unit_version.content_hash into unit_version_id, content_hash;
  insert into iu_core.information_unit (
    unit_id, workspace_id, canonical_address, unit_kind, container_id, position, source_ref, owner_actor, owner_via, current_version_id,
    content_hash, title, content_profile)
  values (
    unit_id, p_workspace_id, p_canonical_address, v_kind, p_container_id, v_position, coalesce(p_source_ref, 'actor:' || v_actor.actor),
    v_actor.actor, v_actor.via, unit_version_id, content_hash, v_title, v_profile)
  on conflict (workspace_id, canonical_address) do nothing;
  if not found then
    raise exception using
      errcode = 'SD904',
      message = format('The address %s belongs to another unit of the workspace', p_canonical_address),
      detail = json_build_object('address', p_canonical_address)::text;
  end if;
  perform iu_core.fn_vector_enqueue_unit(unit_id, content_hash, 'upsert');
  perform iu_core.fn_event_write('birth_registry', 'entity_born', unit_id::text, p_workspace_id, v_actor.actor, v_actor.via,
    jsonb_strip_nulls(jsonb_build_object(
      'unit_id', unit_id, 'unit_kind', v_kind, 'unit_version_id', unit_version_id, 'version_no', 1, 'content_hash', content_hash,
      'container_id', p_container_id)), p_canonical_address, v_kind);
end $$;

grant execute on function iu_core.fn_unit_create(uuid, text, text, text, text, text, uuid, text, jsonb, uuid, text) to
  dot_executor, service_role, authenticated, stagedoor_reviewer;

-- Creates many units in one transaction and one round trip, all or none: at most 10,000 objects {canonical_address, body,
-- title?, unit_kind?, language?, container_id?, source_ref?, profile?, position?}. Their work for search is staggered. p_actor:
-- the person for whom a back-end service acts; other callers leave it out or name themselves.
create or replace function iu_core.fn_unit_create_batch(p_workspace_id uuid, p_units jsonb, p_actor text default null)
returns table (unit_id uuid, canonical_address text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_actor record;
  v_unknown text;
begin
  perform iu_core.require_member(p_workspace_id, 'operate');
  v_actor := iu_core.fn_actor_for(p_actor);
  perform iu_core.fn_unit_workspace_check(p_workspace_id);
  if jsonb_typeof(p_units) is distinct from 'array' or p_units @? '$[*] ? (@.type() != "object")' then
    raise exception using errcode = 'SD001', message = 'fn_unit_create_batch takes a JSON array of objects';
  end if;
  if jsonb_array_length(p_units) > 10000 then
    raise exception using errcode = 'SD001', message = format('A batch has at most 10000 units, this has %s', jsonb_array_length(p_units));
  end if;
  select k into v_unknown from jsonb_array_elements(p_units) e, jsonb_object_keys(e) k
   where k not in ('canonical_address', 'body', 'title', 'unit_kind', 'language', 'container_id', 'source_ref', 'profile', 'position')
   limit 1;
  if found then
    raise exception using errcode = 'SD001', message = format('A unit of a batch has no field called %L', v_unknown);
  end if;
  return query select b.unit_id, b.canonical_address from iu_core.fn_unit_create_rows(p_workspace_id, p_units, v_actor.actor, v_actor.via) b;
end $$;

grant execute on function iu_core.fn_unit_create_batch(uuid, jsonb, text) to dot_executor, service_role, authenticated, stagedoor_reviewer;

-- One unit as in v_unit, by its id or by its address in a workspace, and one of its versions: the current one, the one with a
-- number, or the one that was current at a time (with its status at that time in status_then). No row if there is no such unit
-- that the caller may see; a missing version is NULL. Times are compared in milliseconds, as they are shown. Planned once a
-- session: the view is long, and planning it took longer than reading (a unit by its id: 1.04 → 0.36 ms).
create or replace function iu_core.fn_unit_read(
  p_unit_id uuid,
  p_workspace_id uuid default null,
  p_canonical_address text default null,
  p_version_no integer default null,
  p_as_of timestamptz default null
) returns table (unit jsonb, version jsonb, status_then text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_unit_id uuid := p_unit_id;
  v_current uuid;
begin
  if v_unit_id is null then
    select u.unit_id into v_unit_id from iu_core.information_unit u
     where u.workspace_id = p_workspace_id and u.canonical_address = p_canonical_address;
  end if;
  select to_jsonb(v.*), v.current_version_id into unit, v_current from iu_core.v_unit v where v.unit_id = v_unit_id;
  if not found then
    return;
  end if;
  if p_as_of is not null then
    select to_jsonb(c.*) into version from iu_core.unit_version c
     where c.unit_id = v_unit_id and date_trunc('milliseconds', c.edited_at) <= p_as_of order by c.version_no desc limit 1;
    status_then := coalesce((
      select l.to_status from public.iu_lifecycle_log l
       where l.unit_id = v_unit_id and date_trunc('milliseconds', l.changed_at) <= p_as_of
       order by l.changed_at desc, l.log_id desc limit 1), 'draft');
  elsif p_version_no is not null then
    select to_jsonb(c.*) into version from iu_core.unit_version c where c.unit_id = v_unit_id and c.version_no = p_version_no;
  else
    select to_jsonb(c.*) into version from iu_core.unit_version c where c.unit_version_id = v_current;
  end if;
  return next;
end $$;

grant execute on function iu_core.fn_unit_read(uuid, uuid, text, integer, timestamptz) to
  authenticated, stagedoor_agent, stagedoor_reviewer, service_role, dot_executor;

-- Creates many units set by set: versions, units, staggered work for search, and an event each, as fn_event_write writes it.
-- Takes objects {canonical_address, body, title?, unit_kind?, language?, container_id?, source_ref?, profile?, position?,
-- unit_id?, supersedes?}; a container may be one of them. Internal: the caller has checked the actor and the workspace.
create or replace function iu_core.fn_unit_create_rows(p_workspace_id uuid, p_units jsonb, p_actor text, p_via text default null)
returns table (unit_id uuid, canonical_address text, unit_version_id uuid, content_hash text)
language plpgsql
set search_path = pg_catalog, pg_temp
-- Each lookup by its key: planned for the sizes of today it would read whole tables tomorrow.
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_ids uuid[];
  v_version_ids uuid[];
  v_cause record := iu_core.fn_event_cause();
  v_address text;
  v_position text;
  v_id uuid;
begin
  if p_units = '[]' then
    return;
  end if;
  perform iu_core.fn_unit_create_check(e ->> 'canonical_address', e ->> 'body', e ->> 'title', coalesce(e ->> 'unit_kind', 'note'),
                                      e ->> 'language', e ->> 'source_ref', coalesce(nullif(e -> 'profile', 'null'), '{}'))
     from jsonb_array_elements(p_units) e;
  select left(e ->> 'position', 20) into v_position from jsonb_array_elements(p_units) e
   where e ->> 'position' !~ '^[0-9]{1,6}$|^1000000$' limit 1;
  if found then
    raise exception using errcode = 'SD001', message = format('%s is not a position: it is a whole number from 0 to 1000000', v_position);
  end if;
  select array_agg(coalesce((e ->> 'unit_id')::uuid, iu_core.fn_time_uuid()) order by position) into v_ids
    from jsonb_array_elements(p_units) with ordinality as t (e, position);
  v_version_ids := array(select iu_core.fn_time_uuid() from generate_series(1, cardinality(v_ids)));
  select g.id into v_id from unnest(v_ids) as g (id)
   where exists (select from iu_core.information_unit x where x.unit_id = g.id) limit 1;
  if found then
    raise exception using errcode = 'SD001', message = format('The id %s belongs to another unit', v_id);
  end if;
  perform iu_core.fn_unit_container_check(p_workspace_id, c.container_id)
     from (select distinct (e ->> 'container_id')::uuid as container_id from jsonb_array_elements(p_units) e) c
    where c.container_id is not null and c.container_id not in (select unnest(v_ids));

  insert into iu_core.unit_version (
    unit_version_id, unit_id, version_no, unit_kind, title, language, body, content_hash, edited_by, edited_via)
  select t.version_id, t.id, 1, coalesce(t.e ->> 'unit_kind', 'note'), coalesce(t.e ->> 'title', iu_core.fn_unit_title(t.e ->> 'body')),
         coalesce(t.e ->> 'language', iu_core.fn_text_language(t.e ->> 'body')), t.e ->> 'body', '', p_actor, p_via
    from rows from (jsonb_array_elements(p_units), unnest(v_ids), unnest(v_version_ids)) as t (e, id, version_id);

  insert into iu_core.information_unit (
    unit_id, workspace_id, canonical_address, unit_kind, container_id, position, source_ref, owner_actor, owner_via,
    current_version_id, content_hash, title, content_profile, supersedes)
  select t.id, p_workspace_id, t.e ->> 'canonical_address', v.unit_kind, (t.e ->> 'container_id')::uuid,
         coalesce((t.e ->> 'position')::integer,
                  case when t.e ->> 'container_id' is null then 0
                       else coalesce(last.position, 0) + row_number() over (partition by t.e ->> 'container_id' order by t.ordinality) end),
         coalesce(t.e ->> 'source_ref', 'actor:' || p_actor), p_actor, p_via,
         v.unit_version_id, v.content_hash, v.title, coalesce(nullif(t.e -> 'profile', 'null'), '{}'), (t.e ->> 'supersedes')::uuid
    from rows from (jsonb_array_elements(p_units), unnest(v_ids), unnest(v_version_ids)) with ordinality as t (e, id, version_id, ordinality)
   cross join lateral (select x.* from iu_core.unit_version x where x.unit_version_id = t.version_id offset 0) v
    left join (select c.container_id, max(c.position) as position from iu_core.information_unit c
                where c.container_id in (select (e ->> 'container_id')::uuid from jsonb_array_elements(p_units) e)
                group by c.container_id) last on last.container_id = (t.e ->> 'container_id')::uuid
   -- In one order, so that two callers with the same addresses cannot deadlock.
   order by t.e ->> 'canonical_address'
  on conflict (workspace_id, canonical_address) do nothing;

  select t.e ->> 'canonical_address' into v_address
    from rows from (jsonb_array_elements(p_units), unnest(v_ids)) as t (e, id)
   where not exists (select from iu_core.information_unit u where u.unit_id = t.id)
   limit 1;
  if found then
    raise exception using
      errcode = 'SD904',
      message = format('The address %s belongs to another unit of the workspace', v_address),
      detail = json_build_object('address', v_address)::text;
  end if;
  perform iu_core.fn_vector_enqueue(v_ids, 'upsert');
  insert into iu_core.event_outbox (
    id, event_domain, event_type, event_stream, event_subject_ref, canonical_address, workspace_id, correlation_id,
    causation_event_id, causation_depth, actor, actor_via, safe_payload)
  select e.id, 'birth_registry', 'entity_born', u.unit_kind, u.unit_id::text, u.canonical_address, u.workspace_id,
         coalesce(v_cause.correlation_id, e.id), v_cause.event_id, coalesce(v_cause.depth + 1, 0), p_actor, p_via,
         jsonb_strip_nulls(jsonb_build_object(
           'unit_id', u.unit_id, 'unit_kind', u.unit_kind, 'unit_version_id', u.current_version_id, 'version_no', 1,
           'content_hash', u.content_hash, 'container_id', u.container_id))
    from unnest(v_ids) as g (id)
   cross join lateral (select x.* from iu_core.information_unit x where x.unit_id = g.id offset 0) u
   cross join lateral (select iu_core.fn_time_uuid() as id where g.id is not null offset 0) e;
  return query
    select u.unit_id, u.canonical_address, u.current_version_id, u.content_hash
      from unnest(v_ids) with ordinality as g (id, position)
     cross join lateral (select x.* from iu_core.information_unit x where x.unit_id = g.id offset 0) u
     order by g.position;
end $$;

-- Checks the arguments of a new unit before anything is written, so that each wrong argument gets an error that names it. The
-- constraints of the tables enforce the same for writers without a function. Internal.
create or replace function iu_core.fn_unit_create_check(
  p_canonical_address text,
  p_body text,
  p_title text,
  p_unit_kind text,
  p_language text,
  p_source_ref text,
  p_profile jsonb
) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_canonical_address is null or length(p_canonical_address) > 400
     or p_canonical_address !~ '^[a-z0-9][a-z0-9_.~-]*(/[a-z0-9][a-z0-9_.~-]*)*$' then
    raise exception using
      errcode = 'SD001',
      message = format('%L is not an address: it is a path such as handbook/leave of a–z, 0–9 and _.~-, at most 400 characters',
                       left(p_canonical_address, 80));
  end if;
  perform iu_core.fn_unit_body_check(p_body), iu_core.fn_unit_title_language_check(p_title, p_language), iu_core.fn_unit_profile_check(p_profile),
    iu_core.fn_unit_kind_check(p_unit_kind);
  if p_source_ref !~ '\S' or length(p_source_ref) > 2000 then
    raise exception using errcode = 'SD001', message = 'A source has between one and 2000 characters';
  end if;
end $$;

-- Raises for a text that a unit cannot hold: it must not be blank and has at most 1 MiB. Internal.
create or replace function iu_core.fn_unit_body_check(p_body text) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_reason text;
begin
  -- The size first, to avoid searching 20 MB of blanks.
  if octet_length(p_body) > 1048576 then
    v_reason := format('has at most 1048576 bytes, this has %s', octet_length(p_body));
  elsif p_body is null or p_body !~ '\S' then
    v_reason := 'cannot be empty';
  else
    return;
  end if;
  raise exception using
    errcode = 'SD912',
    message = 'The text of a unit ' || v_reason,
    detail = json_build_object('reason', v_reason)::text;
end $$;

-- The default title of a text: its first heading, else its first line. Only the beginning is read. Internal.
create or replace function iu_core.fn_unit_title(p_body text) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_start text := left(p_body, 4000);
begin
  -- Every creation runs this: the expression reads only the needed part of the text (half the time for a kilobyte).
  return btrim(left(coalesce(
    case when strpos(v_start, '#') > 0 then
      substring(v_start from '(?n)^ {0,3}#{1,6}[ \t]+([^\s#][^\n]*?)[ \t]*#*[ \t\r]*$')
    end,
    substring(left(ltrim(v_start, E' \t\r\n'), 200) from '\S[^\n]*'),
    -- Blank for longer than anybody writes.
    substring(p_body from '\S[^\n]*')), 120));
end $$;

-- Raises for an unknown kind, with the list of kinds. Internal.
create or replace function iu_core.fn_unit_kind_check(p_unit_kind text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from iu_core.unit_kind k where k.unit_kind = p_unit_kind) then
    raise exception using
      errcode = 'SD001',
      message = format('%L is not a kind of unit', left(p_unit_kind, 80)),
      hint = 'There are ' || (select string_agg(k.unit_kind, ', ' order by k.unit_kind) from iu_core.unit_kind k) || '.';
  end if;
end $$;

-- Checks title and language of a version, if given: NULL is the current value, or the default. Internal.
create or replace function iu_core.fn_unit_title_language_check(p_title text, p_language text) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_title !~ '\S' or length(p_title) > 500 then
    raise exception using errcode = 'SD001', message = 'A title has between one and 500 characters';
  end if;
  if p_language !~ '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$' then
    raise exception using errcode = 'SD001', message = format('%L is not a language: it is a tag such as en, vi or pt-BR', left(p_language, 40));
  end if;
end $$;

-- The membership check of one unit: returns its workspace if the caller has the right there. A unit of another workspace gives
-- the same error as a missing one, so that an error reveals nothing. One membership lookup for both. Internal: definer
-- functions begin with it.
create or replace function iu_core.fn_unit_require_member(p_unit_id uuid, p_right text) returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
begin
  select workspace_id into v_workspace from iu_core.information_unit where unit_id = p_unit_id;
  if not found or iu_core.fn_member_with_right(v_workspace, p_right) is null then
    perform iu_core.fn_unit_raise_unknown(p_unit_id);
  end if;
  return v_workspace;
end $$;

-- Raises unit_unknown: the same error for a missing unit and for one that the caller may not see. Internal.
create or replace function iu_core.fn_unit_raise_unknown(p_unit_id uuid) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'SD901',
    message = format('There is no unit %s', coalesce(p_unit_id::text, 'NULL')),
    detail = json_build_object('unit', p_unit_id)::text;
end $$;

-- The workspace of a unit that the caller may see. Another workspace's unit gives the same error as a missing one, so that an
-- error reveals nothing. Internal: definer functions pass the result to require_member.
create or replace function iu_core.fn_unit_workspace(p_unit_id uuid) returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
begin
  select workspace_id into v_workspace from iu_core.information_unit where unit_id = p_unit_id;
  if not found or not iu_core.fn_workspace_is_visible(v_workspace) then
    perform iu_core.fn_unit_raise_unknown(p_unit_id);
  end if;
  return v_workspace;
end $$;

-- Raises if back-end code names no workspace, or a missing one: a unit always belongs to a workspace. Internal: callers have
-- called require_member before, which answers people already.
create or replace function iu_core.fn_unit_workspace_check(p_workspace_id uuid) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_workspace_id is null then
    raise exception using
      errcode = 'SD001',
      message = 'A unit needs a workspace',
      hint = 'GET /api/me and `stagedoor member list` show those that you are a member of.';
  end if;
  -- Looked up here first; the other function is called only for its error.
  if not exists (select from public.workspaces w where w.id = p_workspace_id) then
    perform iu_core.fn_require_workspace(p_workspace_id);
  end if;
end $$;

-- The unit of the workspace that a reference names, by its canonical address or by its id. NULL if there is none, or if it is
-- deleted or retired: an edge to it would lead to nothing. Internal.
create or replace function iu_core.fn_unit_find(p_workspace_id uuid, p_ref text) returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_unit uuid;
begin
  select u.unit_id into v_unit from iu_core.information_unit u
   where u.workspace_id = p_workspace_id and u.canonical_address = p_ref
     and u.deleted_at is null and u.lifecycle_status <> 'retired';
  -- An address may look like an id; then it is read as an address.
  if v_unit is null and p_ref ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
    select u.unit_id into v_unit from iu_core.information_unit u
     where u.unit_id = p_ref::uuid and u.workspace_id = p_workspace_id
       and u.deleted_at is null and u.lifecycle_status <> 'retired';
  end if;
  return v_unit;
end $$;

-- Units for people: with their current version, edges, checker result, usability (MUP tier) and freshness in search. One lookup
-- for each, so that the cost of a unit, or of a page of them, is proportional to what is shown.
--
-- mup_tier: 0 created; 1 with the profile that its kind requires, a container (not for a document) and an edge from it; 2 also
-- with a topic, checked and embedded at its current content, and enacted. missing lists what tier 2 still needs. vector_state
-- is computed, never stored: a live outbox row is pending, or stale after it has waited too long; a row that changes only
-- metadata (after enacting, for example) makes no text older.
create or replace view iu_core.v_unit with (security_invoker = true) as
select u.unit_id, u.workspace_id, u.canonical_address, u.unit_kind, u.container_id, u.position, u.source_ref, u.owner_actor, u.owner_via,
       u.created_at, u.current_version_id, u.version_no, u.content_hash, u.title, u.content_profile, u.lifecycle_status, u.apr_ref,
       u.supersedes, u.superseded_by, u.deleted_at, u.changed_at,
       v.language, v.body_bytes, p.topics, e.edges_out, i.edges_in, c.conformance, c.drift, c.findings, c.checked_at,
       (case when t.lacks_first <> '{}' then 0 when t.lacks_second <> '{}' then 1 else 2 end)::smallint as mup_tier,
       t.lacks_first || t.lacks_second as missing,
       case
         when u.deleted_at is not null or u.lifecycle_status = 'retired' then 'retired'
         when o.status = 'dead_letter' then 'error'
         -- Only metadata changed: search has its text.
         when o.operation = 'patch' and o.status <> 'done' and x.content_hash_at_embedding = u.content_hash then 'current'
         when o.status in ('pending', 'processing') then
           -- Not clock_timestamp(): with a volatile function in it a page would be computed of all units, then sorted.
           case when o.first_enqueued_at + (select w.max_wait from iu_core.vector_policy w) < statement_timestamp() then 'stale'
                else 'pending' end
         when x.content_hash_at_embedding is null then 'pending'
         when x.content_hash_at_embedding <> u.content_hash then 'stale'
         else 'current'
       end as vector_state
  from iu_core.information_unit u
  -- OFFSET 0 keeps them look-ups: joined as tables, a page of fifty may read all rows of each into a hash first.
  left join lateral (select n.language, octet_length(n.body) as body_bytes
                       from iu_core.unit_version n where n.unit_version_id = u.current_version_id offset 0) as v on true
 cross join lateral (select array(select jsonb_array_elements_text(u.content_profile -> 'topic_labels')) as topics) as p
 cross join lateral (select count(*)::integer as edges_out from iu_core.universal_edges n where n.from_unit_id = u.unit_id) as e
 cross join lateral (select count(*)::integer as edges_in from iu_core.universal_edges n where n.to_unit_id = u.unit_id) as i
  left join lateral (select n.conformance, n.drift, n.findings, n.checked_version_no, n.checked_at
                       from iu_core.unit_check n where n.unit_id = u.unit_id offset 0) as c on true
  left join lateral (select n.content_hash_at_embedding from iu_core.unit_vector n where n.unit_id = u.unit_id offset 0) as x on true
  left join lateral (select n.status, n.operation, n.first_enqueued_at from iu_core.vector_outbox n where n.unit_id = u.unit_id offset 0) as o on true
 cross join lateral (
   select array(select 'profile.' || k.key
                  from iu_core.unit_kind d, unnest(d.required_profile) as k (key)
                 where d.unit_kind = u.unit_kind and coalesce(u.content_profile -> k.key, 'null') = 'null')
          || case when u.container_id is null and u.unit_kind <> 'document' then array['container'] else '{}' end
          || case when e.edges_out = 0 then array['edge'] else '{}' end as lacks_first,
          case when p.topics = '{}' then array['topic'] else '{}' end
          || case when c.checked_version_no is distinct from u.version_no then array['check'] else '{}' end
          || case when x.content_hash_at_embedding is distinct from u.content_hash then array['vector'] else '{}' end
          || case when u.lifecycle_status <> 'enacted' or u.deleted_at is not null then array['enacted'] else '{}' end as lacks_second
   offset 0) as t;

grant select on iu_core.v_unit to authenticated, stagedoor_agent, stagedoor_reviewer, service_role, dot_executor;

-- The versions of units: who wrote each when, and until when it was current. The text is in unit_version.
create or replace view iu_core.v_unit_history with (security_invoker = true) as
select v.unit_id, u.workspace_id, u.canonical_address, v.version_no, v.unit_version_id, v.unit_kind, v.title, v.language,
       octet_length(v.body) as body_bytes, v.content_hash, v.note, v.edited_by, v.edited_via, v.edited_at,
       (select n.edited_at from iu_core.unit_version n
         where n.unit_id = v.unit_id and n.version_no = v.version_no + 1) as current_until,
       v.unit_version_id = u.current_version_id as is_current
  from iu_core.unit_version v
  join iu_core.information_unit u on u.unit_id = v.unit_id;

grant select on iu_core.v_unit_history to authenticated, stagedoor_agent, stagedoor_reviewer, service_role, dot_executor;
