-- Promotion and undo of the deletes of a snapshot: what it deletes is what its plan saw, and the undo inserts it again.

-- Promotion: deletes the planned rows of a snapshot or a statement before anything else is written into its table, so that what depends on them
-- is what the plan saw. Locks them and what depends on them, compares, stores images of all in the ledger. Returns how many rows of
-- the table it deleted. Internal.
create or replace function iu_core.fn_ingest_snapshot_delete(p_upload_id uuid, p_type record) returns bigint
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_target text := iu_core.fn_ingest_table_sql(p_type.target);
  v_settings jsonb;
  v_match text;
  v_planned bigint;
  v_stale bigint;
  v_reason text;
  v_state text;
  v_deleted bigint;
  v_child record;
begin
  if p_type.spec ->> 'mode' is null or p_type.spec ->> 'mode' not in ('snapshot', 'statement') then
    return 0;
  end if;
  v_settings := iu_core.fn_ingest_pin_text_settings();
  v_match := iu_core.fn_ingest_snapshot_rows(p_upload_id, p_type);
  select count(*) into v_planned from pg_temp.ingest_gone;
  if v_planned = 0 then
    perform iu_core.fn_ingest_pin_text_settings(v_settings);
    return 0;
  end if;
  execute format('select count(*) from (select from pg_temp.ingest_gone g join %s t on %s order by %s for update of t) locked', v_target, v_match,
                 (select string_agg(format('t.%I', k), ', ') from unnest(p_type.key_columns) k));
  -- Statements of their own: they see what was committed while we waited for the locks.
  v_stale := iu_core.fn_ingest_snapshot_compare(p_type, v_match);
  if v_stale > 0 then
    perform iu_core.fn_ingest_raise_plan_stale(p_upload_id, v_stale, p_type.target_name);
  end if;
  v_reason := iu_core.fn_ingest_snapshot_dependents(p_type.target, true);
  if v_reason is null then
    select count(*) into v_stale from pg_temp.ingest_gone g left join iu_core.fn_ingest_snapshot_dependents_by_row() d on d.root = g.position
     where d.dependents_hash is distinct from g.dependents_hash;
    v_reason := case when v_stale > 0 then format('rows that depend on %s %s to delete from %s changed since the plan was made', v_stale,
                                                  case v_stale when 1 then 'row' else 'rows' end, p_type.target_name) end;
  end if;
  if v_reason is not null then
    raise exception using errcode = 'SD606', message = upper(left(v_reason, 1)) || substr(v_reason, 2),
      hint = iu_core.fn_ingest_plan_again_hint(p_upload_id),
      detail = json_build_object('upload', p_upload_id, 'reason', v_reason)::text;
  end if;

  execute format($sql$
    insert into iu_core.ingest_ledger (upload_id, type_order, row_type, row_number, target, target_id, target_key, action, before, exact)
    select p.upload_id, p.type_order, p.row_type, p.row_number, $3, p.target_id, case when p.target_id is null then p.target_key end, 'delete', p.before, %s
      from iu_core.ingest_plan_row p
      join pg_temp.ingest_gone g on g.position = p.row_number
      join %s t on t.tableoid = g.row_table and t.ctid = g.row_tid
     where p.upload_id = $1 and p.type_order = $2 and p.action = 'delete'
  $sql$, coalesce(iu_core.fn_ingest_exact_sql(p_type.target, 't'), 'null'), v_target) using p_upload_id, p_type.type_order, p_type.target_name;
  insert into iu_core.ingest_dependent (upload_id, position, type_order, row_number, level, target, target_key, effect, before, exact, after_key)
  select p_upload_id, row_number() over (order by d.level, d.root, d.row_table, d.row_tid), p_type.type_order, d.root, d.level,
         iu_core.fn_ingest_table_sql(d.target), d.target_key, d.effect, d.before, d.exact, d.after_key
    from pg_temp.ingest_dependent d where d.level > 0;
  perform iu_core.fn_ingest_pin_text_settings(v_settings);
  begin
    execute format('delete from %s t using pg_temp.ingest_gone g where t.tableoid = g.row_table and t.ctid = g.row_tid', v_target);
    get diagnostics v_deleted = row_count;
    v_reason := case when v_deleted <> v_planned then 'a trigger left rows out' end;
  exception when others then
    get stacked diagnostics v_reason = message_text, v_state = returned_sqlstate;
    if left(v_state, 2) in ('08', '0A', '25', '40', '42', '53', '54', '55', '57', '58', 'XX') then
      raise;
    end if;
  end;
  if v_reason is not null then
    raise exception using errcode = 'SD611',
      message = format('The table %s does not let rows be deleted: %s', p_type.target_name, v_reason),
      detail = json_build_object('target', p_type.target_name, 'line', null, 'reason', v_reason)::text;
  end if;

  -- Changed rows as the foreign key and their triggers left them.
  v_settings := iu_core.fn_ingest_pin_text_settings();
  for v_child in
    select distinct d.target::regclass as target, iu_core.fn_ingest_unique_key(d.target) as key from pg_temp.ingest_dependent d where d.effect like 'set %'
  loop
    execute format($sql$
      update iu_core.ingest_dependent d set after_hash = %1$s
        from (select x.position as place, %5$s from iu_core.ingest_dependent x, jsonb_populate_record(null::%2$s, coalesce(x.after_key, x.target_key)) b
               where x.upload_id = $1 and x.target = %3$L and x.effect like 'set %%') as b, %2$s f
       where d.upload_id = $1 and d.position = b.place and %4$s
    $sql$, iu_core.fn_ingest_row_hash_sql(v_child.target, 'f.*'), iu_core.fn_ingest_table_sql(v_child.target), iu_core.fn_ingest_table_sql(v_child.target),
       (select string_agg(format('f.%I = b.c%s', k.name, k.place), ' and ') from unnest(v_child.key) with ordinality as k (name, place)),
       (select string_agg(format('b.%I as c%s', k.name, k.place), ', ') from unnest(v_child.key) with ordinality as k (name, place))) using p_upload_id;
  end loop;
  perform iu_core.fn_ingest_pin_text_settings(v_settings);
  select min(d.target) into v_reason from iu_core.ingest_dependent d where d.upload_id = p_upload_id and d.effect like 'set %' and d.after_hash is null;
  if v_reason is not null then
    raise exception using errcode = 'SD611',
      message = format('A trigger of %s changed the key of a row that refers to a deleted one, or deleted it, so an undo could not find it again', v_reason),
      detail = json_build_object('target', v_reason, 'line', null, 'reason', 'a trigger changed the key of a row that refers to a deleted one')::text;
  end if;
  return v_deleted;
