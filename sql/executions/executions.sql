-- Executions: start, rerun, cancel, pause, resume; and the views that show them.

-- Starts a playbook in the caller's transaction; a rollback removes the execution. The same key returns the same execution.
-- Members start playbooks that are open to them, in a workspace of theirs; without a workspace the execution is global, for
-- back-end code only.
create or replace function noetl.fn_execution_start(
  p_playbook text,
  p_args jsonb default '{}',
  p_workspace_id uuid default null,
  p_version integer default null,
  p_idempotency_key text default null
) returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_member text;
  c noetl.catalog;
  v_id bigint;
  v_digest bytea;
  v_first noetl.execution_key;
begin
  v_member := noetl.require_starter(p_workspace_id);
  c := noetl.fn_execution_playbook_require(p_playbook, p_workspace_id, p_version, v_member);
  perform noetl.fn_execution_args_require(c, p_args);
  if p_idempotency_key = '' then
    raise exception using errcode = 'SD001', message = 'The idempotency key must not be empty';
  end if;
  v_id := noetl.fn_snowflake();
  if p_idempotency_key is not null then
    v_digest := sha256(convert_to(p_args::text, 'utf8'));
    -- Of two at once the second waits here for the first, and takes over only if that one is rolled back.
    insert into noetl.execution_key (path, workspace_id, idempotency_key, execution_id, args_digest)
    values (p_playbook, p_workspace_id, p_idempotency_key, v_id, v_digest) on conflict do nothing;
    if not found then
      select * into strict v_first from noetl.execution_key k
       where k.path = p_playbook and k.workspace_id is not distinct from p_workspace_id and k.idempotency_key = p_idempotency_key;
      perform noetl.fn_execution_key_require(v_first, v_digest);
      return v_first.execution_id;
    end if;
  end if;
  perform noetl.fn_execution_enqueue_start(v_id, jsonb_build_object('catalog_id', c.catalog_id::text, 'args', p_args, 'workspace_id', p_workspace_id));
  return v_id;
end $$;

grant execute on function noetl.fn_execution_start(text, jsonb, uuid, integer, text) to authenticated, service_role, dot_executor, stagedoor_reviewer, stagedoor_producer;

-- Starts executions as fn_execution_start does each of them, all or none, at most 10,000; returns their ids in the given order. The keys of
-- the objects: playbook, args, workspace_id, version, idempotency_key. 100 of one playbook: 4 ms instead of 20.
create or replace function noetl.fn_execution_start_batch(p_starts jsonb) returns setof bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_playbook record;
  c noetl.catalog;
  v_args jsonb;
  v_names jsonb;
  -- Playbooks as they were asked for, and their ids.
  v_paths text[] := '{}';
  v_workspaces uuid[] := '{}';
  v_versions integer[] := '{}';
  v_catalog bigint[] := '{}';
  v_ids bigint[];
  v_owners bigint[];
  v_given integer;
  v_keyed integer;
  v_number integer;
  v_first noetl.execution_key;
  v_actor text := iu_core.fn_actor();
  v_cause record;
