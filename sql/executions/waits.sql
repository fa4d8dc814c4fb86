-- Waits of steps for events, times and approvals.

-- Wakes the steps whose wait is over: the event came, the record was decided, or the time is up. Each wait once: its row
-- becomes an inbox row. Returns how many. One caller at a time does the work; any other returns 0.
--
-- No wake is lost. Events are read in commit order through the reader 'executions', and a wait takes part from the first
-- statement that sees it. What was committed between its beginning (since) and then, the wait searches once itself (caught_up).
-- Events not yet visible to that search are not yet read by the reader either, because its position is older.
--
-- The reader exists only while there are waits for events or approvals: one that nobody advances would keep every partition of
-- the outbox. A new reader begins now, and all waits search the past themselves.
--
-- An execution of a workspace receives the events of that workspace and the system events without a workspace, as its members
-- do; an execution without a workspace receives all. Its workspace is read from its log, because the projection is behind.
--
-- lock_timeout: a flush that deletes waits holds their rows. Shorter than the server's deadlock_timeout, so that this function
-- always gives way; it has then changed nothing, and the next call finds everything as before.
create or replace function noetl.fn_waits_wake(p_limit integer default 1000) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '500ms'
as $$
declare
  v_woken integer := 0;
begin
  if p_limit is null or p_limit < 1 or p_limit > 100000 then
    raise exception using errcode = 'SD001', message = 'The limit must be from 1 to 100000';
  end if;
  if not pg_try_advisory_xact_lock(hashtextextended('stagedoor.waits', 0)) then
    return 0;
  end if;
  begin
    -- One kind after the other, each by its own index: there may be many timers.
    if exists (select from noetl.wait where kind = 'event') or exists (select from noetl.wait where kind = 'approval') then
      if iu_core.fn_event_reader_register('executions') then
        update noetl.wait set caught_up = false where kind <> 'timer' and caught_up;
      end if;
      v_woken := noetl.fn_waits_read_events(p_limit);
      v_woken := v_woken + noetl.fn_waits_catch_up();
    else
      perform iu_core.fn_event_reader_delete('executions');
    end if;
    v_woken := v_woken + noetl.fn_waits_time_out(p_limit);
  exception when lock_not_available then
    return 0;
  end;
  return v_woken;
end $$;

grant execute on function noetl.fn_waits_wake(integer) to dot_executor;

-- Milliseconds until fn_waits_wake has something to do, as far as times tell: 0 while there are waits for events or approvals, or a
-- reader that nobody needs any more; null if nothing waits.
create or replace function noetl.fn_waits_due_in() returns integer
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select case
    when exists (select from noetl.wait where kind = 'event') or exists (select from noetl.wait where kind = 'approval')
      or exists (select from iu_core.event_reader where reader = 'executions') then 0
    else (select least(greatest(ceil(extract(epoch from w.wake_at - clock_timestamp()) * 1000), 0), 86400000)::integer
            from noetl.wait w where w.wake_at is not null order by w.wake_at limit 1) end
$$;

grant execute on function noetl.fn_waits_due_in() to dot_executor;

-- Reads the next events of the outbox and ends the waits that they match. Internal, see fn_waits_wake. At most ten pages for
-- each call: after a long pause the rest follows with the next calls.
create or replace function noetl.fn_waits_read_events(p_limit integer) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_events iu_core.event_outbox[];
  v_ended integer := 0;
begin
  for v_page in 1..10 loop
    v_events := array(select e from iu_core.fn_event_read('executions', p_limit) as e);
    exit when cardinality(v_events) = 0;
    -- A statement of its own: it sees whatever the transactions of these events wrote, above all the decided records.
    v_ended := v_ended + noetl.fn_waits_match_events(v_events);
    exit when cardinality(v_events) < p_limit;
  end loop;
  return v_ended;
end $$;

-- Waits that are seen for the first time search the past once: the current status of a record whose decision they want, and the
-- outbox, from the time to which they look back (since_at) and everything committed since they began. By index: events with a
-- subject are looked up for each wait that names one, the others are read once for all waits of their type. Internal, see
-- fn_waits_wake. New waits are found and marked in one statement, and the outbox is read after it: a wait that commits
-- meanwhile is left to the next call, an event that does is only found earlier.
create or replace function noetl.fn_waits_catch_up() returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  c_page constant integer := 1000;
  v_executions bigint[];
  v_nodes text[];
  v_bodies jsonb[];
  v_from xid8;
  v_in_progress xid8[];
  v_subjects bigint[];
  v_types jsonb;
  v_event iu_core.event_outbox;
  v_past iu_core.event_outbox[] := '{}';
  v_ended integer;