end $$;

-- Puts the planned deletes of an upload into `ingest_gone`, with their keys as typed columns, and returns the condition that finds
-- their rows `t`. Internal.
create or replace function iu_core.fn_ingest_snapshot_rows(p_upload_id uuid, p_type record) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_slots text;
  v_match text;
begin
  select string_agg(format('b.%I as c%s', a.attname, a.attnum), ', '),
         string_agg(format(case when a.attnotnull then 't.%I = g.c%s' else 't.%I is not distinct from g.c%s' end, a.attname, a.attnum), ' and ')
    into v_slots, v_match
    from unnest(p_type.key_columns) k join pg_attribute a on a.attrelid = p_type.target and a.attname = k and not a.attisdropped;
  drop table if exists pg_temp.ingest_gone;
  execute format($sql$
    create temporary table ingest_gone on commit drop as
    select p.row_number as position, p.before_hash, p.dependents_hash, null::bytea as now_hash, null::oid as row_table, null::tid as row_tid, %s
      from iu_core.ingest_plan_row p, jsonb_populate_record(null::%s, p.target_key) as b
     where p.upload_id = $1 and p.type_order = $2 and p.action = 'delete'
  $sql$, v_slots, iu_core.fn_ingest_table_sql(p_type.target)) using p_upload_id, p_type.type_order;
  analyze pg_temp.ingest_gone;
  return v_match;
end $$;

-- Notes where the rows of `ingest_gone` are now, and returns how many are not as the plan saw them. Internal.
create or replace function iu_core.fn_ingest_snapshot_compare(p_type record, p_match text) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  execute format('update pg_temp.ingest_gone g set row_table = t.tableoid, row_tid = t.ctid, now_hash = %s from %s t where %s',
                 iu_core.fn_ingest_row_hash_sql(p_type.target, 't.*'), iu_core.fn_ingest_table_sql(p_type.target), p_match);
  return (select count(*) from pg_temp.ingest_gone where now_hash is distinct from before_hash);
