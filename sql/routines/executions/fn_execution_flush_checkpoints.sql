-- The snapshots of a flush, each whole as it is given, and who has ended. Internal.
create or replace function noetl.fn_execution_flush_checkpoints(p_batch jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ended bigint[] := array(select i::bigint from jsonb_array_elements_text(p_batch -> 'ended') i);
begin
  insert into noetl.checkpoint as c (execution_id, shard_id, epoch, last_event_id, last_seq, fold_version, state, ended)
  select n.execution_id, noetl.fn_shard_of(n.execution_id), n.epoch, n.last_event_id, n.last_seq, n.fold_version, nullif(n.state, 'null'),
         n.execution_id = any (v_ended)
    from jsonb_to_recordset(p_batch -> 'checkpoints') as n (
      execution_id bigint, epoch bigint, last_event_id bigint, last_seq integer, fold_version smallint, state jsonb)
   order by n.execution_id
  on conflict (execution_id) do update set
    epoch = excluded.epoch, last_event_id = excluded.last_event_id, last_seq = excluded.last_seq, fold_version = excluded.fold_version,
    state = excluded.state, ended = c.ended or excluded.ended, committed_at = clock_timestamp();
  if cardinality(v_ended) > 0 then
    update noetl.checkpoint set ended = true, committed_at = clock_timestamp() where execution_id = any (v_ended) and not ended;
  end if;
end $$;
