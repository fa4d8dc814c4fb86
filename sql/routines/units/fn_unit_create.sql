-- A unit is born: identity, first version, what search has to learn, and the event, in one transaction and one round trip.
-- Without a title it is called like its first heading or line. In a container it comes last; of two that come at the same
-- moment and place the older id is first.
-- p_actor: whom a back-end service acts for; others name nobody, or themselves.
create or replace function iu_core.fn_unit_create(
  p_workspace_id uuid,
  p_canonical_address text,
  p_body text,
  p_title text default null,
  p_unit_kind text default 'note',
  p_language text default 'en',
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
    iu_core.fn_unit_birth_check(p_canonical_address, p_body, p_title, v_kind, p_language, p_source_ref, v_profile);
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
  values (unit_id, 1, v_kind, v_title, coalesce(p_language, 'en'), p_body, '', v_actor.actor, v_actor.via)
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
