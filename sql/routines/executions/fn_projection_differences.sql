-- Where the projection is not what its log says: at most p_limit executions after p_after, in their order. A row is
-- compared at its own last_seq, so that events which are not projected yet are no difference while a checkpoint says so.
-- Stable on purpose: rows and log are read in the one snapshot of the caller's statement.
create or replace function noetl.fn_projection_differences(p_after bigint default 0, p_limit integer default 1000)
returns table (execution_id bigint, difference text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_page constant integer := 500;
  v_ids bigint[];
  v_found integer;
begin
  if p_after is null or p_limit is null or p_limit < 1 then
    raise exception using errcode = 'SD001', message = 'Say after which execution (0: from the first), and a limit of at least 1';
  end if;
  loop
    -- Every execution that has a row, a log or both. By steps through the log's index, not through its events.
    v_ids := array(
      with recursive logged as (
        select (select min(e.execution_id) from noetl.event e where e.execution_id > p_after) as id, 1 as n
        union all
        select (select min(e.execution_id) from noetl.event e where e.execution_id > l.id), l.n + 1
          from logged l where l.id is not null and l.n < v_page)
      select id from (
        select l.id from logged l where l.id is not null
        union
        (select x.execution_id from noetl.execution x where x.execution_id > p_after order by 1 limit v_page)) as known
       order by id limit v_page);
    return query
      select d.id, d.difference from (
        select asked.id,
               case when x.execution_id is null then 'its log is not projected'
                    when f.execution_id is null then 'it has no log'
                    when x is distinct from f then concat_ws(', ', variadic array(
                      select n.key from jsonb_each(to_jsonb(x)) n join jsonb_each(to_jsonb(f)) m on m.key = n.key
                       where n.value is distinct from m.value order by n.key))
                    else 'its last events are not projected' end as difference
          from unnest(v_ids) as asked (id)
          left join noetl.execution x on x.execution_id = asked.id
          left join noetl.fn_execution_fold(
            v_ids, true, array(select y.last_seq from unnest(v_ids) with ordinality as i (id, n)
                                 left join noetl.execution y on y.execution_id = i.id order by i.n)) f on f.execution_id = asked.id
         where (x is distinct from f and x.execution_id is not null)
            or not exists (select from noetl.checkpoint c where c.execution_id = asked.id)
               and (x.execution_id is null
                    or exists (select from noetl.event e where e.execution_id = asked.id and e.seq > x.last_seq))) as d
       order by d.id limit p_limit;
    get diagnostics v_found = row_count;
    p_limit := p_limit - v_found;
    exit when p_limit <= 0 or cardinality(v_ids) < v_page;
    p_after := v_ids[v_page];
  end loop;
end $$;

grant execute on function noetl.fn_projection_differences(bigint, integer) to dot_executor, service_role;
