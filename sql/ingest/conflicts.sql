-- Planning again when production has moved on: base (what the last plan saw), mine (the file) and theirs (production now) are compared cell
-- by cell. Where theirs differs from base and mine from theirs, somebody says whose value counts; nothing is taken back without that.
--
-- The rows are those of the new plan, so that what is asked is what would be written. Kinds: changed (they changed a cell) · created (they
-- inserted a row that the last plan inserts) · deleted (they deleted a row that the new plan inserts again) · to_delete (they changed or
-- inserted a row that the new plan deletes). The last two are about whole rows.

-- What planning an upload again would ask: the rows that are in conflict, in the order of the plan, each with its cells (base: what the last
-- plan saw; theirs: what production holds; mine: what the file says). The plan is made up to the question and thrown away, so nothing
-- changes. digest: of all that is asked; given with the answer, the answer counts for nothing else. p_after: "type_order.line" of the row
-- before.
create or replace function iu_core.fn_ingest_plan_conflicts(
  p_upload_id uuid, p_gate_mode text default 'STRICT', p_threshold numeric default 0.9, p_limit integer default 200, p_after text default null,
  out items jsonb, out total bigint, out cells bigint, out columns jsonb, out digest text
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_detail text;
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'stage');
  if p_after !~ '^[0-9]{1,4}[.]-?[0-9]{1,9}$' then
    raise exception using errcode = 'SD001', message = 'The row after which a page begins is named by its type and line, such as 1.27';
  end if;
  begin
    perform iu_core.fn_ingest_plan(p_upload_id, p_gate_mode, p_threshold, null, null, 'list',
                                   format('%s/%s', least(greatest(p_limit, 0), 1000), p_after));
  exception when sqlstate 'SD614' then
    get stacked diagnostics v_detail = pg_exception_detail;
  end;
  select d -> 'items', (d ->> 'rows')::bigint, (d ->> 'cells')::bigint, d -> 'columns', d ->> 'digest'
    into items, total, cells, columns, digest from (select v_detail::jsonb) as x (d);
end $$;

grant execute on function iu_core.fn_ingest_plan_conflicts(uuid, text, numeric, integer, text)
  to service_role, dot_executor, authenticated, stagedoor_agent, stagedoor_reviewer;

