-- Waits for events, times and approvals.

-- Wakes the steps that have waited long enough: whose event came, whose record was decided, whose time is up. Each wait
-- once: its row becomes an inbox row. Returns how many. One caller at a time does the work, any other goes on with 0.
--
-- No wake is lost. Events are read in commit order through the reader 'executions', and a wait takes part in it from the
-- statement on that first sees it. What was committed between its beginning (since) and then, it looks through itself,
-- once (caught_up); what is not yet visible to that look is not yet read by the reader either, for its position is older.
--
-- The reader is there only while somebody waits for events or approvals: one that nobody moves would keep every partition
-- of the outbox. Where it is missing it begins now, and all waits look through the past for themselves.
--
-- An execution of a workspace hears that workspace's events, and of those without one only what the system says, as its
-- members do; one that belongs to no workspace hears all. Its workspace is read from its log: the projection comes later.
--
-- lock_timeout: a flush that drops waits holds their rows. Shorter than the server's deadlock_timeout, so that it is always
-- this function that gives way; it has then changed nothing, and the next call finds everything as it was.
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
      v_woken := noetl.fn_waits_hear(p_limit);
      v_woken := v_woken + noetl.fn_waits_catch_up();
    else
      perform iu_core.fn_event_reader_remove('executions');
    end if;
    v_woken := v_woken + noetl.fn_waits_time_out(p_limit);
  exception when lock_not_available then
    return 0;
  end;
  return v_woken;
end $$;

grant execute on function noetl.fn_waits_wake(integer) to dot_executor;

-- Reads on in the outbox and ends the waits that it finds events for. Internal, see fn_waits_wake.
-- At most ten pages a call: after a long pause the rest comes with the next.
create or replace function noetl.fn_waits_hear(p_limit integer) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_heard iu_core.event_outbox[];
  v_ended integer := 0;
begin
  for v_page in 1..10 loop
    v_heard := array(select e from iu_core.fn_event_read('executions', p_limit) as e);
    exit when cardinality(v_heard) = 0;
    -- A statement of its own: it sees whatever the transactions of these events wrote, above all the decided records.
    v_ended := v_ended + noetl.fn_waits_tell(v_heard);
    exit when cardinality(v_heard) < p_limit;
  end loop;
  return v_ended;
end $$;

-- Waits that are seen for the first time look through what was committed since they began, each once: the present state of a
-- record that they want decided, and the outbox: from the time on that they look back to (since_at), and whatever was committed
-- since they began. By index: events about a subject are looked up for each wait that names one, the others are read once for
-- all waits of their type. Internal, see fn_waits_wake. Found and marked in one statement, and the
-- outbox is read after it: one that commits meanwhile waits for the next call, an event that does is only heard earlier.
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
    -- A record that is not there, or not for this execution to see, will never be decided.
    select w.execution_id, w.node_id,
           noetl.fn_wait_event_body(
             coalesce(noetl.fn_wait_record_outcome(r), 'withdrawn'), null, w.staging_record_id::text,
             jsonb_strip_nulls(jsonb_build_object('staging_record_id', r.staging_record_id, 'lifecycle_status', r.lifecycle_status,
                                                  'content_hash', r.content_hash))) as body
      from fresh w
      left join iu_core.iu_staging_record r
        on r.staging_record_id = w.staging_record_id and noetl.fn_wait_hears(w.execution_id, r.workspace_id, 'staging')
     where w.kind = 'approval' and r.lifecycle_status is distinct from 'pending'
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
  v_ended := v_ended + noetl.fn_waits_look_back(v_subjects, v_types);
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
      v_ended := v_ended + noetl.fn_waits_tell(v_past);
      v_past := '{}';
    end if;
  end loop;
  return v_ended + case when cardinality(v_past) > 0 then noetl.fn_waits_tell(v_past) else 0 end;
end $$;

-- What a step that waited is told. Internal.
create or replace function noetl.fn_wait_event_body(p_status text, p_event_id uuid, p_subject text, p_payload jsonb) returns jsonb
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_strip_nulls(jsonb_build_object('status', p_status, 'event_id', p_event_id, 'subject', p_subject))
         || jsonb_build_object('payload', p_payload)
$$;

-- What a record that is no longer pending means to whoever waited for its approval. Withdrawing is how staging calls the
-- owner's own rejection. Internal.
create or replace function noetl.fn_wait_record_outcome(r iu_core.iu_staging_record) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case when r.lifecycle_status = 'rejected' and r.rejected_reason = 'withdrawn' and r.rejected_by = r.owner_actor
              then 'withdrawn' else r.lifecycle_status end
$$;

-- Whether an execution may hear of something in this workspace (fn_waits_wake says the rule). Internal.
create or replace function noetl.fn_wait_hears(p_execution_id bigint, p_workspace_id uuid, p_event_domain text) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce((
    select noetl.fn_wait_may_hear((e.meta ->> 'workspace_id')::uuid, p_workspace_id, p_event_domain)
      from noetl.event e where e.execution_id = p_execution_id and e.seq = 1), false)
