-- Whether an execution of a workspace, or of none, may hear of something in another (fn_waits_wake says the rule). Internal.
-- Bound to its operators here rather than by a search path, so that it can be inlined.
create or replace function noetl.fn_wait_may_hear(p_own uuid, p_workspace_id uuid, p_event_domain text) returns boolean
language sql immutable parallel safe
return p_own is null or p_own operator(pg_catalog.=) p_workspace_id
       or (p_workspace_id is null and p_event_domain operator(pg_catalog.=) 'system');
