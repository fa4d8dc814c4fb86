-- The units of pieces that are elsewhere than the manifest has them: [{unit_id, from, to, position, address}], NULL if there are none.
-- A unit that is in the right section already stays, though the section have a successor. Internal.
create or replace function iu_core.fn_cut_moves(p_document_id uuid, p_plan jsonb) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
-- The statistics are of before this transaction: what it made itself is joined by hashing, units are looked up by their id.
set enable_nestloop = off
set jit = off
as $$
  select jsonb_agg(jsonb_build_object('unit_id', u.unit_id, 'from', u.container_id, 'to', p.container_id, 'position', p.number,
                                      'address', u.canonical_address) order by p."position")
    from iu_core.fn_cut_planned(p_plan) p
    join iu_core.kb_unit_map m on m.document_id = p_document_id and m.piece_address = p.address
   cross join lateral (select i.* from iu_core.information_unit i where i.unit_id = m.unit_id offset 0) u
    left join lateral (select i.* from iu_core.information_unit i where i.unit_id = u.container_id offset 0) x on true
   where u.deleted_at is null and u.lifecycle_status in ('draft', 'enacted')
     and u.container_id is distinct from p.container_id
     and not (p.parent is not null and x.deleted_at is null and x.lifecycle_status <> 'retired'
              and exists (select from iu_core.kb_unit_map o
                           where o.document_id = p_document_id and o.unit_id = u.container_id and o.piece_address = p.parent offset 0))
$$;
