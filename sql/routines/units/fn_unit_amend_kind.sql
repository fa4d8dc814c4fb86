-- Amends what kind a unit is (U3), under an approval of its own: the one that the unit has already is not it. Metadata: it is
-- told like a change of the profile, with the kind before and after, and its history has a line. Versions keep the kind that they
-- were written as.
-- p_actor: the person whose decision a back-end service carries out; reviewers name nobody, or themselves.
create or replace function iu_core.fn_unit_amend_kind(p_unit_id uuid, p_unit_kind text, p_apr_ref text, p_actor text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record;
  u iu_core.information_unit;
  v_event uuid;
begin
  perform iu_core.fn_unit_require_member(p_unit_id, 'review');
  v_actor := iu_core.fn_unit_decided_by(p_actor);
  perform iu_core.fn_unit_apr_ref_check(p_apr_ref), iu_core.fn_unit_kind_check(p_unit_kind);
  u := iu_core.fn_unit_metadata_lock(p_unit_id);
  if u.unit_kind = p_unit_kind then
    return;
  end if;
  update iu_core.information_unit set unit_kind = p_unit_kind, apr_ref = p_apr_ref where unit_id = p_unit_id;
  v_event := iu_core.fn_event_write('iu', 'unit_profile_changed', p_unit_id::text, u.workspace_id, v_actor.actor, v_actor.via,
    jsonb_build_object('unit_id', p_unit_id, 'keys', array['unit_kind'], 'from_kind', u.unit_kind, 'to_kind', p_unit_kind,
                       'apr_ref', p_apr_ref), u.canonical_address);
  -- Its life goes on as it was; the approval is what whoever looks back asks for.
  insert into public.iu_lifecycle_log (
    workspace_id, unit_id, from_status, to_status, change_set_id, apr_ref, reason, changed_by, changed_via)
  values (
    u.workspace_id, p_unit_id, u.lifecycle_status, u.lifecycle_status, v_event, p_apr_ref,
    format('its kind was %s and is %s', u.unit_kind, p_unit_kind), v_actor.actor, v_actor.via);
end $$;

grant execute on function iu_core.fn_unit_amend_kind(uuid, text, text, text) to dot_executor, service_role, stagedoor_reviewer;
