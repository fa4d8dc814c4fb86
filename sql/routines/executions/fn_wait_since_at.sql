-- From when on a wait hears events: the beginning of its execution, or of an entry of a step that it names. Internal.
-- An execution begins when its start is asked for, which its id says; the log of one that another process asked for may be older
-- by the database's clock. Read by seq: the entry's first row ends the search.
create or replace function noetl.fn_wait_since_at(p_execution_id bigint, p_node_id text default null) returns timestamptz
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(
    case when p_node_id is not null then
      (select e.created_at from noetl.event e where e.execution_id = p_execution_id and e.node_id = p_node_id order by e.seq limit 1) end,
    least(noetl.fn_snowflake_time(p_execution_id),
          (select e.created_at from noetl.event e where e.execution_id = p_execution_id and e.seq = 1)))
$$;