begin
  with fresh as (
    update noetl.wait set caught_up = true where not caught_up and kind <> 'timer' returning *
  ), decided as (
    -- A record that does not exist, or that this execution may not see, will never be decided.
    select w.execution_id, w.node_id,
           noetl.fn_wait_event_body(
             case when r.lifecycle_status = 'pending' then 'changes_requested' else coalesce(noetl.fn_wait_record_outcome(r), 'withdrawn') end,
             null, w.staging_record_id::text,
             jsonb_strip_nulls(jsonb_build_object('staging_record_id', r.staging_record_id, 'lifecycle_status', r.lifecycle_status,
                                                  'content_hash', r.content_hash))) as body
      from fresh w
      left join iu_core.iu_staging_record r
        on r.staging_record_id = w.staging_record_id and noetl.fn_wait_execution_accepts(w.execution_id, r.workspace_id, 'staging')
     where w.kind = 'approval' and (r.lifecycle_status is distinct from 'pending' or noetl.fn_wait_changes_requested(r))
  )
  select array(select d.execution_id from decided d), array(select d.node_id from decided d), array(select d.body from decided d),
         (select min(pg_snapshot_xmax(w.since)) from fresh w where w.kind = 'event'),
         array(select distinct x.tx from fresh w cross join lateral pg_snapshot_xip(w.since) as x (tx) where w.kind = 'event'),
         array(select distinct w.execution_id from fresh w where w.kind = 'event' and w.subject is not null and w.since_at is not null),
         (select jsonb_agg(to_jsonb(t)) from (
            select w.event_domain, w.event_type, min(w.since_at) as since_at from fresh w
             where w.kind = 'event' and w.subject is null and w.since_at is not null group by 1, 2) as t)
    into v_executions, v_nodes, v_bodies, v_from, v_in_progress, v_subjects, v_types;
  v_ended := noetl.fn_waits_end(v_executions, v_nodes, v_bodies);
  if v_from is null then
    return v_ended;
  end if;
  v_ended := v_ended + noetl.fn_waits_match_past_events(v_subjects, v_types);
  for v_event in
    -- Of all fresh waits together: transactions that began after the first of them, and those that one saw in progress.
    select p.* from (
      select e.* from iu_core.event_outbox e where e.tx >= v_from
      union all
      select e.* from iu_core.event_outbox e where e.tx = any (v_in_progress) and e.tx < v_from) as p
     where (p.event_domain, p.event_type) in (select w.event_domain, w.event_type from noetl.wait w where w.kind = 'event')
     order by p.tx, p.seq
  loop
    v_past := v_past || v_event;
    if cardinality(v_past) = c_page then
      v_ended := v_ended + noetl.fn_waits_match_events(v_past);
      v_past := '{}';
    end if;
  end loop;
  return v_ended + case when cardinality(v_past) > 0 then noetl.fn_waits_match_events(v_past) else 0 end;
end $$;

-- The inbox body for a step that waited. Internal.
create or replace function noetl.fn_wait_event_body(p_status text, p_event_id uuid, p_subject text, p_payload jsonb) returns jsonb
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_strip_nulls(jsonb_build_object('status', p_status, 'event_id', p_event_id, 'subject', p_subject))
         || jsonb_build_object('payload', p_payload)
$$;

-- The outcome of a decided record for a wait for its approval. Staging calls the owner's own rejection a withdrawal. Internal.
create or replace function noetl.fn_wait_record_outcome(r iu_core.iu_staging_record) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case when r.lifecycle_status = 'rejected' and r.rejected_reason = 'withdrawn' and r.rejected_by = r.owner_actor
              then 'withdrawn' else r.lifecycle_status end
$$;

-- Whether a reviewer wants something else of a request for approval: whoever asked need not wait for more. A wait for any other record waits
-- on, as its owner may answer. Internal.
create or replace function noetl.fn_wait_changes_requested(r iu_core.iu_staging_record) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when r.staging_kind = 'approval' and r.lifecycle_status = 'pending'
              then iu_core.fn_change_changes_requested('record', r.staging_record_id, r.content_hash) else false end
$$;

-- Whether an execution may receive events of this workspace; the rule is in fn_waits_wake. Internal.
create or replace function noetl.fn_wait_execution_accepts(p_execution_id bigint, p_workspace_id uuid, p_event_domain text) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce((
    select noetl.fn_wait_accepts((e.meta ->> 'workspace_id')::uuid, p_workspace_id, p_event_domain)
      from noetl.event e where e.execution_id = p_execution_id and e.seq = 1), false)
