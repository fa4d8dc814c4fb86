-- The statement that makes one consumer's jobs of an array of events ($1), in their order: event ids and jobs of those that
-- can be passed on, event ids and reasons of those that cannot. A rate limit ($2: begun_at, $3: places used) puts jobs
-- beyond it off. p_again: also what came before the consumer began, or went wrong before. Internal.
-- Columns of the job go by name, so that a new one in the queue shifts nothing. The log is asked event by event: NOT EXISTS
-- would be planned as a join with the whole log wherever its statistics are older than a burst.
create or replace function iu_core.fn_consumer_job_sql(c iu_core.consumer_registry, p_again boolean) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_columns jsonb := jsonb_build_object(
    'job_kind', quote_literal(c.job_kind),
    'executor', quote_literal(c.executor),
    'priority', c.priority,
    'process_after', 'now()',
    'idempotency_key', 'r.key',
    'source_ref', 'r.canonical_address',
    'target_ref', 'r.event_subject_ref',
    'payload_ref', 'r.ref',
    'safe_payload', quote_literal(jsonb_build_object('consumer_id', c.consumer_id, 'event_type', c.event_type)),
    'workspace_id', 'r.workspace_id',
    'correlation_id', 'r.correlation_id',
    'causation_event_id', 'r.id',
    'causation_depth', 'r.causation_depth',
    'actor', quote_literal('consumer:' || c.consumer_id));
  v_row text;
  v_ref text := case when c.payload_ref_template is not null then iu_core.fn_consumer_template_sql(c.payload_ref_template, false) end;
  v_where text := 'true';
begin
  -- Deliveries to one target take turns with those to others by the target's name, which is the consumer's.
  if c.job_kind = 'webhook_deliver' and coalesce(c.payload_ref_template, '') not like 'webhook:%' then
    v_ref := quote_literal('webhook:' || c.consumer_id);
  end if;
  if c.rate is not null then
    v_columns := v_columns || jsonb_build_object('process_after', format(
      'greatest(now(), $2 + (($3 + count(*) filter (where r.problem is null) over (order by r.ordinality) - 1) / %s) * %L::interval)',
      c.rate, c.rate_period));
  end if;
  select string_agg(coalesce(v_columns ->> attname, 'null'), ', ' order by attnum) into v_row
    from pg_attribute where attrelid = 'iu_core.job_queue'::regclass and attnum > 0 and not attisdropped;
  if c.event_stream is not null then
    v_where := v_where || format(' and e.event_stream = %L', c.event_stream);
  end if;
  if c.workspace_id is not null then
    v_where := v_where || format(' and e.workspace_id = %L', c.workspace_id);
  end if;
  if not p_again then
    v_where := v_where || format(' and not pg_visible_in_snapshot(e.tx, %L)', c.active_from);
  end if;
  return format(
    $sql$
    select array_agg(j.id order by j.ordinality) filter (where j.problem is null) as event_ids,
           array_agg(j.job order by j.ordinality) filter (where j.problem is null) as jobs,
           array_agg(j.id order by j.ordinality) filter (where j.problem is not null) as problem_ids,
           array_agg(j.problem order by j.ordinality) filter (where j.problem is not null) as problems
      from (select r.id, r.ordinality, r.problem, row(%1$s)::iu_core.job_queue as job
              from (select k.*, case when k.causation_depth > %2$s then 'too_deep'
                                     when k.key is null then 'a field of the idempotency_key_template is NULL'
                                     when length(k.key) > 500 then 'the idempotency key has more than 500 characters'
                                     when %3$s then 'a field of the payload_ref_template is NULL' end as problem
                      from (select e.*, %4$L || %5$s as key, %6$s as ref
                              from unnest($1) with ordinality as e
                             where %7$s
                               and (select l.outcome from iu_core.event_dispatch_log l
                                     where l.event_id = e.id and l.consumer_id = %8$L and %9$s) is null) as k) as r) as j
    $sql$,
    v_row, c.max_depth,
    case when v_ref is null then 'false' else 'k.ref is null' end,
    c.consumer_id || ':', iu_core.fn_consumer_template_sql(c.idempotency_key_template, true),
    coalesce(v_ref, 'null::text'),
    v_where, c.consumer_id,
    case when p_again then 'l.outcome in (''enqueued'', ''duplicate'')' else 'true' end);
end $$;
