-- Pools: how many workers are wanted of those that run the same kinds of jobs, or the same handlers of playbooks.

-- Jobs that run and that are due, by kind and executor, and how many places they want: those that run, and those that work the due ones
-- off within ten seconds. It reads at most 10,000 jobs of a kind, in the order of claims, in which running jobs are the first; and of
-- the last ten minutes of the history at most 20,000. A kind without history is taken for one second. Internal.
create or replace function iu_core.fn_job_demand()
returns table (job_kind text, executor text, running integer, due integer, mean_seconds double precision, places double precision)
language sql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
  with recursive pair as (
    (select q.job_kind, q.executor::text as executor from iu_core.job_queue q order by q.job_kind, q.executor limit 1)
    union all
    select n.job_kind, n.executor
      from pair p cross join lateral (
        select q.job_kind, q.executor::text as executor from iu_core.job_queue q
         where (q.job_kind, q.executor) > (p.job_kind, p.executor) order by q.job_kind, q.executor limit 1) n
  ), line as (
    select p.job_kind, p.executor,
           (select min(q.urgency) from iu_core.job_queue q where q.job_kind = p.job_kind and q.executor = p.executor)::integer as urgency
      from pair p
    union all
    select l.job_kind, l.executor,
           (select min(q.urgency) from iu_core.job_queue q
             where q.job_kind = l.job_kind and q.executor = l.executor and q.urgency > l.urgency)::integer
      from line l where l.urgency is not null
  ), took as (
    select h.job_kind, h.executor, avg(extract(epoch from h.finished_at - h.started_at))::double precision as seconds
      from (select f.job_kind, f.executor::text as executor, f.started_at, f.finished_at from iu_core.job_history f
             where f.finished_at > now() - interval '10 minutes' and f.outcome = 'completed' and f.started_at is not null limit 20000) h
     group by 1, 2
  )
  select p.job_kind, p.executor, c.running, c.due, t.seconds,
         least(c.running + case when k.paused_at is null then c.due * coalesce(t.seconds, 1) / 10 else 0 end,
               k.concurrency::double precision)
    from pair p
    join iu_core.job_kind k on k.job_kind = p.job_kind
    cross join lateral (
      select (count(*) filter (where f.leased_by is not null))::integer as running, (count(*) filter (where f.leased_by is null))::integer as due
        from (select n.leased_by
                from line l cross join lateral (
                  select q.leased_by from iu_core.job_queue q
                   where q.job_kind = l.job_kind and q.executor = l.executor and q.urgency = l.urgency and q.process_after <= now()
                   order by q.process_after limit 10000) n
               where l.job_kind = p.job_kind and l.executor = p.executor limit 10000) f) c
    left join took t on t.job_kind = p.job_kind and t.executor = p.executor
$$;

-- The pools: workers that live, by what they offer, and what nobody offers though it is there; or the one that was asked for, which need
-- not have a worker. The name of a pool is its kinds (kind,kind), behind the executor where that is another than PG_worker (executor/kind,kind), or
-- handler:name,name; of a long one a digest. p_concurrency, p_steps: calls at once of one worker. For whoever operates some workspace: a
-- worker serves all of them.
create or replace function iu_core.fn_pools(p_pool text default null, p_concurrency integer default 10, p_steps integer default 50)
returns table (pool text, executor text, kinds text[], handlers text[], workers integer, running integer, due integer,
               mean_seconds double precision, wanted_workers integer)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_executor text := case when p_pool like '%/%' then split_part(p_pool, '/', 1) else 'PG_worker' end;
  v_names text[] := array(select distinct n from unnest(string_to_array(regexp_replace(p_pool, '^(handler:|[^/]*/)', ''), ',')) n order by 1);
begin
  perform iu_core.require_member_somewhere('operate');
  if p_concurrency is null or p_concurrency < 1 or p_steps is null or p_steps < 1 then
    raise exception using errcode = 'SD001', message = 'A worker takes at least one call at once';
  end if;
  return query
    with demand as materialized (
      select * from iu_core.fn_job_demand()
    ), offered as (
      select w.executor::text as executor, array(select distinct k from unnest(w.kinds) k order by 1) as kinds, 1 as workers
        from iu_core.job_worker w where w.leased_until > clock_timestamp()
    ), wanted as (
      select o.executor, o.kinds, sum(o.workers)::integer as workers from offered o group by 1, 2
      union all
      select d.executor, array[d.job_kind], 0 from demand d
       where not exists (select from offered o where o.executor = d.executor and d.job_kind = any (o.kinds))
      union all
      select v_executor, v_names, 0 where p_pool !~ '^handler:'
    ), jobs as (
      select w.executor, w.kinds, sum(w.workers)::integer as workers from wanted w group by 1, 2
    ), calls as materialized (
      select c.needs, c.leased_by is not null as runs, c.started_at
        from noetl.command c where c.needs is not null and c.process_after <= now() limit 10000
    ), able as (
      select array(select distinct h from unnest(e.handlers) h order by 1) as handlers, 1 as workers
        from noetl.engine e where e.runs and e.handlers <> '{}' and e.leased_until > clock_timestamp()
    ), sets as (
      select a.handlers, sum(a.workers)::integer as workers
        from (select * from able
              union all
              select distinct array(select distinct n from unnest(c.needs) n order by 1), 0 from calls c
               where not exists (select from able a where c.needs <@ a.handlers)
              union all
              select v_names, 0 where p_pool ~ '^handler:') a
       group by 1
    ), named as (
      select case when j.executor = 'PG_worker' then '' else j.executor || '/' end || array_to_string(j.kinds, ',') as pool, j.executor, j.kinds,
             null::text[] as handlers, j.workers, d.running, d.due, d.mean_seconds, ceil(d.places / p_concurrency) as wanted
        from jobs j cross join lateral (
          select coalesce(sum(d.running), 0)::integer as running, coalesce(sum(d.due), 0)::integer as due,
                 avg(d.mean_seconds) as mean_seconds, coalesce(sum(d.places), 0) as places
            from demand d where d.executor = j.executor and d.job_kind = any (j.kinds)) d
      union all
      select 'handler:' || array_to_string(s.handlers, ','), null, null, s.handlers, s.workers, c.running, c.due, c.mean_seconds,
             ceil((c.running + c.due * coalesce(c.mean_seconds, 1) / 10) / p_steps)
        from sets s cross join lateral (
          -- A call that is seen while it runs has, on average, half of its time behind it.
          select (count(*) filter (where c.runs))::integer as running, (count(*) filter (where not c.runs))::integer as due,
                 2 * avg(extract(epoch from clock_timestamp() - c.started_at)) filter (where c.runs)::double precision as mean_seconds
            from calls c where c.needs <@ s.handlers) c
    )
    select s.short, n.executor, n.kinds, n.handlers, n.workers, n.running, n.due, n.mean_seconds, n.wanted::integer
      from named n
      cross join lateral (
        select case when length(n.pool) > 100 then left(n.pool, 40) || '-' || left(md5(n.pool), 12) else n.pool end as short) s
     where p_pool is null or s.short = p_pool or n.handlers = v_names and p_pool ~ '^handler:'
        or n.kinds = v_names and n.executor = v_executor and p_pool !~ '^handler:'
     order by case when p_pool is not null then -n.workers end, n.handlers is not null, n.pool
     limit case when p_pool is null then 1000 else 1 end;
end $$;

grant execute on function iu_core.fn_pools(text, integer, integer) to dot_executor, service_role, authenticated, stagedoor_reviewer;