$$;

-- Whether an execution of a workspace, or of none, may receive events of another; the rule is in fn_waits_wake. Internal. Uses
-- pg_catalog operators by name rather than a search path, so that it can be inlined.
create or replace function noetl.fn_wait_accepts(p_own uuid, p_workspace_id uuid, p_event_domain text) returns boolean
language sql immutable parallel safe
return p_own is null or p_own operator(pg_catalog.=) p_workspace_id
       or (p_workspace_id is null and p_event_domain operator(pg_catalog.=) 'system');

-- Ends new waits by past events, since the time to which each looks back. p_executions: executions of waits that name a
-- subject. p_types: [{event_domain, event_type, since_at}] of waits without a subject, read once for all of them. Internal, see
-- fn_waits_catch_up.
--
-- Everything by the index event_outbox_awaited. Ids are times; one second of tolerance covers the difference between a row's id
-- and its created_at. The settings: the planner knows neither how many wait nor how many events there are.
create or replace function noetl.fn_waits_match_past_events(p_executions bigint[], p_types jsonb) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  c_page constant integer := 1000;
  v_executions bigint[];
  v_nodes text[];
  v_bodies jsonb[];
  v_event iu_core.event_outbox;
  v_past iu_core.event_outbox[] := '{}';
  v_ended integer := 0;
begin
  if cardinality(p_executions) > 0 then
    select array_agg(w.execution_id), array_agg(w.node_id),
           array_agg(noetl.fn_wait_event_body('received', e.id, e.event_subject_ref, e.safe_payload))
      into v_executions, v_nodes, v_bodies
      from unnest(p_executions) as x (execution_id)
      join noetl.wait w on w.execution_id = x.execution_id and w.kind = 'event' and w.subject is not null and w.since_at is not null
     cross join lateral (
       select e.* from iu_core.event_outbox e
        where e.event_domain = w.event_domain and e.event_type = w.event_type and e.event_subject_ref = w.subject
          and e.id >= iu_core.fn_time_uuid_floor(w.since_at - interval '1 second')
          and e.created_at >= w.since_at
          and (w.match is null or e.safe_payload @> w.match)
          and (not pg_visible_in_snapshot(e.tx, w.since) or e.created_at >= w.since_at and not noetl.fn_wait_was_woken_by(w.execution_id, e.id))
          and noetl.fn_wait_execution_accepts(w.execution_id, e.workspace_id, e.event_domain)
        order by e.tx, e.seq limit 1) as e;
    v_ended := noetl.fn_waits_end(v_executions, v_nodes, v_bodies);
  end if;
  for v_event in
    select e.* from jsonb_to_recordset(p_types) as t (event_domain text, event_type text, since_at timestamptz)
     cross join lateral (
       select e.* from iu_core.event_outbox e
        where e.event_domain = t.event_domain and e.event_type = t.event_type
          and e.id >= iu_core.fn_time_uuid_floor(t.since_at - interval '1 second') and e.created_at >= t.since_at offset 0) as e
     order by e.tx, e.seq
  loop
    v_past := v_past || v_event;
    if cardinality(v_past) = c_page then
      v_ended := v_ended + noetl.fn_waits_match_events(v_past);
      v_past := '{}';
      exit when not exists (
        select from jsonb_to_recordset(p_types) as t (event_domain text, event_type text)
         cross join lateral (select from noetl.wait w where w.kind = 'event' and w.event_domain = t.event_domain
                                and w.event_type = t.event_type and w.subject is null limit 1) as w);
    end if;
  end loop;
  if cardinality(v_past) > 0 then
    v_ended := v_ended + noetl.fn_waits_match_events(v_past);
  end if;
  return v_ended;
end $$;

-- Whether the event woke a wait of this execution before: waits that look back do not receive it again. Internal.
create or replace function noetl.fn_wait_was_woken_by(p_execution_id bigint, p_event_id uuid) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (select from noetl.wait_received_event h where h.execution_id = p_execution_id and h.event_id = p_event_id)
$$;

-- Ends the waits that these events match, each by the first matching event; returns how many. Internal, see fn_waits_wake.
--
-- The work is proportional to events and waits, not to their pairs, which are millions if thousands wait for one type. Waits
-- with a subject are looked up by it. Waits with payload values are joined by the value that the fewest of these events have.
-- Only waits with neither are compared with every event of their type, until the first match.
--
-- The settings: the planner knows neither how many events are given nor how many wait. Rows of tables are looked up by index,
-- by the laterals (offset 0 keeps them apart); the results are joined by hash.
create or replace function noetl.fn_waits_match_events(p_events iu_core.event_outbox[]) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_nestloop = off
set enable_seqscan = off
set jit = off
as $$
declare
  v_executions bigint[];
  v_nodes text[];
  v_bodies jsonb[];
