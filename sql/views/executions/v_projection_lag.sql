-- How far the projection of each shard is, and which executions have ended and are still to be projected.
create or replace view noetl.v_projection_lag with (security_invoker = true) as
select p.shard_id, s.owner, s.epoch, p.last_projected_event_id, p.last_projected_at, p.lag_ms,
       (select count(*) from noetl.checkpoint c where c.shard_id = p.shard_id) as live,
       (select count(*) from noetl.checkpoint c where c.shard_id = p.shard_id and c.ended) as ended_not_projected
  from noetl.projection_checkpoint p
  join noetl.execution_shard s on s.shard_id = p.shard_id;

grant select on noetl.v_projection_lag to service_role, dot_executor;