-- What the last plan saw, into the temporary table `ingest_base`, before that plan is deleted: from its rows, or from what a repair kept of
-- them. Empty if there was none. A row with the action `all` says that every row in the scope of a snapshot is among them. Internal.
create or replace function iu_core.fn_ingest_base_load(p_upload iu_core.ingest_upload, p_definition jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_type record;
begin
  drop table if exists pg_temp.ingest_base, pg_temp.ingest_conflict_cell;
  create temporary table ingest_base (
    type_order smallint, row_number integer, action text, ident text, key text, hash bytea, image jsonb) on commit drop;
  create temporary table ingest_conflict_cell (
    type_order smallint, row_number integer, kind text, ident text, column_name text, base jsonb, theirs jsonb, mine jsonb,
    known boolean default false) on commit drop;
  if not exists (select from iu_core.ingest_plan where upload_id = p_upload.upload_id) then
    insert into pg_temp.ingest_base
    select b.type_order, r.row_number, r.action, r.ident, r.key, r.hash, r.image
      from iu_core.ingest_plan_base b,
           unnest(b.row_numbers, b.actions, b.idents, b.keys, b.hashes, b.images) as r (row_number, action, ident, key, hash, image)
     where b.upload_id = p_upload.upload_id;
    return;
  end if;
  for v_type in select * from iu_core.fn_ingest_row_types(p_definition, p_upload.reading -> 'layout') where target is not null loop
    execute format($sql$
      insert into pg_temp.ingest_base
      select p.type_order, p.row_number, p.action, %1$s, case p.action when 'insert' then %2$s end, p.before_hash, p.before
        from iu_core.ingest_plan_row p
       where p.upload_id = %3$L and p.type_order = %4$s and p.action in ('insert', 'update', 'unchanged', 'delete')
    $sql$, iu_core.fn_ingest_ident_sql('p'),
       iu_core.fn_ingest_key_text_sql('p', v_type.id_column, v_type.key_columns,
         (select inserted_columns -> v_type.row_type from iu_core.ingest_plan where upload_id = p_upload.upload_id)),
       p_upload.upload_id, v_type.type_order);
    if v_type.is_leaf then
      insert into pg_temp.ingest_base (type_order, row_number, action, ident)
      select v_type.type_order, 0, 'all', '' from iu_core.ingest_plan p
       where p.upload_id = p_upload.upload_id and p.snapshot is not null
         and (p.refusal is null or (p.snapshot ->> 'in_scope')::bigint > 0
              and (p.snapshot ->> 'deleted')::bigint = (select count(*) from pg_temp.ingest_base b where b.action = 'delete'));
    end if;
  end loop;
end $$;

-- Which row of its table a planned row is: by the id of ours, or by its key. Internal.
create or replace function iu_core.fn_ingest_ident_sql(p_alias text) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select format('coalesce(%1$I.target_id::text, %1$I.target_key::text)', p_alias)
$$;

-- The key of a planned row, as one text: its id is not known to others before it is inserted. NULL where rows are known by their key anyway.
-- Internal.
create or replace function iu_core.fn_ingest_key_text_sql(p_alias text, p_id_column text, p_key_columns text[], p_inserted jsonb) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case when p_id_column is null then 'null::text'
              else format('array[%s]::text', string_agg(case when i.place is null then format('%I.after ->> %L', p_alias, k.name)
                                                             else format('coalesce(%1$I.inserted[%2$s], %1$I.after ->> %3$L)', p_alias, i.place, k.name) end,
                                                        ', ' order by k.position)) end
    from unnest(p_key_columns) with ordinality as k (name, position)
    left join lateral (select c.ordinality as place from jsonb_array_elements(p_inserted) with ordinality as c
                        where c.value ->> 'column' = k.name) i on true
$$;

-- Keeps what the plan saw, because a repair deletes it: the next plan is compared with that. p_lines: the lines that are about to be
-- corrected; where the plan found nothing to change, what their rows held is what these lines say now. Internal.
create or replace function iu_core.fn_ingest_base_keep(p_upload iu_core.ingest_upload, p_definition jsonb, p_lines integer[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from iu_core.ingest_plan where upload_id = p_upload.upload_id) then
    perform iu_core.fn_ingest_base_load(p_upload, p_definition);
    perform iu_core.fn_ingest_base_delete(p_upload.upload_id);
    insert into iu_core.ingest_plan_base (upload_id, type_order, block, row_numbers, actions, idents, keys, hashes, images)
    select p_upload.upload_id, b.type_order, b.row_number >> 10, array_agg(b.row_number), array_agg(b.action), array_agg(b.ident),
           array_agg(b.key), array_agg(b.hash), array_agg(b.image)
      from pg_temp.ingest_base b group by b.type_order, b.row_number >> 10;
  elsif not exists (select from iu_core.ingest_plan_base where upload_id = p_upload.upload_id) then
    return;
  end if;
  insert into iu_core.ingest_plan_base_line (upload_id, row_number, image)
  select p_upload.upload_id, l.line, iu_core.fn_ingest_stale_line(p_upload, p_definition, p_upload.reading -> 'layout' ->> 'leaf', l.line)
    from unnest(p_lines) as l (line)
  on conflict do nothing;
end $$;

-- Deletes what fn_ingest_base_keep kept. Internal.
create or replace function iu_core.fn_ingest_base_delete(p_upload_id uuid) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  delete from iu_core.ingest_plan_base where upload_id = p_upload_id;
  delete from iu_core.ingest_plan_base_line where upload_id = p_upload_id;
$$;

-- Finds the cells and rows of the new plan that are in conflict, into `ingest_conflict_cell`, and takes those out of the plan that keep what
-- production holds: by p_on_conflict, or by an earlier answer as long as the file says the same (known). Deletes of a snapshot are found by
-- fn_ingest_conflict_deletes. Internal.
create or replace function iu_core.fn_ingest_conflicts_find(p_upload iu_core.ingest_upload, p_definition jsonb, p_on_conflict text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
-- Nothing is known yet of the rows of a plan that is being made: each would be compared with each (a plan of 6,000 rows took 1.9 s instead of 0.2).
set enable_nestloop = off
as $$
declare
  v_layout jsonb := p_upload.reading -> 'layout';
  v_type record;
  v_key text;
  v_gone text;
begin
  if not exists (select from pg_temp.ingest_base) and not exists (select from iu_core.ingest_kept_cell where upload_id = p_upload.upload_id) then
    return;
  end if;
  analyze pg_temp.ingest_base;
  for v_type in select * from iu_core.fn_ingest_row_types(p_definition, v_layout) loop
    -- A line that was given another key means another row, and the former one is still there.
    v_gone := case when v_type.id_column is null then 'true'
                   -- (A value, and not a join, which would read the whole table.)
                   else format('(select true from %s t where t.%I = b.ident::uuid limit 1) is null', iu_core.fn_ingest_table_sql(v_type.target), v_type.id_column) end;
    v_key := iu_core.fn_ingest_key_text_sql('n', v_type.id_column, v_type.key_columns, iu_core.fn_ingest_plan_texts(v_type.written));
    execute format($sql$
      with n as materialized (
        select n.row_number, n.before_hash, n.before, n.after, n.changed, %1$s as ident, %2$s as key
          from iu_core.ingest_plan_row n where n.upload_id = %3$L and n.type_order = %4$s and n.action = 'update'
      ), moved as (
        -- Where the plan found nothing to change, the row held what its line said.
        select n.*, case b.action when 'insert' then 'created' else 'changed' end as kind,
               case b.action when 'insert' then null else coalesce(b.image, l.image, n.after) end as base
          from n join pg_temp.ingest_base b on b.type_order = %4$s and b.ident = n.ident and b.hash is distinct from n.before_hash
          left join iu_core.ingest_plan_base_line l on %5$L and l.upload_id = %3$L and l.row_number = b.row_number and b.action = 'unchanged'
        union all
        select n.*, 'created', null
          from n join pg_temp.ingest_base b on b.type_order = %4$s and b.action = 'insert' and b.key = n.key
        union all
        -- Deleted and inserted again: it has another id.
        select n.*, 'changed', coalesce(b.image, l.image, n.after)
          from n join pg_temp.ingest_base b on %6$L and b.type_order = %4$s and b.row_number = n.row_number and b.action in ('update', 'unchanged')
           and b.ident <> n.ident and %7$s
          left join iu_core.ingest_plan_base_line l on %5$L and l.upload_id = %3$L and l.row_number = b.row_number and b.action = 'unchanged'
      )
      insert into pg_temp.ingest_conflict_cell (type_order, row_number, kind, ident, column_name, base, theirs, mine)
      select %4$s, m.row_number, m.kind, m.ident, c.name, m.base -> c.name, m.before -> c.name, m.after -> c.name
        from moved m, unnest(m.changed) as c (name)
       where m.kind = 'created' or m.before -> c.name is distinct from m.base -> c.name
    $sql$, iu_core.fn_ingest_ident_sql('n'), v_key, p_upload.upload_id, v_type.type_order, v_type.is_leaf, v_type.id_column is not null, v_gone);
    -- A row with an id of ours gets another one when it is inserted again: it is known by its line.
    execute format($sql$
      insert into pg_temp.ingest_conflict_cell (type_order, row_number, kind, ident, column_name, base)
      select %1$s, n.row_number, 'deleted', %2$s, '', b.image
        from iu_core.ingest_plan_row n
        join pg_temp.ingest_base b on b.type_order = %1$s and b.action in ('update', 'unchanged') and %3$s
       where n.upload_id = %4$L and n.type_order = %1$s and n.action = 'insert' and %5$s
    $sql$, v_type.type_order, case when v_type.id_column is null then iu_core.fn_ingest_ident_sql('n') else v_key end,
       case when v_type.id_column is null then 'b.ident = ' || iu_core.fn_ingest_ident_sql('n') else 'b.row_number = n.row_number' end,
       p_upload.upload_id, v_gone);

    -- What an earlier answer keeps.
    execute format($sql$
      with k as materialized (
        select k.column_name, x.ident, x.mine from iu_core.ingest_kept_cell k, unnest(k.idents, k.mine) as x (ident, mine)
         where k.upload_id = %1$L and k.type_order = %2$s
      ), kept as materialized (
        select n.row_number, n.action, k.ident, k.column_name, n.before -> k.column_name as theirs, n.after -> k.column_name as mine
          from k join iu_core.ingest_plan_row n on n.upload_id = %1$L and n.type_order = %2$s and %3$s = k.ident
         where n.action = 'update' and k.column_name = any (n.changed) and n.after ->> k.column_name is not distinct from k.mine
        union all
        select n.row_number, n.action, k.ident, k.column_name, n.before -> k.column_name, n.after -> k.column_name
          from k join iu_core.ingest_plan_row n on n.upload_id = %1$L and n.type_order = %2$s and %4$s = k.ident
         where n.action = 'insert' and k.column_name = ''
      ), again as (
        delete from pg_temp.ingest_conflict_cell c using kept
         where c.type_order = %2$s and c.row_number = kept.row_number and c.column_name = kept.column_name
      )
      insert into pg_temp.ingest_conflict_cell (type_order, row_number, kind, ident, column_name, theirs, mine, known)
      select %2$s, row_number, case action when 'insert' then 'deleted' else 'changed' end, ident, column_name, theirs, mine, true from kept
    $sql$, p_upload.upload_id, v_type.type_order, iu_core.fn_ingest_ident_sql('n'),
       case when v_type.id_column is null then iu_core.fn_ingest_ident_sql('n') else v_key end);
  end loop;
  if p_on_conflict is distinct from 'use_mine' then
    perform iu_core.fn_ingest_keep_theirs(p_upload, p_definition, coalesce(p_on_conflict, '') <> 'keep_theirs');
  end if;
end $$;

-- Takes cells out of the planned rows, whose other cells stay, and rows that they deleted, with what depends on them. p_known: only those of
-- an earlier answer. Internal.
create or replace function iu_core.fn_ingest_keep_theirs(p_upload iu_core.ingest_upload, p_definition jsonb, p_known boolean) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_layout jsonb := p_upload.reading -> 'layout';
  v_type record;
  v_rows integer[];
  v_reason constant text := 'somebody deleted this row since the last plan, and the answer was to keep that';
begin
  if not exists (select from pg_temp.ingest_conflict_cell c where c.known or not p_known) then
    return;
  end if;
  analyze pg_temp.ingest_conflict_cell;
  update iu_core.ingest_plan_row p
     set (action, before, after, changed, row_hash) = (
           select a.action, case a.action when 'update' then p.before end, a.after, case a.action when 'update' then x.changed end,
                  -- As fn_ingest_plan_type hashes a row.
                  sha256(convert_to(concat_ws('|', p.row_type, p.row_number, a.action, p.target_id, p.inserted,
                                              coalesce(a.after, p.target_key), p.before_hash), 'UTF8'))
             from (select array(select k from unnest(p.changed) with ordinality as y (k, place) where k <> all (c.names) order by place) as changed) x,
                  lateral (select case x.changed when '{}' then 'unchanged' else 'update' end as action,
                                  case when x.changed <> '{}' then p.after || c.theirs end as after offset 0) a)
    from (select c.type_order, c.row_number, array_agg(c.column_name) as names, jsonb_object_agg(c.column_name, c.theirs) as theirs
            from pg_temp.ingest_conflict_cell c where c.column_name <> '' and (c.known or not p_known) group by 1, 2) c
   where p.upload_id = p_upload.upload_id and p.type_order = c.type_order and p.row_number = c.row_number;

  for v_type in select * from iu_core.fn_ingest_row_types(p_definition, v_layout) loop
    v_rows := array(select c.row_number from pg_temp.ingest_conflict_cell c
                     where c.type_order = v_type.type_order and c.kind = 'deleted' and (c.known or not p_known));
    continue when v_rows = '{}';
    perform iu_core.fn_ingest_plan_skip(p_upload.upload_id, v_type.type_order, v_rows, v_reason);
    continue when v_type.is_leaf;
    execute format($sql$
      select iu_core.fn_ingest_plan_skip(%1$L, p.type_order, array_agg(p.row_number), %2$L)
        from iu_core.ingest_plan_row p
       where p.upload_id = %1$L and p.type_order > %3$s and p.action in ('insert', 'update', 'unchanged')
         and p.row_number in (select l.row_number from pg_temp.ingest_line l join pg_temp.ingest_entity e on e.external_id = l.%4$I
                               where e.row_type = %5$L and e.row_number = any (%6$L::integer[]))
       group by p.type_order
    $sql$, p_upload.upload_id, 'its parent is left out: ' || v_reason, v_type.type_order,
       iu_core.fn_ingest_line_column(v_layout, '$' || v_type.row_type), v_type.row_type, v_rows);
  end loop;
end $$;

-- Plans rows as skipped. Internal.
create or replace function iu_core.fn_ingest_plan_skip(p_upload_id uuid, p_type_order smallint, p_rows integer[], p_reason text) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  update iu_core.ingest_plan_row p
     set action = 'skipped', reason = p_reason, target_id = null, target_key = null, before = null, before_hash = null, inserted = null, after = null,
         changed = null, row_hash = sha256(convert_to(concat_ws('|', p.row_number, 'skipped', p_reason), 'UTF8'))
   where p.upload_id = p_upload_id and p.type_order = p_type_order and p.row_number = any (p_rows);
$$;

-- Finds the rows in `ingest_gone` that somebody changed or inserted since the last plan, and takes those out that are kept. Returns how many
-- it took out. Internal.
create or replace function iu_core.fn_ingest_conflict_deletes(p_upload iu_core.ingest_upload, p_type record, p_key text, p_on_conflict text) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_all boolean := exists (select from pg_temp.ingest_base where action = 'all');
  v_kept bigint;
begin
  if not v_all and not exists (select from iu_core.ingest_kept_cell where upload_id = p_upload.upload_id and type_order = p_type.type_order) then
    return 0;
  end if;
  execute format($sql$
    insert into pg_temp.ingest_conflict_cell (type_order, row_number, kind, ident, column_name, base, theirs, known)
    select %1$s, g.position, 'to_delete', i.ident, '', b.image, to_jsonb(t.*), k.ident is not null
      from pg_temp.ingest_gone g
      join %2$s t on t.tableoid = g.row_table and t.ctid = g.row_tid
     cross join lateral (select %3$s as ident) i
      left join pg_temp.ingest_base b on b.type_order = %1$s and b.ident = i.ident
      left join (select unnest(k.idents) as ident from iu_core.ingest_kept_cell k
                  where k.upload_id = %4$L and k.type_order = %1$s and k.column_name = '') k on k.ident = i.ident
     where k.ident is not null or %5$L and (b.ident is null or b.hash is distinct from %6$s)
  $sql$, p_type.type_order, iu_core.fn_ingest_table_sql(p_type.target),
     case when p_type.id_column is null then p_key || '::text' else format('t.%I::text', p_type.id_column) end,
     p_upload.upload_id, v_all, iu_core.fn_ingest_row_hash_sql(p_type.target, 't.*'));
  if p_on_conflict = 'use_mine' then
    return 0;
  end if;
  delete from pg_temp.ingest_gone g using pg_temp.ingest_conflict_cell c
   where c.kind = 'to_delete' and c.row_number = g.position and (c.known or p_on_conflict = 'keep_theirs');
  get diagnostics v_kept = row_count;
  return v_kept;
end $$;

-- Refuses the plan if cells or rows are in conflict and nobody said whose values count, or if the answer was given to another question
-- (p_seen: the digest that came with it). Otherwise keeps the answer. Returns the notes of the plan about it. Internal.
create or replace function iu_core.fn_ingest_conflicts_settle(
  p_upload iu_core.ingest_upload, p_definition jsonb, p_on_conflict text, p_seen text, p_actor text, p_via text
) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_all boolean := p_on_conflict = 'use_mine';
  v_found record;
  v_columns jsonb;
  v_digest text;
  v_reason text;
  v_notes jsonb := '[]';
begin
  if not exists (select from pg_temp.ingest_conflict_cell) and p_on_conflict is distinct from 'list' then
    return v_notes;
  end if;
  select count(*) as cells, count(distinct (c.type_order, c.row_number)) as rows into v_found
    from pg_temp.ingest_conflict_cell c where v_all or not c.known;
  if v_found.cells > 0 or p_on_conflict = 'list' then
    select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object('table', s.target, 'column', nullif(s.column_name, ''), 'kind', s.kind, 'cells', s.cells))
                     order by s.cells desc, s.target, s.column_name, s.kind), '[]') into v_columns
      from (select p_definition -> 'rows' -> (c.type_order - 1) ->> 'target' as target, c.column_name, c.kind, count(*) as cells
              from pg_temp.ingest_conflict_cell c where v_all or not c.known group by 1, 2, 3) s;
    v_digest := iu_core.fn_ingest_conflicts_digest();
    if p_on_conflict = 'list' then
      raise exception using errcode = 'SD614', message = 'The conflicts of a plan are listed',
        detail = jsonb_build_object('cells', v_found.cells, 'rows', v_found.rows, 'columns', v_columns, 'digest', v_digest,
          'items', iu_core.fn_ingest_conflicts_list(p_upload, p_definition, split_part(p_seen, '/', 1)::integer, nullif(split_part(p_seen, '/', 2), '')))::text;
    end if;
    if p_on_conflict is null or p_seen <> v_digest then
      v_reason := format('%s in %s %s since the last plan, and the file says otherwise: %s',
        case v_found.cells when 1 then '1 value' else v_found.cells || ' values' end,
        case v_found.rows when 1 then '1 row' else v_found.rows || ' rows' end,
        case when p_seen <> v_digest then 'changed again' else 'changed' end,
        (select string_agg(format('%s (%s)', concat_ws('.', x ->> 'table', x ->> 'column'), x ->> 'cells'), ', ' order by o)
           from jsonb_array_elements(v_columns) with ordinality as e (x, o) where o <= 5)
        || case when jsonb_array_length(v_columns) > 5 then ', …' else '' end);
      raise exception using
        errcode = 'SD614',
        message = format('Production has moved on: %s', v_reason),
        hint = format('Say whose values count: `stagedoor upload plan %s --on-conflict keep-theirs` leaves what production holds, `--on-conflict use-mine` writes the file''s values. `stagedoor upload conflicts %1$s` lists them.', p_upload.upload_id),
        detail = json_build_object('upload', p_upload.upload_id, 'reason', v_reason, 'cells', v_found.cells, 'rows', v_found.rows,
                                   'columns', v_columns, 'digest', v_digest)::text;
    end if;
    insert into iu_core.ingest_conflict_answer (upload_id, answer, cells, row_count, columns, answered_by, answered_via)
    values (p_upload.upload_id, p_on_conflict, v_found.cells, v_found.rows, v_columns, p_actor, p_via);
    -- Choosing whose values count is a change of the upload, so this person cannot approve it.
    update iu_core.ingest_upload set changed_by = array(select distinct unnest(changed_by || array_remove(array[p_actor, p_via], null)))
     where upload_id = p_upload.upload_id;
    if p_on_conflict = 'use_mine' then
      delete from iu_core.ingest_kept_cell where upload_id = p_upload.upload_id;
    else
      insert into iu_core.ingest_kept_cell as k (upload_id, type_order, column_name, idents, mine)
      select p_upload.upload_id, c.type_order, c.column_name, array_agg(c.ident), array_agg(c.mine #>> '{}')
        from pg_temp.ingest_conflict_cell c where not c.known group by c.type_order, c.column_name
      on conflict on constraint ingest_kept_cell_pkey do update set idents = k.idents || excluded.idents, mine = k.mine || excluded.mine;
    end if;
  end if;
  select jsonb_build_array(jsonb_build_object('rule', case when v_all then 'conflict.use_mine' else 'conflict.keep_theirs' end,
           'line', min(c.row_number) filter (where c.row_number > 0), 'count', count(*), 'message',
           format(case when v_all then '%s written over what somebody changed in production since an earlier plan.'
                       else '%s left as production holds them: somebody changed them since an earlier plan.' end,
                  case count(*) when 1 then '1 value of the file is' else count(*) || ' values of the file are' end)))
    into v_notes from pg_temp.ingest_conflict_cell c;
  return v_notes;
end $$;

-- A page of the rows in conflict that nobody has answered yet; see fn_ingest_plan_conflicts. Internal.
create or replace function iu_core.fn_ingest_conflicts_list(p_upload iu_core.ingest_upload, p_definition jsonb, p_limit integer, p_after text) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
             'type_order', r.type_order, 'table', t.spec ->> 'target', 'row_type', t.spec ->> 'name', 'line', r.row_number, 'kind', r.kind,
             'key', (select coalesce(jsonb_object_agg(k, iu_core.fn_ingest_exact_json(coalesce(p.target_key -> k, p.after -> k, r.row -> k, s.normalized_payload -> (t.spec -> 'columns' ->> k)))), '{}')
                       from jsonb_array_elements_text(t.spec -> 'key') as k where t.spec -> 'columns' ->> k not like '$%'),
             'label', (select jsonb_object_agg(l.key, iu_core.fn_ingest_exact_json(l.value)) from jsonb_each(s.normalized_payload) l),
             'cells', r.cells,
             'base', case when r.whole then (select jsonb_object_agg(l.key, iu_core.fn_ingest_exact_json(l.value)) from jsonb_each(r.base) l) end,
             'theirs', case when r.whole then (select jsonb_object_agg(l.key, iu_core.fn_ingest_exact_json(l.value)) from jsonb_each(r.theirs) l) end)
             order by r.type_order, r.row_number), '[]')
      from (select c.type_order, c.row_number, min(c.kind) as kind, bool_or(c.column_name = '') as whole,
                   (array_agg(c.base) filter (where c.column_name = ''))[1] as base, (array_agg(c.theirs) filter (where c.column_name = ''))[1] as theirs,
                   coalesce((array_agg(c.theirs) filter (where c.column_name = ''))[1], (array_agg(c.base) filter (where c.column_name = ''))[1]) as row,
                   coalesce(jsonb_agg(jsonb_build_object('column', c.column_name, 'base', iu_core.fn_ingest_exact_json(c.base),
                                                         'theirs', iu_core.fn_ingest_exact_json(c.theirs), 'mine', iu_core.fn_ingest_exact_json(c.mine))
                                      order by c.column_name) filter (where c.column_name <> ''), '[]') as cells
              from pg_temp.ingest_conflict_cell c
             where not c.known
               and (p_after is null or (c.type_order, c.row_number) > (split_part(p_after, '.', 1)::smallint, split_part(p_after, '.', 2)::integer))
             group by 1, 2 order by 1, 2 limit p_limit) r
      left join iu_core.ingest_plan_row p on p.upload_id = p_upload.upload_id and p.type_order = r.type_order and p.row_number = r.row_number
      left join iu_core.v_ingest_staged_row s on s.upload_id = p_upload.upload_id and s.row_type = p_upload.reading -> 'layout' ->> 'leaf' and s.row_number = r.row_number
     cross join lateral (select p_definition -> 'rows' -> (r.type_order - 1)) as t (spec));