end $$;

-- Adds the deletes that are stale to `ingest_stale`: the row has changed or gone, or other rows depend on it than the plan saw.
-- Internal.
create or replace function iu_core.fn_ingest_snapshot_stale(p_upload_id uuid, p_type record) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_type.spec ->> 'mode' is null or p_type.spec ->> 'mode' not in ('snapshot', 'statement') then
    return;
  end if;
  perform iu_core.fn_ingest_snapshot_compare(p_type, iu_core.fn_ingest_snapshot_rows(p_upload_id, p_type));
  if iu_core.fn_ingest_snapshot_dependents(p_type.target, false) is not null then
    update pg_temp.ingest_gone set now_hash = null;
  end if;
  execute format($sql$
    insert into pg_temp.ingest_stale (type_order, line, key, now)
    select $1, g.position, p.target_key, to_jsonb(t.*)
      from pg_temp.ingest_gone g
      join iu_core.ingest_plan_row p on p.upload_id = $2 and p.type_order = $1 and p.row_number = g.position
      left join %s t on t.tableoid = g.row_table and t.ctid = g.row_tid
      left join iu_core.fn_ingest_snapshot_dependents_by_row() d on d.root = g.position
     where g.now_hash is distinct from g.before_hash or d.dependents_hash is distinct from g.dependents_hash
  $sql$, iu_core.fn_ingest_table_sql(p_type.target)) using p_type.type_order, p_upload_id;
end $$;

-- Undo: decides in `ingest_undo` which deleted rows come back, and which rows that depended on them. A row stays away (kept) if
-- another one has taken its place in a unique index, and is refused if a row that it refers to no longer exists. A row that a
-- foreign key changed is restored if nobody has changed it since. Internal.
create or replace function iu_core.fn_ingest_snapshot_undo_decide(p_promotion iu_core.ingest_promotion, p_lock boolean) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_table record;
  v_index record;
  v_found bigint;
  v_refused bigint;
  v_reference record;