$$;

-- Whether an execution of a workspace, or of none, may hear of something in another (fn_waits_wake says the rule). Internal.
-- Bound to its operators here rather than by a search path, so that it can be inlined.
create or replace function noetl.fn_wait_may_hear(p_own uuid, p_workspace_id uuid, p_event_domain text) returns boolean
language sql immutable parallel safe
return p_own is null or p_own operator(pg_catalog.=) p_workspace_id
       or (p_workspace_id is null and p_event_domain operator(pg_catalog.=) 'system');

-- Ends fresh waits by events that came before them, since the time that each looks back to. p_executions: of waits that name a
-- subject. p_types: [{event_domain, event_type, since_at}] of those that name none, read once for all of them. Internal, see
-- fn_waits_catch_up.
--
-- Everything by the index event_outbox_awaited; ids are times, and a second of grace covers what a row's id and created_at differ by.
-- The settings: the planner knows neither how many wait nor how many events there are.
create or replace function noetl.fn_waits_look_back(p_executions bigint[], p_types jsonb) returns integer
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
          and (not pg_visible_in_snapshot(e.tx, w.since) or e.created_at >= w.since_at and not noetl.fn_wait_has_heard(w.execution_id, e.id))
          and noetl.fn_wait_hears(w.execution_id, e.workspace_id, e.event_domain)
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
      v_ended := v_ended + noetl.fn_waits_tell(v_past);
      v_past := '{}';
      exit when not exists (
        select from jsonb_to_recordset(p_types) as t (event_domain text, event_type text)
         cross join lateral (select from noetl.wait w where w.kind = 'event' and w.event_domain = t.event_domain
                                and w.event_type = t.event_type and w.subject is null limit 1) as w);
    end if;
  end loop;
  if cardinality(v_past) > 0 then
    v_ended := v_ended + noetl.fn_waits_tell(v_past);
  end if;
  return v_ended;
end $$;

-- Whether a wait of this execution was woken by the event before: those that look back do not hear it again. Internal.
create or replace function noetl.fn_wait_has_heard(p_execution_id bigint, p_event_id uuid) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (select from noetl.wait_heard h where h.execution_id = p_execution_id and h.event_id = p_event_id)
$$;