end $$;

-- An integer beyond 2^53 as text, as in all our JSON: parsed as a number it would be rounded. Internal.
create or replace function iu_core.fn_ingest_exact_json(p_value jsonb) returns jsonb
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case when jsonb_typeof(p_value) = 'number' and abs(p_value::numeric) > 9007199254740991 and scale(p_value::numeric) = 0
              then to_jsonb(p_value #>> '{}') else p_value end
$$;

-- The sha-256 of what is asked: exactly these cells with these values. Internal.
create or replace function iu_core.fn_ingest_conflicts_digest() returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select encode(sha256(convert_to(coalesce(string_agg(concat_ws('|', c.type_order, c.ident, c.column_name, c.kind, c.theirs, c.mine), E'\n'
             order by c.type_order, c.ident collate "C", c.column_name collate "C"), ''), 'UTF8')), 'hex')
      from pg_temp.ingest_conflict_cell c where not c.known);
end $$;

-- What kept cells change in the control totals of a plan: parts with the difference between what production holds and the file. Internal.
create or replace function iu_core.fn_ingest_conflict_control_parts(p_upload iu_core.ingest_upload, p_definition jsonb) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_layout jsonb := p_upload.reading -> 'layout';
  v_type record;
  v_currency text;
  v_parts jsonb;
