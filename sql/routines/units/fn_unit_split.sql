-- A unit is retired, and two or more hold its parts (IU-VP-4): each begins its own life in the old one's container and place, with its
-- language, source and profile, and an edge split_from leads back to it. p_parts: [{canonical_address, body, title?, unit_kind?}]. Of a draft
-- come drafts; of what is in force comes what is in force, under p_apr_ref. p_expected_version is the version that was divided.
-- p_actor: the person whose decision a back-end service carries out; reviewers name nobody, or themselves.
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
  v_actor := iu_core.fn_unit_decided_by(p_actor);
  perform iu_core.fn_unit_reason_check(p_reason);
  if p_expected_version is null then
    raise exception using errcode = 'SD001', message = 'Whoever splits a unit names the version that they have read';
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
    perform iu_core.fn_unit_refuse_transition(u, 'retired');
  end if;
  perform iu_core.fn_unit_expect_version(u, p_expected_version);
  select v.language into v_language from iu_core.unit_version v where v.unit_version_id = u.current_version_id;
  select jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
           'unit_kind', u.unit_kind, 'language', v_language, 'container_id', u.container_id, 'source_ref', u.source_ref,
           'position', u.position)) || e || jsonb_build_object('profile', u.content_profile) order by n)
    into v_new from jsonb_array_elements(p_parts) with ordinality as t (e, n);
  return query
    select x.* from iu_core.fn_unit_exchange(v_workspace, array[u], v_new, 'split_from', p_apr_ref, coalesce(p_reason, 'split'),
                                             v_actor.actor, v_actor.via) x;
  perform iu_core.fn_event_write('iu', 'unit_split', p_unit_id::text, v_workspace, v_actor.actor, v_actor.via,
    jsonb_build_object('unit_id', p_unit_id, 'version_no', u.version_no, 'parts', jsonb_array_length(p_parts)), u.canonical_address);
end $$;

grant execute on function iu_core.fn_unit_split(uuid, integer, jsonb, text, text, text) to dot_executor, service_role, stagedoor_reviewer;