begin
  drop table if exists pg_temp.ingest_restored;
  create temporary table ingest_restored (
    position integer primary key, type_order smallint, row_type text, target_name text, target regclass, effect text, level integer,
    target_key jsonb, before jsonb, exact jsonb, after_hash bytea, row_table oid, row_tid tid, outcome text default 'reversed', reason text,
    -- By which the row is found now.
    after_key jsonb) on commit drop;
  insert into pg_temp.ingest_restored (position, type_order, row_type, target_name, target, effect, level, target_key, before, exact)
  select l.row_number, l.type_order, l.row_type, l.target, to_regclass(l.target), 'delete', 0, coalesce(l.target_key, p.target_key), l.before, l.exact
    from iu_core.ingest_ledger l
    left join iu_core.ingest_plan_row p on p.upload_id = l.upload_id and p.type_order = l.type_order and p.row_number = l.row_number
   where l.upload_id = p_promotion.upload_id and l.action = 'delete';
  if not found then
    return;
  end if;
  -- Numbers that no row to delete has.
  insert into pg_temp.ingest_restored (position, type_order, row_type, target_name, target, effect, level, target_key, before, exact, after_hash, after_key)
  select -1000000000 - d.position, d.type_order, d.target, d.target, to_regclass(d.target), d.effect, d.level, d.target_key, d.before, d.exact, d.after_hash,
         coalesce(d.after_key, d.target_key)
    from iu_core.ingest_dependent d where d.upload_id = p_promotion.upload_id;
  analyze pg_temp.ingest_restored;
  update pg_temp.ingest_restored set outcome = 'kept', reason = 'its table no longer exists' where target is null;

  for v_table in
    select r.target, iu_core.fn_ingest_table_sql(r.target) as name, min(r.level) as level from pg_temp.ingest_restored r where r.target is not null group by 1
  loop
    update pg_temp.ingest_restored r set outcome = 'kept', reason = 'its table has lost a column since'
     where r.target = v_table.target
       and exists (select from jsonb_object_keys(r.before) c
                    where not exists (select from pg_attribute a where a.attrelid = v_table.target and a.attname = c and a.attnum > 0 and not a.attisdropped));
    perform iu_core.fn_ingest_snapshot_undo_changed(v_table.target, p_lock);
    for v_index in
      select string_agg(format(case when i.indnullsnotdistinct then 't.%I is not distinct from b.c%s' else 't.%I = b.c%s' end, a.attname, p.position), ' and ') as matches,
             string_agg(format('b.%I as c%s', a.attname, p.position), ', ') as selected,
             string_agg(a.attname, ', ' order by p.position) as columns
        from pg_index i, unnest(i.indkey[0:i.indnkeyatts - 1]) with ordinality as p (number, position), pg_attribute a
       where i.indrelid = v_table.target and i.indisunique and i.indisvalid and i.indpred is null and i.indexprs is null
         and a.attrelid = i.indrelid and a.attnum = p.number
       group by i.indexrelid
    loop
      execute format($sql$
        update pg_temp.ingest_restored r set outcome = 'kept', reason = %1$L
          from (select x.position as place, %5$s from pg_temp.ingest_restored x, jsonb_populate_record(null::%2$s, x.before) b
                 where x.target = %3$s and x.outcome = 'reversed') as b
          join %2$s t on %4$s
         where r.position = b.place
           and not exists (select from pg_temp.ingest_undo u where u.outcome = 'reversed' and u.row_table = t.tableoid and u.row_tid = t.ctid)
           -- Rows that are restored, itself among them, leave their places at once.
           and not (r.effect <> 'delete' and exists (
                 select from pg_temp.ingest_restored o where o.outcome = 'reversed' and o.row_table = t.tableoid and o.row_tid = t.ctid))
      $sql$, format('another row with the same %s was inserted since', v_index.columns), v_table.name, v_table.target::oid, v_index.matches, v_index.selected);
    end loop;
  end loop;

  -- A row that does not come back keeps away what refers to it.
  loop
    v_refused := 0;
    for v_reference in
      select distinct r.target, x.* from (select distinct target from pg_temp.ingest_restored where outcome = 'reversed') r,
             lateral iu_core.fn_ingest_references_from(r.target) x
    loop
      execute format($sql$
        with child as materialized (
          select x.position as place, %1$s from pg_temp.ingest_restored x, jsonb_populate_record(null::%2$s, x.before) b
           where x.target = %3$s and x.outcome = 'reversed' and %4$s
        ), parent as materialized (
          select %5$s from pg_temp.ingest_restored x, jsonb_populate_record(null::%6$s, x.before) b
           where x.target = any (%7$L::oid[]) and x.outcome = 'reversed' and x.effect = 'delete'
        )
        update pg_temp.ingest_restored r set outcome = 'refused', reason = %8$L
          from child c
         where r.position = c.place and not exists (select from parent p where %9$s) and not exists (select from %6$s t where %10$s)
      $sql$, v_reference.child_columns, iu_core.fn_ingest_table_sql(v_reference.target), v_reference.target::oid, v_reference.not_null,
         v_reference.parent_columns, iu_core.fn_ingest_table_sql(v_reference.parent), v_reference.parents,
         format('the row of %s that it refers to no longer exists', iu_core.fn_ingest_table_sql(v_reference.parent)),
         v_reference.on_restored, v_reference.on_parent);
      get diagnostics v_found = row_count;
      v_refused := v_refused + v_found;
    end loop;
    exit when v_refused = 0;
  end loop;
  insert into pg_temp.ingest_undo (type_order, row_type, row_number, action, target, target_key, before, outcome, reason)
  select r.type_order, r.row_type, r.position, case when r.level = 0 then 'delete' else 'dependent' end, r.target, coalesce(r.target_key, '{}'),
         r.before, r.outcome, r.reason
    from pg_temp.ingest_restored r;
end $$;

-- Decides which rows of a table that a foreign key changed are still as it left them. Internal.
create or replace function iu_core.fn_ingest_snapshot_undo_changed(p_table regclass, p_lock boolean) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text := iu_core.fn_ingest_table_sql(p_table);
  v_rows text;
  v_joined text;
  v_image text;
