-- What a route in its present definition would have sent, newest statement first.
create or replace function iu_core.fn_sql_route_evidence(p_route_code text, p_limit integer default 20)
returns setof iu_core.iu_sql_event_route_evidence
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(iu_core.fn_sql_route_workspace(p_route_code), 'read');
  return query
    select e.* from iu_core.iu_sql_event_route_evidence e
      join iu_core.iu_sql_event_route r on r.route_code = e.route_code and r.revision = e.revision
     where e.route_code = p_route_code
     order by e.evidence_id desc limit least(greatest(p_limit, 0), 1000);
end $$;

grant execute on function iu_core.fn_sql_route_evidence(text, integer) to authenticated, stagedoor_reviewer, service_role, dot_executor;
