-- The plan of a cut: what it does with each piece of a manifest, which units it moves and in which order they are; and its preview.

-- Previews a cut by this manifest, for the reviewer: {pieces: [{address, what, unit?, status?, version_no?, new_address?,
-- replaced_version?, keeps_text?, moved_from?, moved_to?, replaced_place?, kept_in?}], removed: [{address, retired: [], kept:
-- []}], legacy: {document_id, title, content_hash, is_same} or null}. what is as in fn_cut_plan; unit, status (also deleted)
-- and version_no are of the unit that holds the piece; new_address is that of its new successor draft; kept_in is the container into
-- which people moved it, and in which it stays. removed: for removed pieces, which drafts would be retired and which units stay.
-- legacy: the document of the old knowledge base with the same source, which a cut does not change. Changes nothing.
create or replace function iu_core.fn_cut_preview(p_workspace_id uuid, p_manifest jsonb) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_nestloop = off
set jit = off
as $$
declare
  v_document_id uuid;
  v_root iu_core.information_unit;
  v_plan jsonb;
  v_moves jsonb;
  v_removed jsonb;
  v_legacy jsonb;
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  perform iu_core.fn_unit_workspace_check(p_workspace_id);
  if iu_core.fn_mark_manifest_form(p_manifest) <> '[]' then
    raise exception using errcode = 'SD001', message = 'This is not a valid manifest';
  end if;
  select document_id into v_document_id from iu_core.kb_document
   where workspace_id = p_workspace_id and source_ref = p_manifest -> 'document' ->> 'source_ref';
  select * into v_root from iu_core.information_unit
   where workspace_id = p_workspace_id and canonical_address = split_part(p_manifest -> 'pieces' -> 0 ->> 'address', '/', 1);
  while v_root.lifecycle_status = 'superseded' and v_root.deleted_at is null loop
    select * into v_root from iu_core.information_unit where unit_id = v_root.superseded_by;
  end loop;
  v_plan := iu_core.fn_cut_plan(
    p_workspace_id, v_document_id,
    case when v_root.deleted_at is null and v_root.lifecycle_status in ('draft', 'enacted') then v_root.unit_id end,
    p_manifest -> 'pieces');
  -- With false also those that stay where people put them.
  select jsonb_agg(m || jsonb_build_object('stays', k.unit_id is null)) into v_moves
    from jsonb_array_elements(iu_core.fn_cut_plan_moves(v_document_id, v_plan, false)) m
    left join jsonb_to_recordset(iu_core.fn_cut_plan_moves(v_document_id, v_plan, true)) as k (unit_id uuid) on k.unit_id = (m ->> 'unit_id')::uuid;
  select jsonb_agg(jsonb_build_object('address', g.piece_address, 'retired', g.retired, 'kept', g.kept) order by g.position) into v_removed
    from (select m.piece_address, min(m.position) as position,
                 coalesce(jsonb_agg(u.canonical_address) filter (where u.lifecycle_status = 'draft'), '[]') as retired,
                 coalesce(jsonb_agg(u.canonical_address) filter (where u.lifecycle_status = 'enacted'), '[]') as kept
            from iu_core.kb_unit_map m
            left join lateral (select x.* from iu_core.information_unit x where x.unit_id = m.unit_id and x.deleted_at is null offset 0) u on true
           where m.document_id = v_document_id and m.dropped_at is null
             and m.piece_address not in (select p.address from iu_core.fn_cut_plan_rows(v_plan) p)
           group by m.piece_address) g;
  select jsonb_build_object('document_id', d.document_id, 'title', d.title, 'content_hash', d.content_hash,
                            'is_same', d.content_hash = p_manifest -> 'document' ->> 'content_hash') into v_legacy
    from iu_core.kb_document d where d.document_id = v_document_id and d.origin = 'knowledge_base';
  return jsonb_build_object('removed', coalesce(v_removed, '[]'), 'legacy', v_legacy, 'pieces', (
    with plan as materialized (
      select * from iu_core.fn_cut_plan_rows(v_plan)
    )
    select jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
             'address', p.address, 'what', p.what, 'unit', u.canonical_address, 'version_no', u.version_no,
             'status', case when u.deleted_at is null then u.lifecycle_status else 'deleted' end,
             'new_address', case when p.what = 'successor' then p.unit_address end,
             'replaced_version', case when p.what = 'versioned' and p.is_edited and not p.keeps_body then p.version_no end,
             'keeps_text', case when p.what = 'versioned' then nullif(p.keeps_body, false) end,
             'moved_from', case when not m.stays then f.canonical_address end,
             'moved_to', case when not m.stays then coalesce(o.canonical_address, b.unit_address) end,
             'replaced_place', case when not m.stays then nullif(m.by_hand, false) end,
             'kept_in', case when m.stays then coalesce(f.canonical_address, '') end)) order by p."position")
      from plan p
      left join lateral (select x.* from iu_core.information_unit x where x.unit_id = p.head_id offset 0) u on true
      left join jsonb_to_recordset(v_moves) as m (unit_id uuid, "from" uuid, "to" uuid, by_hand boolean, stays boolean) on m.unit_id = p.head_id
      left join lateral (select x.canonical_address from iu_core.information_unit x where x.unit_id = m."from" offset 0) f on true
      left join lateral (select x.canonical_address from iu_core.information_unit x where x.unit_id = m."to" offset 0) o on true
      -- A section that the cut would make first.
      left join plan b on b.unit_id = m."to" and b.what in ('created', 'successor')));
