-- What a consumer in dry run would have made, newest first, as far as the caller may see its events.
create or replace function iu_core.fn_consumer_evidence(p_consumer_id text, p_limit integer default 100)
returns table (event_id uuid, idempotency_key text, payload_ref text, problem text, dispatched_at timestamptz)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select l.event_id, l.detail ->> 'idempotency_key', l.detail ->> 'payload_ref', l.detail ->> 'problem', l.dispatched_at
    from iu_core.event_dispatch_log l
    join iu_core.consumer_registry c on c.consumer_id = l.consumer_id
   where l.consumer_id = p_consumer_id and l.outcome = 'dry_run' and l.dispatched_at >= c.registered_at
   order by l.dispatched_at desc, l.event_id desc limit p_limit
$$;

grant execute on function iu_core.fn_consumer_evidence(text, integer) to
  authenticated, stagedoor_reviewer, service_role, dot_executor;