begin
  with incoming as materialized (
    select * from unnest(p_events) with ordinality as e
  ), payload_value as materialized (
    select e.ordinality, e.event_domain, e.event_type, m.key, m.value
      from incoming e cross join lateral jsonb_each(case jsonb_typeof(e.safe_payload) when 'object' then e.safe_payload end) as m
  ), often as (
    select s.event_domain, s.event_type, s.key, s.value, count(*) as events from payload_value s group by 1, 2, 3, 4
  ), waiting as materialized (
    select w.*
      from (select distinct e.event_domain, e.event_type from incoming e) as t
     cross join lateral (select * from noetl.wait w
                          where w.kind = 'event' and w.event_domain = t.event_domain and w.event_type = t.event_type
                            and w.subject is null offset 0) as w
  ), needed_value as materialized (
    -- Of what is in a list or an object only the match itself says whether it is there.
    select distinct on (w.execution_id, w.node_id) w.execution_id, w.node_id, m.key, m.value, o.events
      from waiting w
     cross join lateral jsonb_each(case jsonb_typeof(w.match) when 'object' then w.match end) as m
      left join often o on o.event_domain = w.event_domain and o.event_type = w.event_type and o.key = m.key and o.value = m.value
     where jsonb_typeof(m.value) not in ('object', 'array')
     order by w.execution_id, w.node_id, o.events nulls first
  ), waiter as materialized (
    select w.*, n.key, n.value, own.workspace_id
      from waiting w
      left join needed_value n on n.execution_id = w.execution_id and n.node_id = w.node_id
     cross join lateral (select (b.meta ->> 'workspace_id')::uuid as workspace_id from noetl.event b
                          where b.execution_id = w.execution_id and b.seq = 1 offset 0) as own
     where n.key is null or n.events > 0
  ), matched as (
    select w.execution_id, w.node_id, e.ordinality, 'received' as status
      from incoming e
     cross join lateral (select * from noetl.wait w
                          where w.kind = 'event' and w.event_domain = e.event_domain and w.event_type = e.event_type
                            and w.subject = e.event_subject_ref offset 0) as w
     where (w.match is null or e.safe_payload @> w.match)
       and (not pg_visible_in_snapshot(e.tx, w.since) or e.created_at >= w.since_at and not noetl.fn_wait_was_woken_by(w.execution_id, e.id))
       and noetl.fn_wait_execution_accepts(w.execution_id, e.workspace_id, e.event_domain)
    union all
    select w.execution_id, w.node_id, e.ordinality, 'received'
      from payload_value s
      join waiter w on w.event_domain = s.event_domain and w.event_type = s.event_type and w.key = s.key and w.value = s.value
      join incoming e on e.ordinality = s.ordinality
     where e.safe_payload @> w.match
       and (not pg_visible_in_snapshot(e.tx, w.since) or e.created_at >= w.since_at and not noetl.fn_wait_was_woken_by(w.execution_id, e.id))
       and noetl.fn_wait_accepts(w.workspace_id, e.workspace_id, e.event_domain)
    union all
    select w.execution_id, w.node_id, e.ordinality, 'received'
      from waiter w
     cross join lateral (
       select e.ordinality from incoming e
        where e.event_domain = w.event_domain and e.event_type = w.event_type
          and (w.match is null or e.safe_payload @> w.match)
          and (not pg_visible_in_snapshot(e.tx, w.since) or e.created_at >= w.since_at and not noetl.fn_wait_was_woken_by(w.execution_id, e.id))
          and noetl.fn_wait_accepts(w.workspace_id, e.workspace_id, e.event_domain)
        order by e.ordinality limit 1) as e
     where w.key is null
    union all
    select w.execution_id, w.node_id, e.ordinality, d.outcome
      from incoming e
     cross join lateral (select case when e.event_subject_ref ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
                                     then e.event_subject_ref::uuid end) as s (record_id)
     cross join lateral (select * from noetl.wait w where w.kind = 'approval' and w.staging_record_id = s.record_id offset 0) as w
      left join lateral (select * from iu_core.iu_staging_record r where r.staging_record_id = s.record_id offset 0) as r on true
     -- The event counts only if the record agrees: others can emit events too.
     cross join lateral (select case e.event_type
         when 'record_approved' then case when r.approved_at is not null then 'approved' end
         when 'record_rejected' then case when r.rejected_at is not null then noetl.fn_wait_record_outcome(r) end
         when 'record_expired' then case when r.expired_at is not null then 'expired' end
         when 'record_consumed' then case when r.consumed_at is not null then 'consumed' end
         when 'record_cleaned' then case when r.cleaned_at is not null then 'cleaned' end
         when 'record_changes_requested' then case when noetl.fn_wait_changes_requested(r) then 'changes_requested' end
         when 'record_unregistered' then case when r.staging_record_id is null then 'withdrawn' end end) as d (outcome)
     where e.event_domain = 'staging' and d.outcome is not null
       and not pg_visible_in_snapshot(e.tx, w.since)
       and noetl.fn_wait_execution_accepts(w.execution_id, e.workspace_id, e.event_domain)
  ), first as (
    select distinct on (m.execution_id, m.node_id) m.* from matched m order by m.execution_id, m.node_id, m.ordinality
  )
  select array_agg(f.execution_id), array_agg(f.node_id),
         array_agg(noetl.fn_wait_event_body(f.status, e.id, e.event_subject_ref, e.safe_payload))
    into v_executions, v_nodes, v_bodies
    from first f join incoming e on e.ordinality = f.ordinality;
  return noetl.fn_waits_end(v_executions, v_nodes, v_bodies);
