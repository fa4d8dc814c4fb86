-- The order in which the units of a document belong into their containers, for those containers in which some unit has another number:
-- [{container_id, units: [ids], is_reordered: units that were there before changed places}]. p_moved: those that were not. Internal.
create or replace function iu_core.fn_cut_order(p_document_id uuid, p_plan jsonb, p_moved uuid[]) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
-- The statistics are of before this transaction: what it made itself is joined by hashing, units are looked up by their id.
set enable_nestloop = off
set jit = off
as $$
  with held as materialized (
    select u.unit_id, u.container_id, p."position" as piece,
           u.unit_id = any (p_moved) or (p.what in ('born', 'successor') and p.unit_id = u.unit_id) as is_new
      from iu_core.fn_cut_planned(p_plan) p
      join iu_core.kb_unit_map m on m.document_id = p_document_id and m.piece_address = p.address
     cross join lateral (
       select x.unit_id, x.container_id, x.deleted_at, x.lifecycle_status from iu_core.information_unit x
        where x.unit_id = m.unit_id offset 0) u
     where u.container_id is not null and u.deleted_at is null and u.lifecycle_status in ('draft', 'enacted')
  ), inside as materialized (
    select u.* from (select distinct container_id from held) o
     cross join lateral (
       select x.unit_id, x.container_id, x.position, x.born_at from iu_core.information_unit x
        where x.container_id = o.container_id and x.deleted_at is null and x.lifecycle_status in ('draft', 'enacted') offset 0) u
  ), child as (
    select u.*, h.piece, coalesce(h.is_new, false) as is_new,
           -- Units that are no pieces follow the piece before them.
           count(h.piece) filter (where not h.is_new) over (partition by u.container_id order by u.position, u.unit_id) as run
      from inside u
      left join held h on h.unit_id = u.unit_id
  ), keyed as (
    select c.*, coalesce(c.piece, max(c.piece) filter (where not c.is_new) over (partition by c.container_id, c.run), 0) as key
      from child c
  ), numbered as (
    select k.*,
           row_number() over (partition by k.container_id order by k.key, k.piece is null, k.born_at, k.unit_id) as number,
           row_number() over (partition by k.container_id, k.is_new order by k.position, k.unit_id) as old_rank,
           row_number() over (partition by k.container_id, k.is_new order by k.key, k.piece is null, k.born_at, k.unit_id) as new_rank
      from keyed k
  ), ordered as (
    select container_id, array_agg(unit_id order by number) as units, bool_or(not is_new and old_rank <> new_rank) as is_reordered
      from numbered group by container_id having bool_or(number <> position)
  )
  select coalesce(jsonb_agg(jsonb_build_object('container_id', container_id, 'units', units, 'is_reordered', is_reordered) order by container_id), '[]')
    from ordered
$$;
