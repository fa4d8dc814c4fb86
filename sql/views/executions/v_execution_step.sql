-- Each entry of a step as its log has it: one row a node_id, with its latest status. Ask for one execution: it is read from
-- the whole log; how far a loop is, the projection's state says.
create or replace view noetl.v_execution_step with (security_invoker = true) as
select distinct on (e.execution_id, e.node_id)
       e.execution_id, e.node_id, e.node_name, e.event_type as last_event_type, e.status, e.attempt, e.loop_id,
       min(e.created_at) over (partition by e.execution_id, e.node_id) as entered_at,
       e.ended_at, e.waits_for, e.error, e.result, e.seq as last_seq, e.event_id as last_event_id
  from noetl.v_execution_entry e
 order by e.execution_id, e.node_id, e.seq desc;

grant select on noetl.v_execution_step to authenticated, stagedoor_agent, stagedoor_reviewer, service_role, dot_executor;