begin
  if not exists (select from pg_temp.ingest_conflict_cell where column_name <> '') then
    return '[]';
  end if;
  select t.* into v_type from iu_core.fn_ingest_row_types(p_definition, v_layout) t where t.is_leaf;
  select format('l.%I', iu_core.fn_ingest_line_column(v_layout, w.source)) into v_currency
    from jsonb_to_recordset(v_type.written) as w (source text) where p_definition -> 'fields' -> w.source ->> 'type' = 'currency' limit 1;
  execute format($sql$
    select jsonb_agg(jsonb_build_object('kind', d.action, 'currency', d.currency, 'reason', null, 'lines', 0, 'unread', '[]'::jsonb, 'figures', (
             select jsonb_agg(case when n.place = d.place then d.difference end order by n.place) from generate_series(1, %4$s) as n (place))))
      from (select p.action, %1$s as currency, m.place, sum(coalesce((c.theirs #>> '{}')::numeric, 0) - coalesce((c.mine #>> '{}')::numeric, 0)) as difference
              from pg_temp.ingest_conflict_cell c
              join iu_core.fn_ingest_measures($1, $2) m on m."column" = c.column_name
              join iu_core.ingest_plan_row p on p.upload_id = %2$L and p.type_order = c.type_order and p.row_number = c.row_number
               and c.column_name <> all (coalesce(p.changed, '{}'))
              join pg_temp.ingest_line l on l.row_number = c.row_number
             where c.type_order = %3$s and jsonb_typeof(c.theirs) in ('number', 'null') and jsonb_typeof(c.mine) in ('number', 'null') group by 1, 2, 3) d
  $sql$, coalesce(v_currency, 'null::text'), p_upload.upload_id, v_type.type_order,
     (select count(*) + 1 from iu_core.fn_ingest_measures(p_definition, v_layout)))
    into v_parts using p_definition, v_layout;
  return coalesce(v_parts, '[]');
end $$;
