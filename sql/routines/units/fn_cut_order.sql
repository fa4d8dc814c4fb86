-- The order in which the units of a document belong into their containers, for those containers in which some unit has another number:
-- [{container_id, units: [ids], is_reordered: units that were there before changed places, by_hand: people had given it the order that it
-- had}]. Where the document has the pieces of a container in another order than at the last cut, it is that of the manifest; else it is
-- what it was, be it people's own, and what is new comes behind the piece before it. p_moved: units that were not there. Internal.
create or replace function iu_core.fn_cut_order(p_document_id uuid, p_plan jsonb, p_moved uuid[]) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
-- The statistics are of before this transaction: what it made itself is joined by hashing, units are looked up by their id.
set enable_nestloop = off
set jit = off
as $$
  with held as materialized (
    select u.unit_id, u.container_id, p."position" as piece, p.held_position,
           u.unit_id = any (p_moved) or (p.what in ('born', 'successor') and p.unit_id = u.unit_id) or p.held_position is null as is_new
      from iu_core.fn_cut_planned(p_plan) p
      join iu_core.kb_unit_map m on m.document_id = p_document_id and m.piece_address = p.address
     cross join lateral (
       select x.unit_id, x.container_id, x.deleted_at, x.lifecycle_status from iu_core.information_unit x
        where x.unit_id = m.unit_id offset 0) u
     where u.container_id is not null and u.deleted_at is null and u.lifecycle_status in ('draft', 'enacted')
       -- What people put elsewhere is no piece there.
       and (u.container_id = p.container_id
            or exists (select from iu_core.kb_unit_map o
                        where o.document_id = p_document_id and o.unit_id = u.container_id and o.piece_address = p.parent offset 0))
  ), inside as materialized (
    select u.* from (select distinct container_id from held) o
     cross join lateral (
       select x.unit_id, x.container_id, x.position, x.born_at from iu_core.information_unit x
        where x.container_id = o.container_id and x.deleted_at is null and x.lifecycle_status in ('draft', 'enacted') offset 0) u
  ), child as materialized (
    select u.*, h.piece, h.held_position, coalesce(h.is_new, false) as is_new,
           row_number() over (partition by u.container_id, coalesce(h.is_new, false) order by u.position, u.unit_id) as old_rank,
           -- Units that are no pieces follow the piece before them.
           count(h.piece) filter (where not h.is_new) over (partition by u.container_id order by u.position, u.unit_id) as run,
           count(*) filter (where not h.is_new) over (partition by u.container_id order by h.piece, h.is_new, u.unit_id) as anchor
      from inside u
      left join held h on h.unit_id = u.unit_id
  ), container as materialized (
    select container_id, bool_or(now <> before) as is_documents, bool_or(old <> before) as by_hand
      from (select c.container_id,
                   row_number() over (partition by c.container_id order by c.held_position, c.unit_id) as before,
                   row_number() over (partition by c.container_id order by c.piece, c.unit_id) as now,
                   row_number() over (partition by c.container_id order by c.position, c.unit_id) as old
              from child c where c.piece is not null and not c.is_new) r
     group by container_id
  ), ranked as (
    select c.*, coalesce(o.is_documents, false) as is_documents, coalesce(o.by_hand, false) as by_hand,
           coalesce(c.piece, max(c.piece) filter (where not c.is_new) over (partition by c.container_id, c.run), 0) as key,
           max(c.old_rank) filter (where not c.is_new) over (partition by c.container_id, c.run) as run_end
      from child c left join container o on o.container_id = c.container_id
  ), keyed as (
    -- In the order of the pieces each anchor is one that was there, and what is new behind it.
    select r.*,
           max(r.piece) filter (where not r.is_new) over (partition by r.container_id, r.piece is null, r.anchor) as anchor_piece,
           max(r.old_rank) filter (where not r.is_new) over (partition by r.container_id, r.piece is null, r.anchor) as anchor_rank,
           max(r.run_end) filter (where not r.is_new) over (partition by r.container_id, r.piece is null, r.anchor) as anchor_end
      from ranked r
  ), placed as (
    select k.*,
           case when k.is_documents then array[k.key, (k.piece is null)::integer, case when k.piece is null then k.old_rank else 0 end]
                when not k.is_new then array[k.old_rank, 0, 0]
                when k.anchor_piece = k.piece then array[k.anchor_rank, 1, k.piece]
                else array[coalesce(k.anchor_end, 0), 2, k.piece] end as place
      from keyed k
  ), numbered as (
    select p.*,
           row_number() over (partition by p.container_id order by p.place, p.born_at, p.unit_id) as number,
           row_number() over (partition by p.container_id, p.is_new order by p.place, p.born_at, p.unit_id) as new_rank
      from placed p
  ), ordered as (
    select container_id, array_agg(unit_id order by number) as units, bool_or(not is_new and old_rank <> new_rank) as is_reordered,
           bool_or(is_documents and by_hand) as by_hand
      from numbered group by container_id having bool_or(number <> position)
  )
  select coalesce(jsonb_agg(jsonb_build_object('container_id', container_id, 'units', units, 'is_reordered', is_reordered, 'by_hand', by_hand)
                            order by container_id), '[]')
    from ordered
$$;
