-- Each change of the lifecycle is logged for good and told: iu.unit_lifecycle_changed, and piece.piece_deprecated where a unit is
-- retired, but not where it only comes back as that. Takes units that changed in the same way together; without a change set
-- each is one of its own, named after its event. Internal: whoever calls it has made the change, and checked who acts.
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
-- Planned for each array anew it takes three times as long.
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
