-- The units of pieces that are elsewhere than the manifest has them: [{unit_id, from, to, position, address, by_hand}], NULL if there
-- are none. A unit that is in the right section already stays, though the section have a successor; and with p_keep one that people
-- put elsewhere, as long as the document has its piece where it had it at the last cut. by_hand: people had put it where it is.
-- Internal.
create or replace function iu_core.fn_cut_moves(p_document_id uuid, p_plan jsonb, p_keep boolean) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
-- The statistics are of before this transaction: what it made itself is joined by hashing, units are looked up by their id.
set enable_nestloop = off
set jit = off
as $$
  with root as materialized (
    select p.container_id as unit_id, split_part(p.address, '/', 1) as address
      from iu_core.fn_cut_planned(p_plan) p where p.parent is null limit 1
  ), place as materialized (
    select u.unit_id, u.canonical_address, u.container_id as "from", p.container_id as "to", p."position" as piece, p.number, p.is_placed, p.is_known,
           p.parent, p.held_parent, x.canonical_address as container,
           x.deleted_at is null and x.lifecycle_status in ('draft', 'enacted') as is_alive,
           x.deleted_at is null and x.lifecycle_status <> 'retired' as is_there,
           (select o.piece_address from iu_core.kb_unit_map o
             where o.document_id = p_document_id and o.unit_id = u.container_id offset 0) as section
      from iu_core.fn_cut_planned(p_plan) p
      join iu_core.kb_unit_map m on m.document_id = p_document_id and m.piece_address = p.address
     cross join lateral (select i.* from iu_core.information_unit i where i.unit_id = m.unit_id offset 0) u
      left join lateral (select i.* from iu_core.information_unit i where i.unit_id = u.container_id offset 0) x on true
     where u.deleted_at is null and u.lifecycle_status in ('draft', 'enacted')
  ), moved as (
    select p.*,
           p.is_known and case
             when p."from" is null or p.held_parent is not null then p.section is distinct from p.held_parent
             else p."from" <> r.unit_id and p.container <> r.address end as by_hand
      from place p left join root r on true
     where p."from" is distinct from p."to"
       and not coalesce(p.parent is not null and p.is_there and p.section = p.parent, false)
       and not coalesce(p_keep and p.is_placed and (
             p.is_alive
             -- Outside of everything it is by hand, unless the document's own unit was gone and all of them are.
             or p."from" is null and exists (select from place o, root q where o."from" = q.unit_id)), false)
  )
  select jsonb_agg(jsonb_build_object('unit_id', m.unit_id, 'from', m."from", 'to', m."to", 'position', m.number,
                                      'address', m.canonical_address, 'by_hand', coalesce(m.by_hand, false)) order by m.piece)
    from moved m
$$;