begin
  perform noetl.require_starter(w.id)
     from (select distinct (s ->> 'workspace_id')::uuid as id
             from jsonb_array_elements(case jsonb_typeof(p_starts) when 'array' then p_starts end) s) w;
  if jsonb_typeof(p_starts) is distinct from 'array' then
    raise exception using errcode = 'SD001', message = 'fn_execution_start_batch takes a JSON array of starts';
  end if;
  -- The transaction holds the keys of all of them, and its whole batch is in memory.
  if jsonb_array_length(p_starts) > 10000 then
    raise exception using
      errcode = 'SD001',
      message = format('A batch has at most 10000 starts, and this one has %s', jsonb_array_length(p_starts)),
      hint = 'Start them in several batches; with idempotency keys a batch may be sent again.';
  end if;
  for v_playbook in
    select distinct s ->> 'playbook' as path, (s ->> 'workspace_id')::uuid as workspace_id, (s ->> 'version')::integer as version
      from jsonb_array_elements(p_starts) s
  loop
    c := noetl.fn_execution_playbook_require(
      v_playbook.path, v_playbook.workspace_id, v_playbook.version, noetl.require_starter(v_playbook.workspace_id));
    v_names := coalesce(c.payload -> 'args', '{}');
    select coalesce(s -> 'args', 'null') into v_args from jsonb_array_elements(p_starts) s
     where s ->> 'playbook' = v_playbook.path and (s ->> 'workspace_id')::uuid is not distinct from v_playbook.workspace_id
       and (s ->> 'version')::integer is not distinct from v_playbook.version
       and (jsonb_typeof(s -> 'args') is distinct from 'object' or pg_column_size(s -> 'args') > 16777216
            or s -> 'args' <> '{}' and exists (select from jsonb_object_keys(s -> 'args') k where not v_names ? k))
     limit 1;
    if found then
      perform noetl.fn_execution_args_require(c, v_args);
    end if;
    v_paths := v_paths || v_playbook.path;
    v_workspaces := v_workspaces || v_playbook.workspace_id;
    v_versions := v_versions || v_playbook.version;
    v_catalog := v_catalog || c.catalog_id;
  end loop;
  v_ids := array(select noetl.fn_snowflake() from jsonb_array_elements(p_starts));
  v_owners := v_ids;
  v_given := (select count(*) from jsonb_array_elements(p_starts) s where s ->> 'idempotency_key' is not null);
  if v_given > 0 then
    if exists (select from jsonb_array_elements(p_starts) s where s ->> 'idempotency_key' = '') then
      raise exception using errcode = 'SD001', message = 'The idempotency key must not be empty';
    end if;
    -- In one order: two batches in opposite orders would deadlock. Of two starts at once the second waits here for the first.
    insert into noetl.execution_key (path, workspace_id, idempotency_key, execution_id, args_digest)
    select s ->> 'playbook', (s ->> 'workspace_id')::uuid, s ->> 'idempotency_key', v_ids[n], sha256(convert_to((s -> 'args')::text, 'utf8'))
      from jsonb_array_elements(p_starts) with ordinality as t (s, n)
     where s ->> 'idempotency_key' is not null order by 1, 2, 3, n
    on conflict do nothing;
    get diagnostics v_keyed = row_count;
    if v_keyed < v_given then
      -- A separate statement: it sees starts that others committed.
      for v_number in
        select n from jsonb_array_elements(p_starts) with ordinality as t (s, n) where s ->> 'idempotency_key' is not null
      loop
        select k.* into strict v_first from noetl.execution_key k
         where k.path = p_starts -> (v_number - 1) ->> 'playbook'
           and k.workspace_id is not distinct from (p_starts -> (v_number - 1) ->> 'workspace_id')::uuid
           and k.idempotency_key = p_starts -> (v_number - 1) ->> 'idempotency_key';
        perform noetl.fn_execution_key_require(v_first, sha256(convert_to((p_starts -> (v_number - 1) -> 'args')::text, 'utf8')));
        v_owners[v_number] := v_first.execution_id;
      end loop;
    end if;
  end if;
  select * into v_cause from iu_core.fn_event_cause();
  insert into noetl.inbox (execution_id, shard_id, kind, body)
  select v_ids[t.n], noetl.fn_shard_of(v_ids[t.n]), 'start', jsonb_build_object(
           'catalog_id', k.catalog_id::text, 'args', t.s -> 'args', 'workspace_id', (t.s ->> 'workspace_id')::uuid,
           'started_by', v_actor, 'cause', v_cause.event_id, 'correlation_id', v_cause.correlation_id, 'depth', 0, 'parent', null)
    from jsonb_array_elements(p_starts) with ordinality as t (s, n)
    join unnest(v_paths, v_workspaces, v_versions, v_catalog) as k (path, workspace_id, version, catalog_id)
      on k.path = t.s ->> 'playbook' and k.workspace_id is not distinct from (t.s ->> 'workspace_id')::uuid
     and k.version is not distinct from (t.s ->> 'version')::integer
   where v_owners[t.n] = v_ids[t.n] order by t.n;
  perform pg_notify('stagedoor', 'inbox ' || shard)
     from (select distinct noetl.fn_shard_of(id) as shard from unnest(v_ids) id where id = any (v_owners)) shards;
  return query select unnest(v_owners);
