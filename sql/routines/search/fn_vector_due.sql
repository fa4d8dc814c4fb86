-- Enqueues units and has them done at once. Internal.
create or replace function iu_core.fn_vector_due(p_unit_ids uuid[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(cardinality(p_unit_ids), 0) = 0 then
    return;
  end if;
  perform iu_core.fn_vector_enqueue(p_unit_ids, 'patch');
  update iu_core.vector_outbox o set earliest_run_at = clock_timestamp()
   where o.unit_id = any (p_unit_ids) and o.status in ('pending', 'processing');
  perform pg_notify('stagedoor_vectors', '');
end $$;
