-- Lifecycle of units: enact, supersede, retire, delete, restore, split, merge.

-- Enacts a draft: exactly the version that the reviewer has read, with the approval that they name. From then on its content is
-- locked for everybody. p_actor: the person whose decision a back-end service carries out; reviewers leave it out or name
-- themselves.
create or replace function iu_core.fn_unit_enact(p_unit_id uuid, p_expected_version integer, p_apr_ref text, p_actor text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record;
  u iu_core.information_unit;
begin
  perform iu_core.fn_unit_require_member(p_unit_id, 'review');
  v_actor := iu_core.fn_unit_decision_actor(p_actor);
  perform iu_core.fn_unit_apr_ref_check(p_apr_ref);
  if p_expected_version is null then
    raise exception using errcode = 'SD001', message = 'Enacting a unit needs the version that was read';
  end if;
  select * into u from iu_core.information_unit where unit_id = p_unit_id for no key update;
  if u.lifecycle_status <> 'draft' or u.deleted_at is not null then
    perform iu_core.fn_unit_raise_transition(u, 'enacted');
  end if;
  perform iu_core.fn_unit_expect_version(u, p_expected_version);
  update iu_core.information_unit set lifecycle_status = 'enacted', apr_ref = p_apr_ref where unit_id = p_unit_id;
  perform iu_core.fn_vector_enqueue(array[p_unit_id], 'patch');
  perform iu_core.fn_unit_lifecycle_log(array[p_unit_id], 'draft', 'enacted', v_actor.actor, v_actor.via, p_apr_ref);
end $$;

grant execute on function iu_core.fn_unit_enact(uuid, integer, text, text) to dot_executor, service_role, stagedoor_reviewer;

-- Supersedes an enacted unit with another enacted unit of its workspace, with the approval that the reviewer names. p_actor:
-- the person whose decision a back-end service carries out; reviewers leave it out or name themselves.
create or replace function iu_core.fn_unit_supersede(p_unit_id uuid, p_successor_id uuid, p_apr_ref text, p_actor text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
  v_actor record;
  u iu_core.information_unit;
  s iu_core.information_unit;
begin
  v_workspace := iu_core.fn_unit_require_member(p_unit_id, 'review');
  v_actor := iu_core.fn_unit_decision_actor(p_actor);
  perform iu_core.fn_unit_apr_ref_check(p_apr_ref);
  if p_successor_id = p_unit_id then
    raise exception using errcode = 'SD001', message = 'A unit cannot supersede itself';
  end if;
  -- Locking two units needs the tree lock: moves lock a unit and its container too.
  perform iu_core.fn_unit_tree_lock(v_workspace);
  perform from iu_core.information_unit where unit_id in (p_unit_id, p_successor_id) order by unit_id for no key update;
  select * into u from iu_core.information_unit where unit_id = p_unit_id;
  select * into s from iu_core.information_unit where unit_id = p_successor_id and workspace_id = u.workspace_id;
  if not found then
    perform iu_core.fn_unit_raise_unknown(p_successor_id);
  end if;
  if u.lifecycle_status <> 'enacted' or u.deleted_at is not null then
    perform iu_core.fn_unit_raise_transition(u, 'superseded');
  end if;
  if s.lifecycle_status <> 'enacted' or s.deleted_at is not null then
    perform iu_core.fn_unit_raise_transition(s, 'a successor before it is enacted');
  end if;
  update iu_core.information_unit
     set lifecycle_status = 'superseded', superseded_by = p_successor_id, apr_ref = p_apr_ref where unit_id = p_unit_id;
  perform iu_core.fn_vector_enqueue(array[p_unit_id], 'patch');
  perform iu_core.fn_unit_lifecycle_log(array[p_unit_id], 'enacted', 'superseded', v_actor.actor, v_actor.via, p_apr_ref);
end $$;

grant execute on function iu_core.fn_unit_supersede(uuid, uuid, text, text) to dot_executor, service_role, stagedoor_reviewer;

-- Retires a draft or an enacted unit, without a successor. It stays readable and locked. p_actor: the person for whom a
-- back-end service acts; other callers leave it out or name themselves.
create or replace function iu_core.fn_unit_retire(p_unit_id uuid, p_reason text default null, p_actor text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record;
  u iu_core.information_unit;
begin
  perform iu_core.fn_unit_require_member(p_unit_id, 'review');
  v_actor := iu_core.fn_actor_for(p_actor);
  perform iu_core.fn_unit_reason_check(p_reason);
  select * into u from iu_core.information_unit where unit_id = p_unit_id for no key update;
  if u.lifecycle_status not in ('draft', 'enacted') or u.deleted_at is not null then
    perform iu_core.fn_unit_raise_transition(u, 'retired');
  end if;
  update iu_core.information_unit set lifecycle_status = 'retired' where unit_id = p_unit_id;
  perform iu_core.fn_vector_enqueue(array[p_unit_id], 'patch');
  perform iu_core.fn_unit_lifecycle_log(array[p_unit_id], u.lifecycle_status, 'retired', v_actor.actor, v_actor.via, p_reason => p_reason);
end $$;

grant execute on function iu_core.fn_unit_retire(uuid, text, text) to dot_executor, service_role, stagedoor_reviewer;

-- Deletes a unit from lists and from search; its row, versions and address stay, and fn_unit_restore restores it. Authors may
-- delete drafts; other units need the right to review. p_actor: the person for whom a back-end service acts; other callers
-- leave it out or name themselves.
create or replace function iu_core.fn_unit_delete(p_unit_id uuid, p_reason text default null, p_actor text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record;
  u iu_core.information_unit;
begin
  perform iu_core.fn_unit_require_member(p_unit_id, 'operate');
  v_actor := iu_core.fn_actor_for(p_actor);
  perform iu_core.fn_unit_reason_check(p_reason);
  select * into u from iu_core.information_unit where unit_id = p_unit_id for no key update;
  if u.lifecycle_status <> 'draft' then
    perform iu_core.require_member(u.workspace_id, 'review');
  end if;
  if u.deleted_at is not null then
    perform iu_core.fn_unit_raise_transition(u, 'deleted');
  end if;
  update iu_core.information_unit set deleted_at = clock_timestamp() where unit_id = p_unit_id;
  perform iu_core.fn_vector_enqueue(array[p_unit_id], 'delete');
  perform iu_core.fn_unit_lifecycle_log(array[p_unit_id], u.lifecycle_status, 'deleted', v_actor.actor, v_actor.via, p_reason => p_reason);
end $$;

grant execute on function iu_core.fn_unit_delete(uuid, text, text) to dot_executor, service_role, authenticated, stagedoor_reviewer;

-- Restores a deleted unit to its former status, for those who may delete it. p_actor: the person for whom a back-end service
-- acts; other callers leave it out or name themselves.
create or replace function iu_core.fn_unit_restore(p_unit_id uuid, p_actor text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record;
  u iu_core.information_unit;
begin
  perform iu_core.fn_unit_require_member(p_unit_id, 'operate');
  v_actor := iu_core.fn_actor_for(p_actor);
  -- A cut looks whether a successor is there before it makes one.
  perform iu_core.fn_unit_tree_lock(workspace_id) from iu_core.information_unit where unit_id = p_unit_id and supersedes is not null;
  select * into u from iu_core.information_unit where unit_id = p_unit_id for no key update;
  if u.lifecycle_status <> 'draft' then
    perform iu_core.require_member(u.workspace_id, 'review');
  end if;
  if u.deleted_at is null then
    perform iu_core.fn_unit_raise_transition(u, 'restored');
  end if;
  begin
    update iu_core.information_unit set deleted_at = null where unit_id = p_unit_id;
  exception when unique_violation then
    -- Only one draft successor is allowed at a time, and there is another one.
    perform iu_core.fn_unit_raise_transition(u, 'restored while another draft supersedes the same unit');
  end;
  perform iu_core.fn_vector_enqueue(array[p_unit_id], 'upsert');
  perform iu_core.fn_unit_lifecycle_log(array[p_unit_id], 'deleted', u.lifecycle_status, v_actor.actor, v_actor.via);
end $$;

grant execute on function iu_core.fn_unit_restore(uuid, text) to dot_executor, service_role, authenticated, stagedoor_reviewer;

-- Retires a unit and creates two or more units with its parts (IU-VP-4): in its container and place, with its language, source
-- and profile, and an edge split_from back to it. p_parts: [{canonical_address, body, title?, unit_kind?}]. A draft is split
-- into drafts; an enacted unit into enacted units, with p_apr_ref. p_expected_version is the version that was split. p_actor:
-- the person whose decision a back-end service carries out; reviewers leave it out or name themselves.
create or replace function iu_core.fn_unit_split(
  p_unit_id uuid,
  p_expected_version integer,
  p_parts jsonb,
  p_apr_ref text default null,
  p_reason text default null,
  p_actor text default null
) returns table (unit_id uuid, canonical_address text, unit_version_id uuid, content_hash text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_workspace uuid;
  v_actor record;
  u iu_core.information_unit;
  v_language text;
  v_new jsonb;
begin
  v_workspace := iu_core.fn_unit_require_member(p_unit_id, 'review');
  v_actor := iu_core.fn_unit_decision_actor(p_actor);
  perform iu_core.fn_unit_reason_check(p_reason);
  if p_expected_version is null then
    raise exception using errcode = 'SD001', message = 'Splitting a unit needs the version that was read';
  end if;
  if jsonb_typeof(p_parts) is distinct from 'array' or jsonb_array_length(p_parts) not between 2 and 1000
     or jsonb_path_exists(p_parts, 'strict $[*] ? (@.type() != "object")')
     or exists (select from jsonb_array_elements(p_parts) e, jsonb_object_keys(e) k
                 where k not in ('canonical_address', 'body', 'title', 'unit_kind')) then
    raise exception using errcode = 'SD001',
      message = 'A unit is split into 2 to 1000 parts {canonical_address, body, title?, unit_kind?}';
  end if;
  perform iu_core.fn_unit_tree_lock(v_workspace);
  select * into u from iu_core.information_unit x where x.unit_id = p_unit_id for no key update;
  if u.lifecycle_status not in ('draft', 'enacted') or u.deleted_at is not null then
    perform iu_core.fn_unit_raise_transition(u, 'retired');
  end if;
  perform iu_core.fn_unit_expect_version(u, p_expected_version);
  select v.language into v_language from iu_core.unit_version v where v.unit_version_id = u.current_version_id;
  select jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
           'unit_kind', u.unit_kind, 'language', v_language, 'container_id', u.container_id, 'source_ref', u.source_ref,
           'position', u.position)) || e || jsonb_build_object('profile', u.content_profile) order by n)
    into v_new from jsonb_array_elements(p_parts) with ordinality as t (e, n);
  return query
    select x.* from iu_core.fn_unit_replace(v_workspace, array[u], v_new, 'split_from', p_apr_ref, coalesce(p_reason, 'split'),
                                             v_actor.actor, v_actor.via) x;
  perform iu_core.fn_event_write('iu', 'unit_split', p_unit_id::text, v_workspace, v_actor.actor, v_actor.via,
    jsonb_build_object('unit_id', p_unit_id, 'version_no', u.version_no, 'parts', jsonb_array_length(p_parts)), u.canonical_address);
end $$;

grant execute on function iu_core.fn_unit_split(uuid, integer, jsonb, text, text, text) to dot_executor, service_role, stagedoor_reviewer;

-- Retires units of a workspace and creates new ones in their place, connected to each by an edge of p_edge_type: the common
-- part of split and merge. Drafts become drafts; enacted units are replaced by enacted units at the same moment, with the given
-- approval. Internal: the caller holds the tree lock and has checked the actor.
create or replace function iu_core.fn_unit_replace(
  p_workspace_id uuid,
  p_old iu_core.information_unit[],
  p_new jsonb,
  p_edge_type text,
  p_apr_ref text,
  p_reason text,
  p_actor text,
  p_via text
) returns table (unit_id uuid, canonical_address text, unit_version_id uuid, content_hash text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_old uuid[] := array(select o.unit_id from unnest(p_old) as o order by o.unit_id);
  v_status text := p_old[1].lifecycle_status;
  v_new uuid[];
  v_unit record;
begin
  if exists (select from unnest(p_old) as o where o.lifecycle_status <> v_status) then
    raise exception using errcode = 'SD920', message = 'Drafts and enacted units cannot be merged',
      detail = '{"reason": "drafts and what is in force do not become one unit"}';
  end if;
  select o.canonical_address into v_unit from unnest(p_old) as o where cardinality(iu_core.fn_unit_children(o.unit_id)) > 0 limit 1;
  if found then
    raise exception using errcode = 'SD920', message = format('Other units are inside %s', v_unit.canonical_address),
      detail = json_build_object('reason', format('other units are inside of %s; move them first', v_unit.canonical_address))::text;
  end if;
  if v_status = 'enacted' then
    perform iu_core.fn_unit_apr_ref_check(p_apr_ref);
  elsif p_apr_ref is not null then
    raise exception using errcode = 'SD920', message = 'Drafts become drafts: give the approval when they are enacted',
      detail = '{"reason": "what becomes of drafts are drafts, and an approval is named where those are enacted"}';
  end if;
  v_new := array(select b.unit_id from iu_core.fn_unit_create_rows(p_workspace_id, p_new, p_actor, p_via) b);
  if v_status = 'enacted' then
    update iu_core.information_unit u set lifecycle_status = 'enacted', apr_ref = p_apr_ref where u.unit_id = any (v_new);
    perform iu_core.fn_unit_lifecycle_log(v_new, 'draft', 'enacted', p_actor, p_via, p_apr_ref);
  end if;
  update iu_core.information_unit u set lifecycle_status = 'retired' where u.unit_id = any (v_old);
  perform iu_core.fn_vector_enqueue(v_old, 'patch');
  perform iu_core.fn_unit_lifecycle_log(v_old, v_status, 'retired', p_actor, p_via, p_reason => p_reason);
  insert into iu_core.universal_edges (workspace_id, from_unit_id, edge_type, target_ref, to_unit_id, edge_status, created_by, created_via)
  select p_workspace_id, n.id, p_edge_type, o.id::text, o.id, 'verified', p_actor, p_via
    from unnest(v_new) as n (id) cross join unnest(v_old) as o (id) order by n.id, o.id;
  return query
    select u.unit_id, u.canonical_address, u.current_version_id, u.content_hash
      from unnest(v_new) with ordinality as g (id, n) join iu_core.information_unit u on u.unit_id = g.id order by g.n;
end $$;

-- Retires two or more units of a workspace and creates one with their content (IU-VP-4): in the container and place of the
-- first, with its language, source, kind and profile, and with the topics of all; edges merged_from lead back to each. Without
-- p_body their texts are joined in the order of p_unit_ids. Drafts become a draft; enacted units become an enacted unit, with
-- p_apr_ref. p_expected_versions are the versions that were read, parallel to the units. p_actor: the person whose decision a
-- back-end service carries out; reviewers leave it out or name themselves.
create or replace function iu_core.fn_unit_merge(
  p_unit_ids uuid[],
  p_expected_versions integer[],
  p_canonical_address text,
  p_body text default null,
  p_title text default null,
  p_apr_ref text default null,
  p_reason text default null,
  p_actor text default null
) returns table (unit_id uuid, canonical_address text, unit_version_id uuid, content_hash text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_workspace uuid;
  v_actor record;
  u iu_core.information_unit;
  v_units iu_core.information_unit[] := '{}';
  v_first iu_core.unit_version;
  v_body text;
  v_topics jsonb;
  v_new record;
begin
  v_workspace := iu_core.fn_unit_require_member(p_unit_ids[1], 'review');
  v_actor := iu_core.fn_unit_decision_actor(p_actor);
  perform iu_core.fn_unit_reason_check(p_reason);
  if cardinality(p_unit_ids) not between 2 and 1000 or cardinality(p_unit_ids) is distinct from cardinality(p_expected_versions)
     or array_position(p_unit_ids, null) is not null or array_position(p_expected_versions, null) is not null
     or (select count(distinct i) from unnest(p_unit_ids) as i) <> cardinality(p_unit_ids) then
    raise exception using errcode = 'SD001', message = 'A merge needs 2 to 1000 different units, and the version of each that was read';
  end if;
  perform iu_core.fn_unit_tree_lock(v_workspace);
  perform from iu_core.information_unit x where x.unit_id = any (p_unit_ids) order by x.unit_id for no key update;
  for i in 1 .. cardinality(p_unit_ids) loop
    select * into u from iu_core.information_unit x where x.unit_id = p_unit_ids[i] and x.workspace_id = v_workspace;
    if not found then
      perform iu_core.fn_unit_raise_unknown(p_unit_ids[i]);
    end if;
    if u.lifecycle_status not in ('draft', 'enacted') or u.deleted_at is not null then
      perform iu_core.fn_unit_raise_transition(u, 'retired');
    end if;
    perform iu_core.fn_unit_expect_version(u, p_expected_versions[i]);
    v_units := v_units || u;
  end loop;
  select v.* into v_first from iu_core.unit_version v where v.unit_version_id = v_units[1].current_version_id;
  v_body := coalesce(p_body, (
    select string_agg(rtrim(v.body, E' \n\r\t'), E'\n\n' order by array_position(p_unit_ids, o.unit_id)) || E'\n'
      from unnest(v_units) as o join iu_core.unit_version v on v.unit_version_id = o.current_version_id));
  select jsonb_agg(distinct t) into v_topics
    from unnest(v_units) as o cross join lateral jsonb_array_elements(o.content_profile -> 'topic_labels') as t;
  select x.* into v_new from iu_core.fn_unit_replace(
    v_workspace, v_units, jsonb_build_array(jsonb_strip_nulls(jsonb_build_object(
      'canonical_address', p_canonical_address, 'body', v_body, 'title', coalesce(p_title, v_units[1].title), 'unit_kind', v_units[1].unit_kind,
      'language', v_first.language, 'container_id', v_units[1].container_id, 'source_ref', v_units[1].source_ref,
      'position', v_units[1].position)) || jsonb_build_object('profile',
        v_units[1].content_profile || case when v_topics is null then '{}' else jsonb_build_object('topic_labels', v_topics) end)),
    'merged_from', p_apr_ref, coalesce(p_reason, 'merged'), v_actor.actor, v_actor.via) x;
  perform iu_core.fn_event_write('iu', 'unit_merged', v_new.unit_id::text, v_workspace, v_actor.actor, v_actor.via,
    jsonb_build_object('unit_id', v_new.unit_id, 'units', cardinality(p_unit_ids)), v_new.canonical_address);
  return query select v_new.unit_id, v_new.canonical_address, v_new.unit_version_id, v_new.content_hash;
end $$;

grant execute on function iu_core.fn_unit_merge(uuid[], integer[], text, text, text, text, text, text) to
  dot_executor, service_role, stagedoor_reviewer;

-- Logs changes of the lifecycle permanently and emits iu.unit_lifecycle_changed, and piece.piece_deprecated for a unit that is
-- newly retired (not for one that is restored as retired). Takes units that changed in the same way together; without a change
-- set each is one of its own, named after its event. Internal: the caller has made the change and checked the actor.
create or replace function iu_core.fn_unit_lifecycle_log(
  p_unit_ids uuid[],
  p_from_status text,
  p_to_status text,
  p_actor text,
  p_via text default null,
  p_apr_ref text default null,
  p_reason text default null,
  p_change_set_id uuid default null
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
-- Planned again for each array it takes three times as long.
set plan_cache_mode = force_generic_plan
as $$
declare
  v_cause record := iu_core.fn_event_cause();
begin
  with changed as materialized (
    select u.unit_id, u.workspace_id, u.canonical_address, u.version_no, iu_core.fn_time_uuid() as event_id, g.position
      from unnest(p_unit_ids) with ordinality as g (unit_id, position)
     cross join lateral (select x.* from iu_core.information_unit x where x.unit_id = g.unit_id offset 0) u
  ), logged as (
    insert into public.iu_lifecycle_log (
      workspace_id, unit_id, from_status, to_status, change_set_id, apr_ref, reason, changed_by, changed_via)
    select c.workspace_id, c.unit_id, p_from_status, p_to_status, coalesce(p_change_set_id, c.event_id), p_apr_ref, p_reason, p_actor, p_via
      from changed c order by c.position
  )
  insert into iu_core.event_outbox (
    id, event_domain, event_type, event_subject_ref, canonical_address, workspace_id, correlation_id, causation_event_id,
    causation_depth, actor, actor_via, safe_payload)
  select e.id, e.event_domain, e.event_type, c.unit_id::text, c.canonical_address, c.workspace_id,
         coalesce(v_cause.correlation_id, c.event_id), v_cause.event_id, coalesce(v_cause.depth + 1, 0), p_actor, p_via,
         jsonb_strip_nulls(jsonb_build_object(
           'unit_id', c.unit_id, 'from_status', p_from_status, 'to_status', p_to_status, 'version_no', c.version_no,
           'apr_ref', p_apr_ref, 'change_set_id', p_change_set_id))
    from changed c, lateral (
      select c.event_id as id, 'iu' as event_domain, 'unit_lifecycle_changed' as event_type
      union all
      select iu_core.fn_time_uuid(), 'piece', 'piece_deprecated' where p_to_status = 'retired' and p_from_status <> 'deleted') e
   order by c.position;
end $$;

-- Not even the owner rewrites what became of a unit.
create or replace trigger iu_lifecycle_log_only_grows
  before update or delete on public.iu_lifecycle_log
  for each row execute function iu_core.fn_refuse_change();
create or replace trigger iu_lifecycle_log_is_not_truncated
  before truncate on public.iu_lifecycle_log
  for each statement execute function iu_core.fn_refuse_change();

-- The actor of a decision about a unit: a reviewer decides as themselves. Back-end code cannot decide: as service_role it names
-- the person whose decision it carries out, and via is the login that wrote it. Internal.
create or replace function iu_core.fn_unit_decision_actor(p_actor text, out actor text, out via text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record := iu_core.fn_actor_for(p_actor);
begin
  if v_actor.via is null and iu_core.fn_caller_is_service() then
    raise exception using
      errcode = 'SD001',
      message = format('Only a person can decide this, and %s is not a person', v_actor.actor),
      hint = 'Acting as service_role, name the person who decided: p_actor in SQL, decidedBy in the library.';
  end if;
  actor := v_actor.actor;
  via := v_actor.via;
end $$;

-- Raises unless a decision names the approval it was made under. Internal.
create or replace function iu_core.fn_unit_apr_ref_check(p_apr_ref text) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_apr_ref is null or p_apr_ref !~ '\S' or length(p_apr_ref) > 500 then
    raise exception using errcode = 'SD001', message = 'apr_ref must name the approval, in at most 500 characters';
  end if;
end $$;

-- Raises for a reason that is blank or too long; it may be left out. Internal.
create or replace function iu_core.fn_unit_reason_check(p_reason text) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_reason !~ '\S' or length(p_reason) > 2000 then
    raise exception using errcode = 'SD001', message = 'A reason has between one and 2000 characters, or is left out';
  end if;
end $$;

-- Raises unit_locked, with the status of the unit. Internal.
create or replace function iu_core.fn_unit_raise_locked(u iu_core.information_unit) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_status text := case when u.deleted_at is null then u.lifecycle_status else 'deleted' end;
begin
  raise exception using
    errcode = 'SD903',
    message = format('The unit %s is %s: its content is locked', u.canonical_address, v_status),
    detail = json_build_object('unit', u.unit_id, 'status', v_status)::text;
end $$;

-- Raises unit_transition_refused. Internal.
create or replace function iu_core.fn_unit_raise_transition(u iu_core.information_unit, p_to text) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_status text := case when u.deleted_at is null then u.lifecycle_status else 'deleted' end;
begin
  raise exception using
    errcode = 'SD905',
    message = format('The unit %s is %s and cannot become %s', u.canonical_address, v_status, p_to),
    detail = json_build_object('unit', u.unit_id, 'status', v_status, 'to', p_to)::text;
end $$;
