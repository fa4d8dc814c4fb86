-- A draft is in force: exactly the version that whoever decides has read, under the approval that they name. From then on its
-- content is locked, for everybody.
-- p_actor: the person whose decision a back-end service carries out; reviewers name nobody, or themselves.
create or replace function iu_core.fn_unit_enact(p_unit_id uuid, p_expected_version integer, p_apr_ref text, p_actor text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record;
  u iu_core.information_unit;
begin
  perform iu_core.fn_unit_require_member(p_unit_id, 'review');
  v_actor := iu_core.fn_unit_decided_by(p_actor);
  perform iu_core.fn_unit_apr_ref_check(p_apr_ref);
  if p_expected_version is null then
    raise exception using errcode = 'SD001', message = 'Whoever enacts a unit names the version that they have read';
  end if;
  select * into u from iu_core.information_unit where unit_id = p_unit_id for no key update;
  if u.lifecycle_status <> 'draft' or u.deleted_at is not null then
    perform iu_core.fn_unit_refuse_transition(u, 'enacted');
  end if;
  perform iu_core.fn_unit_expect_version(u, p_expected_version);
  update iu_core.information_unit set lifecycle_status = 'enacted', apr_ref = p_apr_ref where unit_id = p_unit_id;
  perform iu_core.fn_vector_enqueue(array[p_unit_id], 'patch');
  perform iu_core.fn_unit_lifecycle_log(array[p_unit_id], 'draft', 'enacted', v_actor.actor, v_actor.via, p_apr_ref);
end $$;

grant execute on function iu_core.fn_unit_enact(uuid, integer, text, text) to dot_executor, service_role, stagedoor_reviewer;
