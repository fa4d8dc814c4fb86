-- Enqueues units and has them done at once. Internal.
create or replace function iu_core.fn_vector_due(p_unit_ids uuid[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(cardinality(p_unit_ids), 0) = 0 then
    return;
  end if;
  -- Of what lives the projection itself is missing or wrong: it is not current until that is mended.
  perform iu_core.fn_vector_enqueue(array_agg(u.unit_id), case when u.is_there then 'upsert' else 'patch' end)
     from (select x.unit_id, x.deleted_at is null and x.lifecycle_status <> 'retired' as is_there
             from iu_core.information_unit x where x.unit_id = any (p_unit_ids)) as u
    group by u.is_there;
  update iu_core.vector_outbox o set earliest_run_at = clock_timestamp()
   where o.unit_id = any (p_unit_ids) and o.status in ('pending', 'processing');
  perform pg_notify('stagedoor_vectors', '');
end $$;
