-- Amends what kind a unit is (U3), under an approval of its own: the one that the unit has already is not it. Metadata: it is
-- told like a change of the profile. Versions keep the kind that they were written as.
create or replace function iu_core.fn_unit_amend_kind(p_unit_id uuid, p_unit_kind text, p_apr_ref text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  u iu_core.information_unit;
begin
  perform iu_core.require_member(iu_core.fn_unit_workspace(p_unit_id), 'review');
  perform iu_core.fn_unit_apr_ref_check(p_apr_ref);
  if not exists (select from iu_core.unit_kind k where k.unit_kind = p_unit_kind) then
    raise exception using errcode = 'SD001', message = format('%L is not a kind of unit', p_unit_kind), hint = 'iu_core.unit_kind lists them.';
  end if;
  u := iu_core.fn_unit_metadata_lock(p_unit_id);
  if u.unit_kind = p_unit_kind then
    return;
  end if;
  update iu_core.information_unit set unit_kind = p_unit_kind, apr_ref = p_apr_ref where unit_id = p_unit_id;
  perform iu_core.fn_unit_emit(u, 'iu', 'unit_profile_changed', iu_core.fn_actor(), jsonb_build_object(
    'unit_id', p_unit_id, 'keys', array['unit_kind'], 'apr_ref', p_apr_ref));
end $$;

grant execute on function iu_core.fn_unit_amend_kind(uuid, text, text) to dot_executor, service_role, stagedoor_reviewer;
