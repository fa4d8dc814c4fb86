-- A second person has looked at the evidence: at so many statements, of the definition with this revision. Not the
-- registrant, and not without evidence.
create or replace function iu_core.fn_sql_route_review(
  p_route_code text, p_evidence integer, p_actor text default null, p_revision integer default null
) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_route iu_core.iu_sql_event_route;
  v_actor record;
  v_kept integer;
  v_reason text;
begin
  perform iu_core.require_member(iu_core.fn_sql_route_workspace(p_route_code), 'review');
  v_actor := iu_core.fn_actor_for(p_actor);
  v_route := iu_core.fn_sql_route_find(p_route_code);
  select count(*) into v_kept from iu_core.iu_sql_event_route_evidence
   where route_code = p_route_code and revision = v_route.revision;
  v_reason := case
    when not v_route.enabled then 'it is disabled; it is reviewed by the evidence of its dry run'
    when not v_route.dry_run then 'it is active already'
    when p_revision <> v_route.revision
      then format('it was changed since: what you looked at was revision %s, now it is %s', p_revision, v_route.revision)
    when v_kept = 0 then 'its dry run has seen no statement yet'
    when p_evidence is null or p_evidence < 1 then 'nobody reviews what they have not looked at'
    -- From a hundred on the oldest are let go, and one may have seen more than are left.
    when v_kept < 100 and p_evidence > v_kept
      then format('there is evidence of %s only, not of %s', case v_kept when 1 then '1 statement' else v_kept || ' statements' end, p_evidence)
  end;
  if v_reason is not null then
    raise exception using
      errcode = 'SD313',
      message = format('The route %s cannot be reviewed: %s', p_route_code, v_reason),
      detail = json_build_object('route', p_route_code, 'reason', v_reason)::text;
  end if;
  begin
    update iu_core.iu_sql_event_route
       set reviewed_by = v_actor.actor, reviewed_via = v_actor.via, reviewed_at = clock_timestamp(), evidence_seen = p_evidence
     where route_code = p_route_code;
  exception when check_violation then
    raise exception using
      errcode = 'SD314',
      message = format('%s registered the route %s; somebody else must review it', v_actor.actor, p_route_code),
      detail = json_build_object('route', p_route_code, 'actor', v_actor.actor)::text;
  end;
  perform iu_core.fn_sql_route_tell(p_route_code, 'reviewed', p_actor);
end $$;

grant execute on function iu_core.fn_sql_route_review(text, integer, text, integer) to stagedoor_reviewer, service_role;
