-- The waits of a flush: some are over before they were woken (their execution ended), others begin. Internal.
create or replace function noetl.fn_execution_flush_waits(p_batch jsonb) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  -- Locked in the order of their key, as by those who wake them.
  with gone as materialized (
    select w.execution_id, w.node_id from noetl.wait w
      join jsonb_to_recordset(p_batch -> 'waits_gone') as g (execution_id bigint, node_id text)
        on w.execution_id = g.execution_id and w.node_id = g.node_id
     order by w.execution_id, w.node_id for update of w
  )
  delete from noetl.wait w using gone where w.execution_id = gone.execution_id and w.node_id = gone.node_id;
  insert into noetl.wait (execution_id, node_id, shard_id, kind, wake_at, event_domain, event_type, subject, match, staging_record_id, since_at)
  select n.execution_id, n.node_id, noetl.fn_shard_of(n.execution_id), n.kind, n.wake_at, n.event_domain, n.event_type, n.subject, n.match,
         n.staging_record_id, case when n.kind = 'event' then noetl.fn_wait_since_at(n.execution_id, n.since_node) end
    from jsonb_to_recordset(p_batch -> 'waits') as n (
      execution_id bigint, node_id text, kind text, wake_at timestamptz, event_domain text, event_type text, subject text, match jsonb,
      staging_record_id uuid, since_node text)
$$;
