-- Keeps the newest evidence of a route: 100 statements, and some more until the next trim. Now and then, in the
-- transaction of whoever wrote last; what another is just trimming is left to them. Internal.
create or replace function iu_core.fn_sql_route_evidence_trim(p_route_code text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if currval('iu_core.iu_sql_event_route_evidence_evidence_id_seq') % 20 <> 0 then
    return;
  end if;
  delete from iu_core.iu_sql_event_route_evidence
   where evidence_id in (
     select evidence_id from iu_core.iu_sql_event_route_evidence e
      where e.route_code = p_route_code
        and e.evidence_id < (select min(evidence_id) from (
              select evidence_id from iu_core.iu_sql_event_route_evidence
               where route_code = p_route_code order by evidence_id desc limit 100) newest)
      for update skip locked);
exception when object_not_in_prerequisite_state then
  null; -- A statement without rows wrote no evidence, and this session has no current value yet.
end $$;
