-- Whether an execution may hear of something in this workspace (fn_waits_wake says the rule). Internal.
create or replace function noetl.fn_wait_hears(p_execution_id bigint, p_workspace_id uuid, p_event_domain text) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce((
    select noetl.fn_wait_may_hear((e.meta ->> 'workspace_id')::uuid, p_workspace_id, p_event_domain)
      from noetl.event e where e.execution_id = p_execution_id and e.seq = 1), false)
$$;
