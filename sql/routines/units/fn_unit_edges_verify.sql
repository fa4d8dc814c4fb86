-- Looks again where the edges of units lead: an unverified one whose target is a unit by now is verified, a verified one
-- whose target was deleted or retired is unverified. Internal: the checker's first step.
create or replace function iu_core.fn_unit_edges_verify(p_unit_ids uuid[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  with looked_at as (
    select e.edge_id, nullif(iu_core.fn_unit_named(e.workspace_id, e.target_ref), e.from_unit_id) as to_unit_id
      from iu_core.universal_edges e
     where e.from_unit_id = any (p_unit_ids)
       and (e.edge_status = 'unverified'
            or exists (select from iu_core.information_unit t
                        where t.unit_id = e.to_unit_id and (t.deleted_at is not null or t.lifecycle_status = 'retired')))
     order by e.edge_id
       for update of e
  )
  update iu_core.universal_edges e
     set to_unit_id = l.to_unit_id, edge_status = case when l.to_unit_id is null then 'unverified' else 'verified' end
    from looked_at l
   where e.edge_id = l.edge_id and e.to_unit_id is distinct from l.to_unit_id;
end $$;