-- Ends the waits that these events are for, of several events by the first; says how many. Internal, see fn_waits_wake.
--
-- Work for each event and for each wait, not for each pair of them, which are millions where thousands wait for one type.
-- Waits that name a subject are looked up by it. Those that want values in the payload are joined by one of them, the one that
-- the fewest of these events have. Only what wants neither meets every event of its type, until the first that it hears.
--
-- The settings: the planner knows neither how many events are given nor how many wait. Rows of tables are looked up by index,
-- which the laterals say (offset 0 keeps them apart); what was looked up is joined by hash.
create or replace function noetl.fn_waits_tell(p_events iu_core.event_outbox[]) returns integer
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
  with heard as materialized (
    select * from unnest(p_events) with ordinality as e
  ), said as materialized (
    select e.ordinality, e.event_domain, e.event_type, m.key, m.value
      from heard e cross join lateral jsonb_each(case jsonb_typeof(e.safe_payload) when 'object' then e.safe_payload end) as m
  ), often as (
    select s.event_domain, s.event_type, s.key, s.value, count(*) as events from said s group by 1, 2, 3, 4
  ), waiting as materialized (
    select w.*
      from (select distinct e.event_domain, e.event_type from heard e) as t
     cross join lateral (select * from noetl.wait w
                          where w.kind = 'event' and w.event_domain = t.event_domain and w.event_type = t.event_type
                            and w.subject is null offset 0) as w
  ), wanted as materialized (
    -- Of what is in a list or an object only the match itself says whether it is there.
    select distinct on (w.execution_id, w.node_id) w.execution_id, w.node_id, m.key, m.value, o.events
      from waiting w
     cross join lateral jsonb_each(case jsonb_typeof(w.match) when 'object' then w.match end) as m
      left join often o on o.event_domain = w.event_domain and o.event_type = w.event_type and o.key = m.key and o.value = m.value
     where jsonb_typeof(m.value) not in ('object', 'array')
     order by w.execution_id, w.node_id, o.events nulls first
  ), hearer as materialized (
    select w.*, n.key, n.value, own.workspace_id
      from waiting w
      left join wanted n on n.execution_id = w.execution_id and n.node_id = w.node_id
     cross join lateral (select (b.meta ->> 'workspace_id')::uuid as workspace_id from noetl.event b
                          where b.execution_id = w.execution_id and b.seq = 1 offset 0) as own
     where n.key is null or n.events > 0
  ), matched as (
    select w.execution_id, w.node_id, e.ordinality, 'received' as status
      from heard e
     cross join lateral (select * from noetl.wait w
                          where w.kind = 'event' and w.event_domain = e.event_domain and w.event_type = e.event_type
                            and w.subject = e.event_subject_ref offset 0) as w
     where (w.match is null or e.safe_payload @> w.match)
       and (not pg_visible_in_snapshot(e.tx, w.since) or e.created_at >= w.since_at and not noetl.fn_wait_has_heard(w.execution_id, e.id))
       and noetl.fn_wait_hears(w.execution_id, e.workspace_id, e.event_domain)
    union all
    select w.execution_id, w.node_id, e.ordinality, 'received'
      from said s
      join hearer w on w.event_domain = s.event_domain and w.event_type = s.event_type and w.key = s.key and w.value = s.value
      join heard e on e.ordinality = s.ordinality
     where e.safe_payload @> w.match
       and (not pg_visible_in_snapshot(e.tx, w.since) or e.created_at >= w.since_at and not noetl.fn_wait_has_heard(w.execution_id, e.id))
       and noetl.fn_wait_may_hear(w.workspace_id, e.workspace_id, e.event_domain)
    union all
    select w.execution_id, w.node_id, e.ordinality, 'received'
      from hearer w
     cross join lateral (
       select e.ordinality from heard e
        where e.event_domain = w.event_domain and e.event_type = w.event_type
          and (w.match is null or e.safe_payload @> w.match)
          and (not pg_visible_in_snapshot(e.tx, w.since) or e.created_at >= w.since_at and not noetl.fn_wait_has_heard(w.execution_id, e.id))
          and noetl.fn_wait_may_hear(w.workspace_id, e.workspace_id, e.event_domain)
        order by e.ordinality limit 1) as e
     where w.key is null
    union all
    select w.execution_id, w.node_id, e.ordinality, d.outcome
      from heard e
     cross join lateral (select case when e.event_subject_ref ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
                                     then e.event_subject_ref::uuid end) as s (record_id)
     cross join lateral (select * from noetl.wait w where w.kind = 'approval' and w.staging_record_id = s.record_id offset 0) as w
      left join lateral (select * from iu_core.iu_staging_record r where r.staging_record_id = s.record_id offset 0) as r on true
     -- What the event says is believed where the record says it, too: events can be emitted by others.
     cross join lateral (select case e.event_type
         when 'record_approved' then case when r.approved_at is not null then 'approved' end
         when 'record_rejected' then case when r.rejected_at is not null then noetl.fn_wait_record_outcome(r) end
         when 'record_expired' then case when r.expired_at is not null then 'expired' end
         when 'record_consumed' then case when r.consumed_at is not null then 'consumed' end
         when 'record_cleaned' then case when r.cleaned_at is not null then 'cleaned' end
         when 'record_unregistered' then case when r.staging_record_id is null then 'withdrawn' end end) as d (outcome)
     where e.event_domain = 'staging' and d.outcome is not null
       and not pg_visible_in_snapshot(e.tx, w.since)
       and noetl.fn_wait_hears(w.execution_id, e.workspace_id, e.event_domain)
  ), first as (
    select distinct on (m.execution_id, m.node_id) m.* from matched m order by m.execution_id, m.node_id, m.ordinality
  )
  select array_agg(f.execution_id), array_agg(f.node_id),
         array_agg(noetl.fn_wait_event_body(f.status, e.id, e.event_subject_ref, e.safe_payload))
    into v_executions, v_nodes, v_bodies
    from first f join heard e on e.ordinality = f.ordinality;
  return noetl.fn_waits_end(v_executions, v_nodes, v_bodies);
end $$;

-- Ends the waits whose time has come: timers, and the patience of others. Internal, see fn_waits_wake. What a flush has
-- locked is left for the next call. Patience holds while there are events that have not been read: the awaited one may be
-- among them, and came in time.
create or replace function noetl.fn_waits_time_out(p_limit integer) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Once: a volatile function is no condition for an index.
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

-- Ends waits: each row that is still there becomes an inbox row with what it is told. Returns how many were. Internal.
-- Locked in the order of their key, as by everybody who locks several.
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
    select w.execution_id, w.node_id, told.body
      from unnest(p_executions, p_nodes, p_bodies) as told (execution_id, node_id, body)
      join noetl.wait w on w.execution_id = told.execution_id and w.node_id = told.node_id
     order by w.execution_id, w.node_id
       for update of w
  ), gone as (
    delete from noetl.wait w using held h
     where w.execution_id = h.execution_id and w.node_id = h.node_id
    returning w.execution_id, w.shard_id, w.node_id, h.body
  ), heard as (
    insert into noetl.wait_heard (execution_id, event_id)
    select distinct g.execution_id, (g.body ->> 'event_id')::uuid from gone g where g.body ? 'event_id'
    on conflict do nothing
  ), told as (
    insert into noetl.inbox (execution_id, shard_id, kind, body)
    select g.execution_id, g.shard_id, 'woken', jsonb_build_object('node_id', g.node_id) || g.body from gone g
  )
  select count(*), string_agg(distinct g.shard_id::text, ',') into v_ended, v_shards from gone g;
  if v_shards is not null then
    perform pg_notify('stagedoor_inbox', v_shards);
  end if;
  return v_ended;
end $$;

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