begin
  if not exists (select from pg_temp.ingest_restored where target = p_table and effect like 'set %' and outcome = 'reversed') then
    return;
  end if;
  -- As it was then: a column that was added since does not count.
  select format('row(%s)', string_agg(format('t.%I', a.attname), ', ' order by a.attnum)) into v_image
    from pg_attribute a
   where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped
     and a.attname::text in (select jsonb_object_keys(before) from (select before from pg_temp.ingest_restored where target = p_table limit 1) r);
  select format($sql$
    (select x.position as place, x.after_hash as hash_then, %3$s from pg_temp.ingest_restored x, jsonb_populate_record(null::%1$s, x.after_key) b
      where x.target = %2$s and x.effect like 'set %%' and x.outcome = 'reversed') as b
  $sql$, v_name, p_table::oid, string_agg(format('b.%I as c%s', k.name, k.place), ', ')),
         format('%s t on %s', v_name, string_agg(format('t.%I = b.c%s', k.name, k.place), ' and '))
    into v_rows, v_joined
    from jsonb_object_keys((select after_key from pg_temp.ingest_restored where target = p_table and effect like 'set %' limit 1))
         with ordinality as k (name, place);
  if p_lock then
    execute format('select count(*) from (select from %s join %s for update of t) locked', v_rows, v_joined);
  end if;
  execute format($sql$
    update pg_temp.ingest_restored r
       set row_table = c.row_table, row_tid = c.row_tid, reason = c.reason, outcome = case when c.reason is null then 'reversed' else 'kept' end
      from (select b.place, t.tableoid as row_table, t.ctid as row_tid,
                   case when t.ctid is null then 'it was deleted since' when b.hash_then is distinct from %3$s then 'somebody changed it since' end as reason
              from %1$s left join %2$s) c
     where r.position = c.place
  $sql$, v_rows, v_joined, iu_core.fn_ingest_row_hash_sql(p_table,
     case when exists (select from pg_attribute a where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped
                          and not exists (select from pg_temp.ingest_restored x where x.target = p_table and x.before ? a.attname::text))
          then v_image else 't.*' end,
     array(select jsonb_object_keys(before) from (select before from pg_temp.ingest_restored where target = p_table limit 1) r)));
end $$;

