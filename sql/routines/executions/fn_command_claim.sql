-- Leases due commands to an engine, of those whose handlers it has. Executions take turns: each gets an equal part of the claim and what others leave of
-- theirs, so that a fan-out of 100,000 does not hold up the small loop that began after it. Where there are more executions
-- than one claim can look at, it begins at any of them.
create or replace function noetl.fn_command_claim(p_engine uuid, p_limit integer) returns setof noetl.command
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  c_most constant integer := 64;
  v_now timestamptz := clock_timestamp();
  v_handlers text[];
  v_from bigint;
  v_executions bigint[];
  v_left integer := p_limit;
  v_part integer;
  v_taken noetl.command[];
begin
  if p_limit is null or p_limit not between 1 and 10000 then
    raise exception using errcode = 'SD001', message = 'The limit must be from 1 to 10000';
  end if;
  -- Held until the claim is committed: reaped meanwhile, its commands would be with an engine that nobody looks for any more.
  select handlers into v_handlers from noetl.engine
   where engine_id = p_engine and leased_until > clock_timestamp() for key share;
  if not found then
    perform noetl.fn_engine_lost(p_engine);
  end if;
  v_executions := noetl.fn_command_executions(0, c_most + 1);
  if cardinality(v_executions) > c_most then
    select min(c.execution_id) + (random() * (max(c.execution_id) - min(c.execution_id)))::bigint into v_from from noetl.command c;
    v_executions := noetl.fn_command_executions(v_from, c_most);
    if cardinality(v_executions) < c_most then
      v_executions := v_executions || noetl.fn_command_executions(0, c_most - cardinality(v_executions));
    end if;
  end if;
  while cardinality(v_executions) > 0 and v_left > 0 loop
    v_part := greatest(1, v_left / cardinality(v_executions));
    with turn as materialized (
      select d.command_id
        from unnest(v_executions) x (execution_id)
       cross join lateral (
         select c.command_id from noetl.command c
          where c.execution_id = x.execution_id and c.process_after <= v_now and c.leased_by is null
            and (c.needs is null or c.needs <@ v_handlers)
          order by c.process_after limit v_part for update skip locked) d
       limit v_left
    ), taken as (
      update noetl.command c set leased_by = p_engine, lease_epoch = c.lease_epoch + 1, started_at = v_now
        from turn where c.command_id = turn.command_id
      returning c.*
    )
    -- Who gave less than its part has no more.
    select array_agg(t), array(select f.execution_id from taken f group by 1 having count(*) >= v_part)
      into v_taken, v_executions from taken t;
    return query select * from unnest(v_taken);
    v_left := v_left - coalesce(cardinality(v_taken), 0);
  end loop;
end $$;

grant execute on function noetl.fn_command_claim(uuid, integer) to dot_executor;