end $$;

grant execute on function iu_core.fn_cut_preview(uuid, jsonb) to
  authenticated, stagedoor_reviewer, stagedoor_agent, service_role, dot_executor;

-- What a cut does with each piece of the manifest, as rows in JSON (fn_cut_plan_rows reads them). Internal: under
-- fn_unit_tree_lock.
--   created    no unit ever held it
--   unchanged  the document's piece did not change, or its unit has that text already: edits by people stay
--   versioned  it changed, and its unit is a draft. If only its title changed, the text of the unit stays (keeps_body)
--   successor  it changed, and its unit is locked, retired or deleted: a new draft is created. It supersedes an enacted unit; a retired or
--              deleted unit is not superseded (replaces_id is NULL)
-- Which unit: the youngest live unit that held the piece, then along its successors to the last. If two pieces lead to the same
-- unit (people superseded two by one), the other piece's own unit gets the successor. container_id is the unit to put it into:
-- that of its parent, of the nearest live one above, or the root. A section whose successor is still a draft keeps its content.
-- is_placed: the document has the piece in the same section as at the last cut (held_parent, if is_known); held_position: its
-- position in the document at that time.
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
             u.created_at desc, u.unit_id desc) as rank
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
  ), classified as materialized (
    select o.*, u.version_no, u.content_hash as unit_hash, u.supersedes, s.is_alive, s.keeps_body, u.lifecycle_status,
           case
             when o.head_id is null then 'created'
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
           case when j.what in ('created', 'successor') then iu_core.fn_time_uuid() else j.head_id end as unit_id,
           case j.what when 'created' then j.address when 'successor' then coalesce(n.address, (
             -- People use these addresses for their own units.
             select j.address || '~' || g.number
               from generate_series(j.units + 21, j.units + 20000) as g (number)
              where not exists (select from iu_core.information_unit t
                                 where t.workspace_id = p_workspace_id and t.canonical_address = j.address || '~' || g.number offset 0)
              order by g.number limit 1)) end as unit_address,
           coalesce(e.unit_id, case when j.is_alive then j.head_id end) as living_id
      from classified j
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
           case when m.living_id is not null then m.living_id when m.what in ('created', 'successor') then m.unit_id end as holds
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

-- The rows of a plan of fn_cut_plan. Internal.
create or replace function iu_core.fn_cut_plan_rows(p_plan jsonb)
returns table ("position" integer, address text, parent text, kind text, title text, "from" integer, "to" integer, hash text, topics jsonb,
               what text, unit_id uuid, unit_address text, head_id uuid, version_no integer, unit_hash text, lifecycle_status text,
               is_alive boolean, keeps_body boolean, is_edited boolean, replaces_id uuid, held_position integer, held_parent text,
               is_known boolean, is_placed boolean, container_id uuid, number integer)
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select * from jsonb_to_recordset(p_plan) as p (
    "position" integer, address text, parent text, kind text, title text, "from" integer, "to" integer, hash text, topics jsonb,
    what text, unit_id uuid, unit_address text, head_id uuid, version_no integer, unit_hash text, lifecycle_status text,
    is_alive boolean, keeps_body boolean, is_edited boolean, replaces_id uuid, held_position integer, held_parent text,
    is_known boolean, is_placed boolean, container_id uuid, number integer)
$$;

-- The units that are not where the manifest has them: [{unit_id, from, to, position, address, by_hand}], NULL if there are
-- none. A unit in the right section stays, even if the section has a successor; with p_keep also a unit that people moved, as
-- long as the document has its piece where it was at the last cut. by_hand: people had moved it there. Internal.
create or replace function iu_core.fn_cut_plan_moves(p_document_id uuid, p_plan jsonb, p_keep boolean) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
-- The statistics are of before this transaction: what it made itself is joined by hashing, units are looked up by their id.
set enable_nestloop = off
set jit = off
as $$
  with root as materialized (
    select p.container_id as unit_id, split_part(p.address, '/', 1) as address
      from iu_core.fn_cut_plan_rows(p_plan) p where p.parent is null limit 1
  ), place as materialized (
    select u.unit_id, u.canonical_address, u.container_id as "from", p.container_id as "to", p."position" as piece, p.number, p.is_placed, p.is_known,
           p.parent, p.held_parent, x.canonical_address as container,
           x.deleted_at is null and x.lifecycle_status in ('draft', 'enacted') as is_alive,
           x.deleted_at is null and x.lifecycle_status <> 'retired' as is_there,
           (select o.piece_address from iu_core.kb_unit_map o
             where o.document_id = p_document_id and o.unit_id = u.container_id offset 0) as section
      from iu_core.fn_cut_plan_rows(p_plan) p
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
             -- Outside of everything it is by hand, unless the document's own unit was deleted and all of them are outside.
             or p."from" is null and exists (select from place o, root q where o."from" = q.unit_id)), false)
  )
  select jsonb_agg(jsonb_build_object('unit_id', m.unit_id, 'from', m."from", 'to', m."to", 'position', m.number,
                                      'address', m.canonical_address, 'by_hand', coalesce(m.by_hand, false)) order by m.piece)
    from moved m
$$;

-- The order of a document's units in those containers in which a unit has another number: [{container_id, units: [ids],
-- is_reordered: existing units changed places, by_hand: people had made the old order}]. If the document changed the order of a
-- container's pieces since the last cut, the order of the manifest; else the existing order, also one by people, with new units
-- after the piece before them. p_moved: units that were not there. Internal.
create or replace function iu_core.fn_cut_plan_order(p_document_id uuid, p_plan jsonb, p_moved uuid[]) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
-- The statistics are of before this transaction: what it made itself is joined by hashing, units are looked up by their id.
set enable_nestloop = off
set jit = off
as $$
  with held as materialized (
    select u.unit_id, u.container_id, p."position" as piece, p.held_position,
           u.unit_id = any (p_moved) or (p.what in ('created', 'successor') and p.unit_id = u.unit_id) or p.held_position is null as is_new
      from iu_core.fn_cut_plan_rows(p_plan) p
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
       select x.unit_id, x.container_id, x.position, x.created_at from iu_core.information_unit x
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
           row_number() over (partition by p.container_id order by p.place, p.created_at, p.unit_id) as number,
           row_number() over (partition by p.container_id, p.is_new order by p.place, p.created_at, p.unit_id) as new_rank
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
