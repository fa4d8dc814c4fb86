-- Many units are born at once, set by set: versions, units, what search has to learn one after the other, and an event each, as fn_event_write
-- writes it.
-- Takes objects {canonical_address, body, title?, unit_kind?, language?, container_id?, source_ref?, profile?, position?,
-- unit_id?, supersedes?}; a container may be one of them. Internal: whoever calls it has checked who acts, and where.
create or replace function iu_core.fn_unit_birth(p_workspace_id uuid, p_units jsonb, p_actor text, p_via text default null)
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
  perform iu_core.fn_unit_birth_check(e ->> 'canonical_address', e ->> 'body', e ->> 'title', coalesce(e ->> 'unit_kind', 'note'),
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
         coalesce(t.e ->> 'language', 'en'), t.e ->> 'body', '', p_actor, p_via
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
   -- Two that want the same addresses meet in the same order.
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
