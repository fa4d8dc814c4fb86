-- Of each route the newest hundred failures are kept, the others only counted; keys go with the events that they guard,
-- after 90 days. Internal.
create or replace function iu_core.fn_sql_route_forget() returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  with old as (
    delete from iu_core.iu_sql_event_route_failure f
     where f.failure_id < (select min(failure_id) from (
             select n.failure_id from iu_core.iu_sql_event_route_failure n
              where n.route_code = f.route_code order by n.failure_id desc limit 100) newest)
    returning f.route_code
  ), counted as (
    select o.route_code, count(*) as failures from old o group by o.route_code
  )
  update iu_core.iu_sql_event_route r set failures_before = r.failures_before + c.failures
    from counted c where r.route_code = c.route_code;
  delete from iu_core.iu_sql_event_route_key where event_id < iu_core.fn_time_uuid_floor(now() - interval '90 days');
$$;
