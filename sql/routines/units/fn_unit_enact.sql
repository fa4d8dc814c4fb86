-- A draft is in force: exactly the version that whoever decides has read, under the approval that they name. From then on its
-- content is locked, for everybody.
create or replace function iu_core.fn_unit_enact(p_unit_id uuid, p_expected_version integer, p_apr_ref text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  u iu_core.information_unit;
begin
  perform iu_core.require_member(iu_core.fn_unit_workspace(p_unit_id), 'review');
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
  perform iu_core.fn_unit_lifecycle_log(array[p_unit_id], 'draft', 'enacted', iu_core.fn_actor(), p_apr_ref => p_apr_ref);
end $$;

grant execute on function iu_core.fn_unit_enact(uuid, integer, text) to dot_executor, service_role, stagedoor_reviewer;
