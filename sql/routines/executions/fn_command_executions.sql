-- The first executions behind an id, and not behind another, that have commands: from one to the next by index, whatever the
-- number of commands. Internal.
create or replace function noetl.fn_command_executions(p_after bigint, p_until bigint, p_limit integer) returns bigint[]
language sql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
  with recursive execution as (
    select (select min(c.execution_id) from noetl.command c where c.execution_id > p_after and c.execution_id <= p_until) as id
    union all
    select (select min(c.execution_id) from noetl.command c where c.execution_id > x.id and c.execution_id <= p_until)
      from execution x where x.id is not null
  )
  select array(select id from execution x
                where id is not null and not exists (select from noetl.checkpoint k where k.execution_id = x.id and k.paused)
                limit p_limit)
$$;