-- The foreign keys of a table: expressions for the columns of a referring row `b` and of a restored parent `b`, and the conditions
-- that compare a child `c` with such a parent `p` and with a row `t` of the parent's table. Internal.
create or replace function iu_core.fn_ingest_references_from(p_table regclass)
returns table (parent regclass, parents oid[], child_columns text, not_null text, parent_columns text, on_restored text, on_parent text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select c.confrelid::regclass,
         c.confrelid || array(select relid::oid from pg_partition_tree(c.confrelid)) || array(select relid::oid from pg_partition_ancestors(c.confrelid)),
         string_agg(format('b.%I as k%s', fa.attname, k.place), ', '),
         string_agg(format('b.%I is not null', fa.attname), ' and '),
         string_agg(format('b.%I as k%s', ta.attname, k.place), ', '),
         string_agg(format('p.k%s operator(%I.%s) c.k%1$s', k.place, n.nspname, o.oprname), ' and '),
         string_agg(format('t.%I operator(%I.%s) c.k%s', ta.attname, n.nspname, o.oprname, k.place), ' and ')
    from pg_constraint c, unnest(c.conkey, c.confkey, c.conpfeqop) with ordinality as k (child_column, parent_column, operator, place),
         pg_attribute fa, pg_attribute ta, pg_operator o, pg_namespace n
   where c.contype = 'f' and c.conparentid = 0 and has_table_privilege(c.confrelid, 'select')
     and (c.conrelid = p_table or c.conrelid in (select relid from pg_partition_ancestors(p_table)))
     and fa.attrelid = c.conrelid and fa.attnum = k.child_column
     and ta.attrelid = c.confrelid and ta.attnum = k.parent_column
     and o.oid = k.operator and n.oid = o.oprnamespace
   group by c.oid, c.confrelid
$$;

-- Undo: inserts the deleted rows again, with their ids, tables that others refer to first, and then restores rows that a foreign
-- key changed. Internal.
create or replace function iu_core.fn_ingest_snapshot_undo(p_upload_id uuid, p_type record) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_open regclass[];
  v_table regclass;
begin
  if to_regclass('pg_temp.ingest_restored') is null
     or not exists (select from pg_temp.ingest_restored where type_order = p_type.type_order and level = 0) then
    return;
  end if;
  v_open := array(select target from pg_temp.ingest_restored where outcome = 'reversed' and effect = 'delete' group by target order by min(level));
  while cardinality(v_open) > 0 loop
    -- One that refers to none of the others; where tables refer to each other in a circle, the one that was reached first.
    select t into v_table from unnest(v_open) with ordinality as o (t, place)
     order by exists (select from iu_core.fn_ingest_references_from(o.t) x where x.parent <> o.t and x.parents && v_open::oid[]
                         and not x.parents && array[o.t::oid]), o.place limit 1;
    perform iu_core.fn_ingest_snapshot_undo_table(v_table, 'delete');
    v_open := array_remove(v_open, v_table);
  end loop;
  for v_table in select distinct target from pg_temp.ingest_restored where outcome = 'reversed' and effect like 'set %' loop
    perform iu_core.fn_ingest_snapshot_undo_table(v_table, 'set');
  end loop;
  update iu_core.ingest_dependent d set undo_outcome = r.outcome, undo_reason = r.reason
    from pg_temp.ingest_restored r where d.upload_id = p_upload_id and r.position = -1000000000 - d.position;
end $$;

-- Restores the rows of one table. Internal.
create or replace function iu_core.fn_ingest_snapshot_undo_table(p_table regclass, p_effect text) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_name text := iu_core.fn_ingest_table_sql(p_table);
  v_columns text;
  v_values text;
  v_sets text;
  v_image text := iu_core.fn_ingest_image_sql(p_table, 'r.before', 'r.exact');
  v_decided bigint;
  v_done bigint;
  v_reason text := 'a trigger left rows out';
begin
  select count(*) into v_decided from pg_temp.ingest_restored where target = p_table and outcome = 'reversed' and starts_with(effect, p_effect);
  -- Only what the image holds: a column that was added since keeps its default.
  select string_agg(quote_ident(a.attname), ', ' order by a.attnum),
         string_agg(iu_core.fn_ingest_image_value_sql(a, 'b', 'r.exact'), ', ' order by a.attnum),
         string_agg(format('%I = %s', a.attname, iu_core.fn_ingest_image_value_sql(a, 'b', 'r.exact')), ', ' order by a.attnum) filter (where a.attidentity <> 'a')
    into v_columns, v_values, v_sets
    from pg_attribute a
   where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     and a.attname::text in (select jsonb_object_keys(before) from (select before from pg_temp.ingest_restored where target = p_table limit 1) r);
  begin
    if p_effect = 'delete' then
      execute format($sql$
        insert into %1$s (%2$s) overriding system value
        select %3$s from pg_temp.ingest_restored r, %4$s b
         where r.target = $1 and r.outcome = 'reversed' and r.effect = 'delete' order by r.position
      $sql$, v_name, v_columns, v_values, v_image) using p_table;
    else
      execute format($sql$
        update %1$s t set %2$s
          from pg_temp.ingest_restored r, %4$s b, jsonb_populate_record(null::%1$s, r.after_key) k
         where r.target = $1 and r.outcome = 'reversed' and r.effect like 'set %%' and %3$s
      $sql$, v_name, v_sets,
         (select string_agg(format('t.%1$I = k.%1$I', c), ' and ')
            from jsonb_object_keys((select after_key from pg_temp.ingest_restored where target = p_table and effect like 'set %' limit 1)) c), v_image) using p_table;
    end if;
    get diagnostics v_done = row_count;
    if v_done = v_decided then
      return;
    end if;
  exception when integrity_constraint_violation or data_exception or raise_exception then
    get stacked diagnostics v_reason = message_text;
  end;
  raise exception using
    errcode = 'SD611',
    message = format('The table %s rejected the undo: %s', v_name, v_reason),
    detail = json_build_object('target', v_name, 'line', null, 'reason', v_reason)::text;
end $$;