end $$;

grant execute on function noetl.fn_execution_start_batch(jsonb) to authenticated, service_role, dot_executor, stagedoor_reviewer, stagedoor_producer;

-- The playbook that somebody starts in a workspace, if it is open to them. p_member: who they are there, by require_starter. Internal.
create or replace function noetl.fn_execution_playbook_require(p_playbook text, p_workspace_id uuid, p_version integer, p_member text)
returns noetl.catalog
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  c noetl.catalog;
begin
  perform iu_core.fn_require_workspace(p_workspace_id);
  c := noetl.fn_playbook_require(p_playbook, p_version);
  if p_member <> 'service' and not c.open_to_members then
    raise exception using
      errcode = 'SD810',
      message = format('Only the back end may start the playbook %s', p_playbook),
      detail = json_build_object('playbook', p_playbook)::text;
  end if;
  return c;
end $$;

-- Raises unless these may be the arguments of a playbook. Internal.
create or replace function noetl.fn_execution_args_require(c noetl.catalog, p_args jsonb) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_unknown text;
begin
  if jsonb_typeof(p_args) is distinct from 'object' then
    raise exception using errcode = 'SD001', message = 'The arguments of a playbook must be a JSON object';
  end if;
  -- They are stored in the log and in every snapshot.
  if pg_column_size(p_args) > 16777216 then
    raise exception using
      errcode = 'SD001',
      message = 'The arguments of an execution have at most 16 MiB',
      hint = 'Put the data into a table or a file, and give its name.';
  end if;
  select string_agg(k, ', ' order by k) into v_unknown from jsonb_object_keys(p_args) k where not coalesce(c.payload -> 'args', '{}') ? k;
  if v_unknown is not null then
    raise exception using errcode = 'SD001', message = format('The playbook %s has no argument %s', c.path, v_unknown);
  end if;
end $$;

-- Raises unless a key was given the same arguments: otherwise a caller with other ones would take the old result for its own. Internal.
create or replace function noetl.fn_execution_key_require(p_first noetl.execution_key, p_digest bytea) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_first.args_digest <> p_digest then
    raise exception using
      errcode = 'SD813',
      message = format('The key %s of the playbook %s belongs to the execution %s, which has other arguments',
                       p_first.idempotency_key, p_first.path, p_first.execution_id),
      detail = json_build_object('key', p_first.idempotency_key, 'playbook', p_first.path, 'execution', p_first.execution_id::text)::text;
  end if;
end $$;

-- The membership check of fn_execution_start. A login with stagedoor_producer is a back end: it starts any playbook, in any
-- workspace or in none, as it enqueues any job. Members start playbooks in a workspace where they have the right to operate.
-- Internal.
create or replace function noetl.require_starter(p_workspace_id uuid) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if pg_has_role(iu_core.fn_caller_role(), 'stagedoor_producer', 'usage') or iu_core.fn_caller_is_service() then
    return 'service';
  end if;
  if p_workspace_id is null then
    raise exception using
      errcode = 'SD001',
      message = 'A member starts a playbook in a workspace, and no workspace was given',
      hint = 'Give workspace_id: one of the workspaces where you may operate.';
  end if;
  return iu_core.require_member(p_workspace_id, 'operate');
end $$;

