-- Whether something still needs the log of the executions from p_from to p_to: one of them has not ended before p_before,
-- is told something, waits or works, or has a result in a file that is not deleted yet. Internal.
create or replace function noetl.fn_executions_needed(p_from bigint, p_to bigint, p_before timestamptz) returns boolean
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select exists (select from noetl.checkpoint where execution_id between p_from and p_to)
      or exists (select from noetl.inbox where execution_id between p_from and p_to)
      or exists (select from noetl.wait where execution_id between p_from and p_to)
      or exists (select from noetl.command where execution_id between p_from and p_to)
      or exists (select from noetl.execution
                  where execution_id between p_from and p_to and (end_time is null or end_time > p_before))
      or exists (select from noetl.result_ref
                  where execution_id between p_from and p_to and collected_at is null
                    and store_tier not in ('db', 'memory', 'eventlog'))
$$;
