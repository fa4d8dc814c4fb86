-- What a cut does with each piece of the manifest, as rows in JSON (fn_cut_planned reads them). Internal: under fn_unit_tree_lock.
--   born       no unit ever held it
--   unchanged  the document's piece is what it was, or its unit says that already: whatever people did to the unit stays
--   versioned  it changed, and its unit is a draft. Its title alone: the text of the unit stays (keeps_body)
--   successor  it changed, and its unit is locked or gone: a draft comes beside it. It supersedes what is enacted; what was retired or
--              deleted has nothing more to give up (replaces_id is NULL)
-- Which unit: the youngest that lives of those that held the piece, then along its successors to the last of them.
-- Where two pieces lead to the same unit (people superseded two by one) the other one's own unit gets the successor.
-- container_id is the unit that it belongs into: that of its parent, of the nearest above it that is alive, or the root. A section
-- whose successor is only a draft still holds what is in it. is_placed: the document has the piece in the section in which it had it
-- at the last cut (held_parent, if is_known); held_position: its place in the whole at that time.
create or replace function iu_core.fn_cut_plan(p_workspace_id uuid, p_document_id uuid, p_root_id uuid, p_pieces jsonb) returns jsonb
language sql
set search_path = pg_catalog, pg_temp
-- The statistics are of before this transaction: what it made itself is joined by hashing, units are looked up by their id.
set enable_nestloop = off
set jit = off
as $$
  with recursive piece as materialized (
    select * from jsonb_to_recordset(p_pieces) as p (
      "position" integer, address text, parent text, kind text, title text, "from" integer, "to" integer, hash text, topics jsonb)
  ), before as materialized (
    select distinct m.piece_address as address, nullif(m.parent_address, '') as parent from iu_core.kb_unit_map m
     where m.document_id = p_document_id and m.dropped_at is null and m.parent_address is not null
  ), held as materialized (
    select m.piece_address, m.unit_id, m.title, m.content_hash, m.dropped_at, m.position, count(*) over (partition by m.piece_address) as units,
           row_number() over (partition by m.piece_address order by
             case when u.deleted_at is not null or u.lifecycle_status = 'retired' then 2
                  when u.lifecycle_status = 'superseded' then 1 else 0 end,
             u.born_at desc, u.unit_id desc) as rank
      from iu_core.kb_unit_map m
     cross join lateral (select x.* from iu_core.information_unit x where x.unit_id = m.unit_id offset 0) u
     where m.document_id = p_document_id
  ), chain as (
    select h.piece_address, h.unit_id, 0 as depth from held h where h.rank = 1
    union all
    select c.piece_address, n.unit_id, c.depth + 1
      from chain c
     cross join lateral (select x.* from iu_core.information_unit x where x.unit_id = c.unit_id offset 0) u
     cross join lateral (
       select u.superseded_by as unit_id where u.superseded_by is not null
       union all
       (select s.unit_id from iu_core.information_unit s
         where s.supersedes = u.unit_id and s.lifecycle_status = 'draft' and s.deleted_at is null and u.superseded_by is null offset 0)) n
     where c.depth < 1000
  ), head as materialized (
    select distinct on (c.piece_address) c.piece_address, c.unit_id from chain c order by c.piece_address, c.depth desc
  ), own as materialized (
    select p.*, h.unit_id as first_id, h.title as held_title, h.content_hash as held_hash, h.dropped_at is not null as is_back, coalesce(h.units, 0) as units,
           case when h.dropped_at is null then h.position end as held_position, b.parent as held_parent, b.address is not null as is_known,
           case when row_number() over (partition by x.unit_id order by x.unit_id <> h.unit_id, p."position") = 1
                then x.unit_id else h.unit_id end as head_id
      from piece p
      left join held h on h.piece_address = p.address and h.rank = 1
      left join head x on x.piece_address = p.address
      left join before b on b.address = p.address
  ), judged as materialized (
    select o.*, u.version_no, u.content_hash as unit_hash, u.supersedes, s.is_alive, s.keeps_body, u.lifecycle_status,
           case
             when o.head_id is null then 'born'
             when s.keeps_body and s.is_alive and u.lifecycle_status = 'draft' and o.title <> o.held_title and o.title <> u.title
               then 'versioned'
             when s.keeps_body then 'unchanged'
             when s.is_alive and u.lifecycle_status = 'draft' then 'versioned'
             else 'successor'
           end as what
      from own o
      left join lateral (select x.* from iu_core.information_unit x where x.unit_id = o.head_id offset 0) u on true
     cross join lateral (
       select a.is_alive, a.is_alive and u.content_hash = o.hash or not o.is_back and o.held_hash = o.hash as keeps_body
         from (select u.deleted_at is null and u.lifecycle_status in ('draft', 'enacted') as is_alive) a) s
  ), made as materialized (
    select j.*,
           case when j.what in ('born', 'successor') then iu_core.fn_time_uuid() else j.head_id end as unit_id,
           case j.what when 'born' then j.address when 'successor' then coalesce(n.address, (
             -- People gave these addresses to units of their own.
             select j.address || '~' || g.number
               from generate_series(j.units + 21, j.units + 20000) as g (number)
              where not exists (select from iu_core.information_unit t
                                 where t.workspace_id = p_workspace_id and t.canonical_address = j.address || '~' || g.number offset 0)
              order by g.number limit 1)) end as unit_address,
           coalesce(e.unit_id, case when j.is_alive then j.head_id end) as living_id
      from judged j
      left join lateral (
        select x.unit_id from iu_core.information_unit x
         where j.lifecycle_status = 'draft' and x.unit_id = j.supersedes and x.lifecycle_status = 'enacted' and x.deleted_at is null
        offset 0) e on true
      left join lateral (
        select j.address || '~' || g.number as address
          from generate_series(case when j.what = 'successor' then j.units + 1 end, j.units + 20) as g (number)
         where not exists (select from iu_core.information_unit t
                            where t.workspace_id = p_workspace_id and t.canonical_address = j.address || '~' || g.number offset 0)
         order by g.number limit 1) n on true
  ), holding as materialized (
    select m.address, m.parent,
           case when m.living_id is not null then m.living_id when m.what in ('born', 'successor') then m.unit_id end as holds
      from made m
  ), placed as (
    select h.address, h.holds, p_root_id as container_id from holding h where h.parent is null
    union all
    select h.address, h.holds, coalesce(o.holds, o.container_id) from placed o join holding h on h.parent = o.address
  )
  select jsonb_agg(jsonb_build_object(
           'position', m."position", 'address', m.address, 'parent', m.parent, 'kind', m.kind, 'title', m.title, 'from', m."from", 'to', m."to",
           'hash', m.hash, 'topics', m.topics, 'what', m.what, 'unit_id', m.unit_id, 'unit_address', m.unit_address, 'head_id', m.head_id,
           'version_no', m.version_no, 'unit_hash', m.unit_hash, 'lifecycle_status', m.lifecycle_status, 'is_alive', coalesce(m.is_alive, false),
           'keeps_body', coalesce(m.keeps_body, false), 'is_edited', m.unit_hash <> m.held_hash,
           'replaces_id', case when m.what = 'successor' and m.is_alive then m.head_id end,
           'held_position', m.held_position, 'held_parent', m.held_parent, 'is_known', m.is_known,
           'is_placed', m.is_known and m.held_parent is not distinct from m.parent,
           'container_id', p.container_id, 'number', m.number) order by m."position")
    from (select x.*, row_number() over (partition by x.parent order by x."position") as number from made x) m
    join placed p on p.address = m.address
$$;