-- Puts the start of a new execution into its inbox. It follows from the event of the caller's job. Internal.
create or replace function noetl.fn_execution_enqueue_start(p_execution_id bigint, p_body jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_cause record;
begin
  select * into v_cause from iu_core.fn_event_cause();
  perform noetl.fn_execution_inbox_put(p_execution_id, 'start', p_body || jsonb_build_object(
    'started_by', iu_core.fn_actor(), 'cause', v_cause.event_id, 'correlation_id', v_cause.correlation_id, 'depth', 0, 'parent', null));
end $$;

-- Puts a row into the inbox of an execution and wakes its owner: people and programs call this in transactions of their own, so nobody
-- else can do it after the commit. Internal.
create or replace function noetl.fn_execution_inbox_put(p_execution_id bigint, p_kind text, p_body jsonb) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  insert into noetl.inbox (execution_id, shard_id, kind, body)
  values (p_execution_id, noetl.fn_shard_of(p_execution_id), p_kind, p_body);
  select pg_notify('stagedoor', 'inbox ' || noetl.fn_shard_of(p_execution_id))
$$;

-- Starts a new execution from a step of an old one, with its arguments and its version of the playbook, or with another version
-- that corrects the playbook. The engine reads from the old log what had ended before that step.
create or replace function noetl.fn_execution_rerun(p_execution_id bigint, p_from_step text, p_version integer default null) returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_member text;
  v_begun noetl.event;
  c noetl.catalog;
  v_id bigint;
begin
  v_member := iu_core.require_member(noetl.fn_execution_workspace(p_execution_id), 'operate');
  select * into v_begun from noetl.event e where e.execution_id = p_execution_id and e.seq = 1;
  if not found then
    -- It has not begun: there is no step that it came to.
    perform noetl.fn_step_raise_unknown(p_execution_id, p_from_step);
  end if;
  select (noetl.fn_playbook_require(k.path, coalesce(p_version, k.version))).* into c from noetl.catalog k where k.catalog_id = v_begun.catalog_id;
  if v_member <> 'service' and not c.open_to_members then
    raise exception using
      errcode = 'SD810',
      message = format('Only the back end may start the playbook %s', c.path),
      detail = json_build_object('playbook', c.path)::text;
  end if;
  if not exists (select from jsonb_array_elements(c.payload -> 'steps') s where s ->> 'step' = p_from_step)
     or not exists (select from noetl.event e where e.execution_id = p_execution_id and e.node_name = p_from_step) then
    perform noetl.fn_step_raise_unknown(p_execution_id, p_from_step);
  end if;
  v_id := noetl.fn_snowflake();
  perform noetl.fn_execution_enqueue_start(v_id, jsonb_build_object(
    'catalog_id', c.catalog_id::text,
    -- Another version may take fewer.
    'args', (select coalesce(jsonb_object_agg(a.key, a.value), '{}') from jsonb_each(v_begun.context -> 'args') a
              where coalesce(c.payload -> 'args', '{}') ? a.key),
    'workspace_id', v_begun.meta ->> 'workspace_id',
    'rerun_of', p_execution_id::text, 'from_step', p_from_step));
  return v_id;
end $$;

grant execute on function noetl.fn_execution_rerun(bigint, text, integer) to authenticated, service_role, dot_executor, stagedoor_reviewer;

-- Raises step_unknown: the playbook has no such step, or the execution never reached it. Internal.
create or replace function noetl.fn_step_raise_unknown(p_execution_id bigint, p_step text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'SD807',
    message = format('The execution %s has no step %L, or never reached it', p_execution_id, p_step),
    detail = json_build_object('execution', p_execution_id::text, 'step', p_step)::text;
end $$;

-- Cancels an execution: nothing more of it begins, and the results of what runs are ignored.
create or replace function noetl.fn_execution_cancel(p_execution_id bigint, p_reason text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(noetl.fn_execution_workspace(p_execution_id), 'operate');
  perform noetl.fn_execution_control(p_execution_id, 'cancel', p_reason);
end $$;

grant execute on function noetl.fn_execution_cancel(bigint, text) to authenticated, service_role, dot_executor, stagedoor_reviewer;

-- Sends a control message (cancel, pause, resume) to an execution that has not ended. Internal: callers have called
-- require_member.
create or replace function noetl.fn_execution_control(p_execution_id bigint, p_kind text, p_reason text default null) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_status text := noetl.fn_execution_status(p_execution_id);
begin
  if v_status not in ('RUNNING', 'PAUSED') then
    raise exception using
      errcode = 'SD804',
      message = format('The execution %s has ended: it is %s', p_execution_id, v_status),
      detail = json_build_object('execution', p_execution_id::text, 'status', v_status)::text;
  end if;
  if p_kind = 'resume' and v_status <> 'PAUSED' then
    raise exception using
      errcode = 'SD808',
      message = format('The execution %s is not paused: it is %s', p_execution_id, v_status),
      detail = json_build_object('execution', p_execution_id::text, 'status', v_status)::text;
  end if;
  if p_kind = 'pause' and v_status = 'PAUSED' then
    return;
  end if;
  perform noetl.fn_execution_inbox_put(p_execution_id, p_kind, case p_kind
    when 'cancel' then jsonb_build_object('by', iu_core.fn_actor(), 'reason', left(p_reason, 2000))
    else jsonb_build_object('by', iu_core.fn_actor()) end);
end $$;

-- The current status of an execution: as projected, updated with the rest of its log and with control messages that are still
-- in its inbox. Internal.
create or replace function noetl.fn_execution_status(p_execution_id bigint) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with known as (
    select (select x.status from noetl.execution x where x.execution_id = p_execution_id) as projected,
           (select case e.event_type when 'execution.paused' then 'PAUSED' when 'execution.resumed' then 'RUNNING'
                                     when 'execution.cancelled' then 'CANCELLED' else upper(split_part(e.event_type, '.', 2)) end
              from noetl.event e
             where e.execution_id = p_execution_id
               and e.seq > coalesce((select x.last_seq from noetl.execution x where x.execution_id = p_execution_id), 0)
               and e.event_type in ('execution.paused', 'execution.resumed', 'execution.cancelled', 'playbook.completed', 'playbook.failed')
             order by e.seq desc limit 1) as logged,
           (select case i.kind when 'pause' then 'PAUSED' else 'RUNNING' end from noetl.inbox i
             where i.execution_id = p_execution_id and i.kind in ('pause', 'resume')
             order by i.inbox_id desc limit 1) as requested
  ), latest as (
    select coalesce(logged, projected, 'RUNNING') as status, requested from known
  )
  select case when status in ('RUNNING', 'PAUSED') then coalesce(requested, status) else status end from latest
$$;

-- Pauses an execution: running steps may end and are recorded, nothing new begins until it is resumed.
create or replace function noetl.fn_execution_pause(p_execution_id bigint) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(noetl.fn_execution_workspace(p_execution_id), 'operate');
  perform noetl.fn_execution_control(p_execution_id, 'pause');
end $$;

grant execute on function noetl.fn_execution_pause(bigint) to authenticated, service_role, dot_executor, stagedoor_reviewer;

-- Resumes a paused execution.
create or replace function noetl.fn_execution_resume(p_execution_id bigint) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(noetl.fn_execution_workspace(p_execution_id), 'operate');
  perform noetl.fn_execution_control(p_execution_id, 'resume');
end $$;

grant execute on function noetl.fn_execution_resume(bigint) to authenticated, service_role, dot_executor, stagedoor_reviewer;

-- Whether an execution of this database has this id. The API asks this about requests that a playbook sent.
create or replace function iu_core.fn_execution_exists(p_execution_id bigint) returns boolean
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (select from noetl.event e where e.execution_id = p_execution_id and e.seq = 1);
end $$;

grant execute on function iu_core.fn_execution_exists(bigint) to dot_executor, service_role;

-- The workspace of an execution that the caller may see; another workspace's execution gives the same error as a missing one.
-- It may not be projected yet, or not even have begun. Internal: definer functions pass the result to require_member.
create or replace function noetl.fn_execution_workspace(p_execution_id bigint) returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
begin
  select found_in.workspace_id into v_workspace
    from (select x.workspace_id from noetl.execution x where x.execution_id = p_execution_id
          union all
          select (e.meta ->> 'workspace_id')::uuid from noetl.event e where e.execution_id = p_execution_id and e.seq = 1
          union all
          select (i.body ->> 'workspace_id')::uuid from noetl.inbox i
           where i.execution_id = p_execution_id and i.kind = 'start') found_in
   limit 1;
  if not found
     or not iu_core.fn_workspace_is_visible(v_workspace) then
    perform noetl.fn_execution_raise_unknown(p_execution_id);
  end if;
  return v_workspace;
end $$;

-- Raises execution_unknown: the same error for a missing execution and for one that the caller may not see. Internal.
create or replace function noetl.fn_execution_raise_unknown(p_execution_id bigint) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'SD803',
    message = format('There is no execution %s', coalesce(p_execution_id::text, 'NULL')),
    detail = json_build_object('execution', p_execution_id::text)::text;
end $$;

-- A time-ordered id, made by the database itself (node 0); engines make theirs in their own process. The counter cycles: two
-- ids of one millisecond would be equal only if 4,096 were made in between, and each costs its caller an insert. The stored
-- time moves at most every 10 ms; it detects a clock that went back.
create or replace function noetl.fn_snowflake() returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_epoch constant bigint := 1704067200000;
  v_now bigint;
  v_latest bigint;
begin
  loop
    v_now := floor(extract(epoch from clock_timestamp()) * 1000)::bigint - c_epoch;
    select last_value into v_latest from noetl.snowflake_clock;
    exit when v_now >= v_latest;
    if v_latest - v_now > 50 then
      raise exception using
        errcode = 'SD809',
        message = format('The clock went back by %s ms', v_latest - v_now),
        detail = json_build_object('milliseconds', v_latest - v_now)::text;
    end if;
    perform pg_sleep((v_latest - v_now) / 1000.0);
  end loop;
  if v_now >= v_latest + 10 then
    perform setval('noetl.snowflake_clock', v_now);
  end if;
  return v_now << 22 | nextval('noetl.snowflake_counter');
end $$;

grant execute on function noetl.fn_snowflake() to dot_executor, service_role;

-- Executions for people: with their playbook, duration and loop progress. Started executions that are not folded yet are
-- PENDING: an inbox row until an engine takes it, then for a moment a log without a projection.
create or replace view noetl.v_execution with (security_invoker = true) as
select x.execution_id, c.path as playbook, c.version, x.catalog_id, x.parent_execution_id, x.workspace_id, x.started_by,
       x.status, x.last_event_type, x.last_node_name, x.start_time, x.end_time,
       coalesce(x.end_time, clock_timestamp()) - x.start_time as duration,
       x.error, x.state, loops.total as items, loops.done as items_done, loops.failed as items_failed,
       x.last_event_id, x.last_seq, x.created_at, x.updated_at
  from noetl.execution x
  left join noetl.catalog c on c.catalog_id = x.catalog_id
 cross join lateral (
   select sum((l.value ->> 'total')::bigint) as total, sum((l.value ->> 'done')::bigint) as done,
          sum((l.value ->> 'failed')::bigint) as failed
     from jsonb_each(x.state -> 'loop') as l) as loops
union all
select s.execution_id, c.path, c.version, s.catalog_id, s.parent_execution_id, s.workspace_id, s.started_by,
       'PENDING', null, null, null, null, null, null, '{}', null, null, null, null, 0, s.created_at, s.created_at
  from (select i.execution_id, (i.body ->> 'catalog_id')::bigint as catalog_id,
               (i.body -> 'parent' ->> 'execution_id')::bigint as parent_execution_id,
               (i.body ->> 'workspace_id')::uuid as workspace_id, i.body ->> 'started_by' as started_by, i.sent_at as created_at
          from noetl.inbox i where i.kind = 'start'
        union all
        select k.execution_id, e.catalog_id, e.parent_execution_id, (e.meta ->> 'workspace_id')::uuid,
               e.meta ->> 'started_by', e.created_at
          from noetl.checkpoint k
          join noetl.event e on e.execution_id = k.execution_id and e.seq = 1) as s
  left join noetl.catalog c on c.catalog_id = s.catalog_id
 where not exists (select from noetl.execution x where x.execution_id = s.execution_id);

grant select on noetl.v_execution to authenticated, stagedoor_agent, stagedoor_reviewer, service_role, dot_executor;

-- An execution whose first event is logged and that is not projected yet, for those who will see it: row-level security asks for the
-- projected row, so that members would be told for a moment that what they just started does not exist. No row: it is projected.
create or replace function noetl.fn_execution_starting(p_execution_id bigint)
returns table (
  execution_id bigint, playbook text, version integer, parent_execution_id bigint, workspace_id uuid, started_by text, created_at timestamptz
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  perform iu_core.require_member(noetl.fn_execution_workspace(p_execution_id), 'read');
  return query
  select e.execution_id, e.meta ->> 'playbook', (e.meta ->> 'version')::integer, e.parent_execution_id, (e.meta ->> 'workspace_id')::uuid,
         e.meta ->> 'started_by', e.created_at
    from noetl.event e
   where e.execution_id = p_execution_id and e.seq = 1
     and not exists (select from noetl.execution x where x.execution_id = e.execution_id);
end $$;

grant execute on function noetl.fn_execution_starting(bigint) to authenticated, service_role, dot_executor, stagedoor_agent, stagedoor_reviewer;

-- The log's events about step entries, one row for each event; events of loop items are left out. Query it for one execution.
-- retrying: an attempt failed and will be retried. The status of a loop is that of its fan-in: complete, partial or failed.
create or replace view noetl.v_execution_entry with (security_invoker = true) as
select e.execution_id, e.node_id, e.node_name, e.event_type,
       case when e.event_type = 'command.failed' and e.meta -> 'final' = 'false' then 'retrying'
            when e.event_type = 'loop.done' then
              case when (e.result #>> '{context,failed}')::bigint = 0 then 'complete'
                   when (e.result #>> '{context,completed}')::bigint = 0 then 'failed'
                   else 'partial' end
            else e.status end as status,
       (e.meta ->> 'attempt')::integer as attempt,
       e.meta ->> 'loop_id' as loop_id,
       case when e.event_type in ('command.completed', 'step.exit', 'loop.done')
              or (e.event_type = 'command.failed' and e.meta -> 'final' = 'true') then e.created_at end as ended_at,
       case when e.status = 'waiting' then e.meta end as waits_for,
       e.error, e.result, e.seq, e.event_id, e.parent_event_id, e.created_at
  from noetl.event e
 where e.node_id is not null
   and e.event_type not in ('loop.item', 'loop.shard.enqueued', 'loop.shard.done', 'loop.shard.failed', 'loop.fanin.completed')
   and (e.event_type not like 'command.%' or e.meta ->> 'loop_id' is null);

grant select on noetl.v_execution_entry to authenticated, stagedoor_agent, stagedoor_reviewer, service_role, dot_executor;

-- Each step entry from the log: one row for each node_id, with its latest status. Query it for one execution: it reads the
-- whole log; the progress of a loop is in the state of the projection.
create or replace view noetl.v_execution_step with (security_invoker = true) as
select distinct on (e.execution_id, e.node_id)
       e.execution_id, e.node_id, e.node_name, e.event_type as last_event_type, e.status, e.attempt, e.loop_id,
       min(e.created_at) over (partition by e.execution_id, e.node_id) as entered_at,
       e.ended_at, e.waits_for, e.error, e.result, e.seq as last_seq, e.event_id as last_event_id
  from noetl.v_execution_entry e
 order by e.execution_id, e.node_id, e.seq desc;

grant select on noetl.v_execution_step to authenticated, stagedoor_agent, stagedoor_reviewer, service_role, dot_executor;