end $$;

-- Ends the waits whose time has come: timers, and timeouts of others. Internal, see fn_waits_wake. Rows that a flush has locked
-- are left to the next call. A timeout is postponed while there are unread events: the awaited one may be among them, and came
-- in time.
create or replace function noetl.fn_waits_time_out(p_limit integer) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Computed once: an index cannot use a volatile function.
  v_now timestamptz := clock_timestamp();
  v_behind boolean := exists (select from iu_core.event_reader where reader = 'executions' and target is not null);
  v_executions bigint[];
  v_nodes text[];
  v_bodies jsonb[];
begin
  select array_agg(w.execution_id), array_agg(w.node_id),
         array_agg(jsonb_build_object('status', case w.kind when 'timer' then 'elapsed' else 'timed_out' end))
    into v_executions, v_nodes, v_bodies
    from (select execution_id, node_id, kind from noetl.wait
           where wake_at <= v_now and (kind = 'timer' or not v_behind)
           order by wake_at limit p_limit
             for update skip locked) as w;
  return noetl.fn_waits_end(v_executions, v_nodes, v_bodies);
end $$;

-- Ends waits: each row that still exists becomes an inbox row with its body. Returns how many. Internal. Locks in the order of
-- keys, as every function that locks several.
create or replace function noetl.fn_waits_end(p_executions bigint[], p_nodes text[], p_bodies jsonb[]) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ended integer;
  v_shards text;
begin
  if coalesce(cardinality(p_executions), 0) = 0 then
    return 0;
  end if;
  with held as materialized (
    -- With a request for approval comes who decided what and why, and what was filled in.
    select w.execution_id, w.node_id,
           given.body || coalesce(case when w.kind = 'approval' then (
             select jsonb_build_object('decision', o) from iu_core.fn_approval_outcome(w.staging_record_id) o where o is not null) end, '{}') as body
      from unnest(p_executions, p_nodes, p_bodies) as given (execution_id, node_id, body)
      join noetl.wait w on w.execution_id = given.execution_id and w.node_id = given.node_id
     order by w.execution_id, w.node_id
       for update of w
  ), removed as (
    delete from noetl.wait w using held h
     where w.execution_id = h.execution_id and w.node_id = h.node_id
    returning w.execution_id, w.shard_id, w.node_id, h.body
  ), recorded as (
    insert into noetl.wait_received_event (execution_id, event_id)
    select distinct g.execution_id, (g.body ->> 'event_id')::uuid from removed g where g.body ? 'event_id'
    on conflict do nothing
  ), delivered as (
    insert into noetl.inbox (execution_id, shard_id, kind, body)
    select g.execution_id, g.shard_id, 'woken', jsonb_build_object('node_id', g.node_id) || g.body from removed g
  )
  select count(*), string_agg(distinct g.shard_id::text, ',') into v_ended, v_shards from removed g;
  if v_shards is not null then
    perform pg_notify('stagedoor', 'inbox ' || v_shards);
  end if;
  return v_ended;
end $$;

-- The time from which a wait receives events: the beginning of its execution, or of an entry of the step that it names.
-- Internal. An execution begins when its start is requested, which its id says; by the database's clock the log of an execution
-- requested by another process may be older. Read by seq: the entry's first row ends the search.
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
