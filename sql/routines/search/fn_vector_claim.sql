-- Takes what is due into a worker's hands: one row each for a unit or a document, the oldest first, also those whose worker has
-- gone silent. Nothing at all unless the gate that keeps staging out is open, and no unit before phase 1, but what was deleted
-- leaves search in every phase.
create or replace function iu_core.fn_vector_claim(
  p_worker uuid,
  p_limit integer default 50,
  p_lease interval default '2 minutes'
) returns table (outbox_id uuid, unit_id uuid, document_id uuid, operation text, generation bigint, retry_count integer)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
  v_units boolean;
begin
  if p_worker is null or p_limit is null or p_limit not between 1 and 1000 then
    raise exception using errcode = 'SD001', message = 'A claim needs a worker and a limit from 1 to 1000';
  end if;
  -- Tombstones are kept for as long: a worker that wakes up later could bring back what was deleted.
  if p_lease is null or p_lease <= '0 seconds' or p_lease > '10 minutes' then
    raise exception using errcode = 'SD001', message = 'A lease is longer than nothing and not longer than 10 minutes';
  end if;
  if not exists (select from iu_core.dot_config where key = 'iu_core.no_vector_staging_excluded' and value = 'true') then
    return;
  end if;
  v_units := exists (select from iu_core.dot_config where key = 'search.phase_1.enabled' and value = 'true');
  return query
    with due as (
      select o.outbox_id from iu_core.vector_outbox o
       where o.status in ('pending', 'processing') and o.earliest_run_at <= v_now
         and (o.status = 'pending' or o.leased_until < v_now)
         and (v_units or o.unit_id is null or o.operation = 'delete')
       order by o.earliest_run_at, o.outbox_id
       limit p_limit
         for update skip locked
    )
    update iu_core.vector_outbox o
       set status = 'processing', worker_id = p_worker, leased_until = v_now + p_lease, changed_at = v_now
      from due d where o.outbox_id = d.outbox_id
    returning o.outbox_id, o.unit_id, o.document_id, o.operation, o.generation, o.retry_count;
end $$;

grant execute on function iu_core.fn_vector_claim(uuid, integer, interval) to vector_worker;
