-- Loops: progress, results and scope.

-- The progress of an execution's loops, from the log: the numbers of the seed's recovery and fan-in queries, for all modes
-- (sequential, parallel, fanout). An item counts as done or failed by its last event, not by its attempts; after the end of a
-- loop `failed` includes cancelled items, so that done + failed = total. current_index: the last dispatched item, -1 before the
-- first. The caller sees what the policies of noetl.event allow.
create or replace function noetl.fn_loop_progress(p_execution_id bigint, p_loop_id text default null)
returns table (
  loop_id text, node_name text, node_id text, mode text, total integer, current_index integer, issued bigint, done bigint, failed bigint,
  cancelled bigint, open bigint, collection_ref text, status text
)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select s.meta ->> 'loop_id', s.node_name, s.node_id, coalesce(s.meta ->> 'mode', 'sequential'), (s.meta ->> 'collection_size')::integer,
         n.current_index, n.issued, n.done,
         coalesce((f.result #>> '{context,failed}')::bigint, n.failed),
         coalesce((f.result #>> '{context,cancelled}')::bigint, 0),
         case when f.seq is null then n.issued - n.done - n.failed else 0 end,
         s.context ->> 'collection_ref',
         case when f.seq is null then 'running'
              when coalesce((f.result #>> '{context,failed}')::bigint, n.failed) = 0 then 'complete'
              when n.done = 0 then 'failed' else 'partial' end
    from noetl.event s
   cross join lateral (
     select coalesce(max(e.current_index) filter (where e.event_type in ('loop.item', 'loop.shard.enqueued')), -1) as current_index,
            count(*) filter (where e.event_type in ('loop.item', 'loop.shard.enqueued')) as issued,
            count(*) filter (where e.event_type in ('command.completed', 'loop.shard.done')) as done,
            count(*) filter (where e.event_type = 'loop.shard.failed'
                                or e.event_type = 'command.failed' and e.meta -> 'final' = 'true') as failed
       from noetl.event e
      where e.execution_id = s.execution_id and e.meta ->> 'loop_id' = s.meta ->> 'loop_id') as n
    left join lateral (
      select e.seq, e.result from noetl.event e
       where e.execution_id = s.execution_id and e.meta ->> 'loop_id' = s.meta ->> 'loop_id' and e.event_type = 'loop.done') as f on true
   where s.execution_id = p_execution_id and s.event_type = 'loop.started' and s.meta ->> 'loop_id' is not null
     and (p_loop_id is null or s.meta ->> 'loop_id' = p_loop_id)
   order by s.seq
$$;

grant execute on function noetl.fn_loop_progress(bigint, text) to authenticated, service_role, dot_executor, stagedoor_agent, stagedoor_reviewer;

-- Combines the results of a loop's items into one result, in order, when it is read for the first time: the result of an item,
-- or its reference ({ref, bytes}); null for an item that failed or never ran. The log of an ended loop does not change, so any
-- reader may do it; a second reader waits for the first. Does nothing if it is done already.
--
-- The size is checked first: items of 8 KiB each could exceed the server's memory. The settings: with the defaults all results
-- go through two sorts on disk (300,000 items 3 to 6 s, now 2; a million 6 to 9).
create or replace function noetl.fn_loop_results(p_ref_id bigint) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set work_mem = '256MB'
set enable_nestloop = off
set enable_mergejoin = off
set jit = off
as $$
declare
  c_most constant bigint := 64 * 1024 * 1024;
  r noetl.result_ref;
  v_loop text;
  v_size integer;
  v_bytes bigint;
  v_body jsonb;
  v_text text;
begin
  select * into r from noetl.result_ref where ref_id = p_ref_id for update;
  if r.store_tier is distinct from 'eventlog' or r.collected_at is not null then
    return;
  end if;
  v_loop := split_part(r.physical_uri, '/', 2);
  select (s.meta ->> 'collection_size')::integer into v_size from noetl.event s
   where s.execution_id = r.execution_id and s.meta ->> 'loop_id' = v_loop and s.event_type = 'loop.started';
  if not found then
    raise exception using
      errcode = 'SD811',
      message = format('The result %s is no longer stored', p_ref_id),
      detail = json_build_object('ref', p_ref_id::text)::text;
  end if;
  with item as materialized (
    select (e.meta ->> 'iter_index')::integer as place,
           coalesce(e.result -> 'value', jsonb_build_object('ref', e.result -> 'ref', 'bytes', e.result -> 'bytes')) as result
      from noetl.event e
     where e.execution_id = r.execution_id and e.meta ->> 'loop_id' = v_loop
       and e.event_type in ('command.completed', 'loop.shard.done')
  ), sized as (
    -- As an array is written: brackets, what is between items, and a null for each that has no result.
    select 2 + 2 * greatest(v_size - 1, 0) + 4 * (v_size - count(*)) + coalesce(sum(octet_length(i.result::text)), 0) as bytes from item i
  )
  select s.bytes, case when s.bytes <= c_most then (
           select coalesce(jsonb_agg(i.result order by p.place), '[]')
             from generate_series(0, v_size - 1) as p (place) left join item i on i.place = p.place) end
    into v_bytes, v_body from sized s;
  if v_bytes > c_most then
    raise exception using
      errcode = 'SD812',
      message = format('The results of %s have %s bytes together, more than the limit of %s', r.node_name, v_bytes, c_most),
      detail = json_build_object('bytes', v_bytes, 'limit', c_most)::text;
  end if;
  v_text := v_body::text;
  insert into noetl.result_body (ref_id, body) values (p_ref_id, v_body);
  update noetl.result_ref
     set store_tier = 'db', physical_uri = 'db:noetl.result_body/' || p_ref_id, bytes = octet_length(v_text),
         content_hash = sha256(convert_to(v_text, 'UTF8'))
   where ref_id = p_ref_id;
end $$;

grant execute on function noetl.fn_loop_results(bigint) to dot_executor;

-- The input of a loop: its collection and the variables of its items' expressions, inline or by reference.
create or replace function noetl.fn_loop_scope(p_execution_id bigint, p_loop_id bigint) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_context jsonb;
begin
  select e.context into v_context from noetl.event e
   where e.execution_id = p_execution_id and e.meta ->> 'loop_id' = p_loop_id::text and e.event_type = 'loop.started';
  if not found then
    raise exception using
      errcode = 'SD803',
      message = format('There is no loop %s in an execution %s', p_loop_id, p_execution_id),
      detail = json_build_object('execution', p_execution_id::text)::text;
  end if;
  return v_context;
end $$;

grant execute on function noetl.fn_loop_scope(bigint, bigint) to dot_executor;

-- Items of a loop for people, in the order of the collection, after the index p_after: which are done, failed or still open, with
-- their error, attempts, process and times. p_status: done, failed (with cancelled ones), open (issued, not ended) or null for all that
-- were issued. A page is found by indexes, whatever the size of the loop; of `open` and of a status all ends of the loop are read.
--
-- Definer: under row-level security the expressions on `meta` could not use their indexes. Whoever does not see the execution gets
-- the same error as for a missing one.
create or replace function noetl.fn_loop_items(
  p_execution_id bigint, p_loop_id text, p_status text default null, p_after integer default -1, p_limit integer default 100
) returns table (
  index integer, node_id text, step text, status text, key text, item jsonb, attempts integer, error text, result jsonb,
  child_execution_id text, worker text, ms integer, issued_at timestamptz, ended_at timestamptz, seq integer
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
  -- Of a playbook's retry.
  c_most_attempts constant integer := 100;
  -- A larger collection is not read to show a page of its items.
  c_most_bytes constant bigint := 1024 * 1024;
  v_indexes integer[];
  v_collection jsonb;
begin
  perform iu_core.require_member(noetl.fn_execution_workspace(p_execution_id), 'read');
  if p_limit is null or p_limit not between 1 and 1000 or p_after is null then
    raise exception using errcode = 'SD001', message = 'The limit must be from 1 to 1000, and p_after an index (-1: from the first)';
  end if;
  if p_status is not null and p_status not in ('done', 'failed', 'open') then
    raise exception using errcode = 'SD001', message = 'The status of an item is done, failed or open';
  end if;
  select coalesce(s.context -> 'collection',
                  (select b.body from noetl.result_ref r join noetl.result_body b on b.ref_id = r.ref_id
                    where r.ref_id = regexp_replace(s.context ->> 'collection_ref', '^.*/', '')::bigint and r.bytes <= c_most_bytes
                      -- As by fn_result_read: agents read no stored results.
                      and not pg_has_role(iu_core.fn_caller_role(), 'stagedoor_agent', 'usage')))
    into v_collection
    from noetl.event s
   where s.execution_id = p_execution_id and s.meta ->> 'loop_id' = p_loop_id and s.event_type = 'loop.started';
  if not found then
    raise exception using
      errcode = 'SD803',
      message = format('There is no loop %s in the execution %s', p_loop_id, p_execution_id),
      detail = json_build_object('execution', p_execution_id::text)::text;
  end if;
  if p_status is null then
    v_indexes := array(
      select i.current_index from noetl.event i
       where i.execution_id = p_execution_id and i.meta ->> 'loop_id' = p_loop_id
         and i.event_type in ('loop.item', 'loop.shard.enqueued') and i.current_index > p_after
       order by i.current_index limit p_limit);
  elsif p_status = 'open' then
    v_indexes := array(
      select i.current_index from noetl.event i
       where i.execution_id = p_execution_id and i.meta ->> 'loop_id' = p_loop_id
         and i.event_type in ('loop.item', 'loop.shard.enqueued') and i.current_index > p_after
         and not exists (select from noetl.event e
                          where e.execution_id = p_execution_id and e.meta ->> 'loop_id' = p_loop_id
                            and (e.event_type in ('command.completed', 'loop.shard.done', 'loop.shard.failed')
                                 or e.event_type = 'command.failed' and e.meta -> 'final' = 'true')
                            and e.current_index = i.current_index)
         and not exists (select from noetl.event d
                          where d.execution_id = p_execution_id and d.meta ->> 'loop_id' = p_loop_id and d.event_type = 'loop.done')
       order by i.current_index limit p_limit);
  else
    v_indexes := array(
      select distinct e.current_index from noetl.event e
       where e.execution_id = p_execution_id and e.meta ->> 'loop_id' = p_loop_id and e.current_index > p_after
         and case p_status when 'done' then e.event_type in ('command.completed', 'loop.shard.done')
                           else e.event_type = 'loop.shard.failed' or e.event_type = 'command.failed' and e.meta -> 'final' = 'true' end
         and e.event_type in ('command.completed', 'loop.shard.done', 'loop.shard.failed', 'command.failed')
       order by 1 limit p_limit);
  end if;
  return query
  select i.current_index, i.node_id, i.node_name,
         case when e.event_type is null then 'open'
              when e.meta -> 'cancelled' = 'true' then 'cancelled'
              when e.event_type in ('command.completed', 'loop.shard.done') then 'done'
              when e.event_type = 'loop.shard.failed' or e.meta -> 'final' = 'true' then 'failed'
              else 'retrying' end,
         i.meta ->> 'iter_key', coalesce(i.current_item, v_collection -> i.current_index),
         greatest(1, coalesce(e.ended, 0)::integer + case when e.event_type = 'command.failed' and e.meta -> 'final' = 'false' then 1 else 0 end),
         e.error, e.result, i.meta ->> 'child_execution_id', e.meta ->> 'worker', (e.meta ->> 'ms')::integer, i.created_at,
         case when e.event_type <> 'command.failed' or e.meta -> 'final' = 'true' then e.created_at end, coalesce(e.seq, i.seq)
    from unnest(v_indexes) as at (place)
    join noetl.event i on i.execution_id = p_execution_id and i.meta ->> 'loop_id' = p_loop_id
                      and i.event_type in ('loop.item', 'loop.shard.enqueued') and i.current_index = at.place
    left join lateral (
      select x.*, count(*) over () as ended
        from (select s.* from noetl.event s
               where s.execution_id = p_execution_id and s.event_type in ('loop.shard.done', 'loop.shard.failed')
                 and s.meta ->> 'loop_id' = p_loop_id and s.meta ->> 'shard_id' = i.meta ->> 'shard_id'
              union all
              select c.* from noetl.event c
               where c.execution_id = p_execution_id and c.event_type in ('command.completed', 'command.failed')
                 and c.meta ->> 'command_id' = any (array(
                       select p_execution_id || ':' || i.node_id || ':' || i.current_index || ':' || n from generate_series(1, c_most_attempts) n))
             ) as x
       order by x.seq desc limit 1) as e on true
   order by i.current_index;
end $$;

grant execute on function noetl.fn_loop_items(bigint, text, text, integer, integer) to authenticated, service_role, dot_executor, stagedoor_agent, stagedoor_reviewer;
