-- Gives rows back that could not be done for no fault of theirs: the embedder or the store is away, or the worker stops. No try is
-- used up; they are due again after p_after, or when an edit says so.
create or replace function iu_core.fn_vector_release(
  p_worker uuid,
  p_outbox uuid[],
  p_after interval default '0 seconds',
  p_reason text default null
) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
begin
  if p_worker is null or p_outbox is null or p_after is null or p_after not between '0 seconds' and '1 hour' then
    raise exception using errcode = 'SD001', message = 'A worker, its rows, and how long they wait, at most an hour';
  end if;
  update iu_core.vector_outbox o
     set status = 'pending', worker_id = null, leased_until = null, changed_at = clock_timestamp(),
         earliest_run_at = clock_timestamp() + p_after, last_error = left(p_reason, 500)
   where o.outbox_id = any (p_outbox) and o.worker_id = p_worker and o.status = 'processing';
  get diagnostics v_count = row_count;
  return v_count;
end $$;

grant execute on function iu_core.fn_vector_release(uuid, uuid[], interval, text) to vector_worker;
