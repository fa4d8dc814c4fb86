-- Loops have ended whose results somebody refers to: each is one result from now on, which is in the log until it is read for
-- the first time (fn_loop_results). A flush holds up every execution of its engine, and a million items take seconds to put
-- together. It comes from the loop's collection, where that is a result of its own. Internal.
create or replace function noetl.fn_execution_flush_collect(p_collect jsonb) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  insert into noetl.result_ref (ref_id, execution_id, node_name, name, parent_ref_id, store_tier, physical_uri, content_hash, bytes)
  select c.ref_id, c.execution_id, c.node_name, 'results',
         (select regexp_replace(s.context ->> 'collection_ref', '^.*/', '')::bigint from noetl.event s
           where s.execution_id = c.execution_id and s.meta ->> 'loop_id' = c.loop_id::text and s.event_type = 'loop.started'),
         'eventlog', 'eventlog:noetl.event/' || c.loop_id, '', 0
    from jsonb_to_recordset(p_collect) as c (execution_id bigint, loop_id bigint, ref_id bigint, node_name text)
$$;
