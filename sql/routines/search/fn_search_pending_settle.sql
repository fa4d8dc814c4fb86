-- Of these units, those that are found by what search has of them, or not at all any more: their words are not kept any longer. What was
-- written meanwhile stays. Internal.
create or replace function iu_core.fn_search_pending_settle(p_unit_ids uuid[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  -- In the order of everybody else, so that two cannot wait for each other; what is true is asked after the wait.
  perform from iu_core.search_pending p where p.unit_id = any (p_unit_ids) order by p.unit_id for update;
  if not found then
    return;
  end if;
  delete from iu_core.search_pending p
   using iu_core.information_unit u
   where p.unit_id = any (p_unit_ids) and u.unit_id = p.unit_id
     and (u.deleted_at is not null or u.lifecycle_status = 'retired'
          or exists (select from iu_core.search_chunk c
                      where c.unit_id = u.unit_id and c.content_hash_at_embedding = u.content_hash));
end $$;
