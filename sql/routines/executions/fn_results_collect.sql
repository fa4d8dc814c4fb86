-- Forgets results whose execution ended longer ago than noetl.retention says: their rows stay for the trace, marked, and
-- bodies in the database are deleted. Answers those that were marked; the caller deletes the files of the others before
-- it commits: if it ends in between, they come again.
-- Kept while somebody may still read them: an ancestor that goes on (a child's result is its parent's, too), or a rerun
-- that goes on and took over outcomes of the execution.
create or replace function noetl.fn_results_collect(p_limit integer default 1000) returns setof noetl.result_ref
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_before timestamptz := clock_timestamp() - (select results from noetl.retention);
  v_ids bigint[];
begin
  if p_limit is null or p_limit < 1 then
    raise exception using errcode = 'SD001', message = 'The limit must be at least 1';
  end if;
  with recursive taken_over as (
    select e.meta ->> 'rerun_of' as id
      from noetl.checkpoint c
      join noetl.event e on e.execution_id = c.execution_id and e.seq = 1
     where e.meta ->> 'rerun_of' is not null
    union
    select e.meta ->> 'rerun_of'
      from taken_over t
      join noetl.event e on e.execution_id = t.id::bigint and e.seq = 1
     where e.meta ->> 'rerun_of' is not null
  ), old as (
    select r.ref_id
      from noetl.result_ref r
      join noetl.execution x on x.execution_id = r.execution_id
     where r.collected_at is null and r.created_at <= v_before and x.end_time <= v_before
       and not exists (
         with recursive line as (
           select x.execution_id as id, x.parent_execution_id as parent, x.end_time
           union all
           select p.execution_id, p.parent_execution_id, p.end_time
             from line l join noetl.execution p on p.execution_id = l.parent)
         select from line l
          where l.end_time is null or l.end_time > v_before or l.id::text in (select t.id from taken_over t))
     order by r.created_at limit p_limit
       for update of r skip locked
  )
  select array_agg(ref_id) into v_ids from old;
  delete from noetl.result_body where ref_id = any (v_ids);
  return query update noetl.result_ref set collected_at = clock_timestamp() where ref_id = any (v_ids) returning *;
end $$;

grant execute on function noetl.fn_results_collect(integer) to dot_executor;
