-- What the deletes of a snapshot do to rows of other tables: found through chains of foreign keys, shown with the plan, and compared again by the
-- promotion.

-- Finds what the deletes of `ingest_gone` do to other rows, through chains of foreign keys, in `ingest_dependent`: a row of
-- level 0 is to be deleted itself, the others are deleted or changed by a foreign key, or forbid the delete (restrict). A row that
-- is reached on several ways is counted once, for the first row to delete. With p_lock every row is locked before rows that refer
-- to it are looked for, so that none is added. Returns why that cannot be known; NULL if it is. Internal.
create or replace function iu_core.fn_ingest_snapshot_dependents(p_target regclass, p_lock boolean) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_level integer := 0;
  v_reference record;
  v_found bigint;
  v_locked bigint;
begin
  drop table if exists pg_temp.ingest_dependent;
  create temporary table ingest_dependent (
    target oid, row_table oid, row_tid tid, root integer, level integer, effect text, via text, target_key jsonb, before jsonb, row_hash bytea,
    exact jsonb, changed text[], after_key jsonb) on commit drop;
  insert into pg_temp.ingest_dependent (target, row_table, row_tid, root, level, effect)
  select p_target, row_table, row_tid, position, 0, 'delete' from pg_temp.ingest_gone;
  while exists (select from pg_temp.ingest_dependent where level = v_level and effect = 'delete') loop
    analyze pg_temp.ingest_dependent;
    for v_reference in
      select p.target as parent, r.* from (select distinct target::regclass as target from pg_temp.ingest_dependent where level = v_level and effect = 'delete') p,
             lateral iu_core.fn_ingest_references_to(p.target) r
    loop
      if not v_reference.visible then
        return format('rows of %s may depend on rows that would be deleted, and Stagedoor may not look: grant select, insert, update on %1$s to workflow_admin',
                      iu_core.fn_ingest_table_sql(v_reference.child));
      end if;
      execute format($sql$
        insert into pg_temp.ingest_dependent
        select distinct on (f.tableoid, f.ctid) %1$s, f.tableoid, f.ctid, d.root, %2$s, %3$L, %4$L, %5$s, to_jsonb(f.*), %6$s, %12$s, %13$L::text[]
          from pg_temp.ingest_dependent d
          join %7$s t on t.tableoid = d.row_table and t.ctid = d.row_tid
          join %8$s f on %9$s
         where d.level = %10$s and d.effect = 'delete' and d.target = %11$s
           and not exists (select from pg_temp.ingest_dependent o where o.effect = 'delete' and o.row_table = f.tableoid and o.row_tid = f.ctid)
         order by f.tableoid, f.ctid, d.root
      $sql$, v_reference.child::oid, v_level + 1, v_reference.effect, v_reference.name,
         coalesce((select format('jsonb_build_object(%s)', string_agg(format('%1$L, f.%1$I', k), ', ')) from unnest(v_reference.child_key) k), 'null'),
         -- Of rows that only lose their reference it matters which they are; of rows that are deleted, what they hold.
         case when v_reference.effect like 'set %' and v_reference.child_key is not null
              then (select format('sha256(convert_to(jsonb_build_array(%s)::text, ''UTF8''))', string_agg(format('f.%I', k), ', ')) from unnest(v_reference.child_key) k)
              else iu_core.fn_ingest_row_hash_sql(v_reference.child, 'f.*') end, iu_core.fn_ingest_table_sql(v_reference.parent),
         iu_core.fn_ingest_table_sql(v_reference.child), v_reference.on_key, v_level, v_reference.parent::oid,
         -- Stored by the promotion only.
         coalesce(case when p_lock then iu_core.fn_ingest_exact_sql(v_reference.child, 'f') end, 'null::jsonb'),
         case when v_reference.effect like 'set %' then v_reference.set_columns end);
      get diagnostics v_found = row_count;
      continue when v_found = 0;
      if not v_reference.writable and v_reference.effect <> 'restrict' then
        return format('rows of %s depend on rows that would be deleted, and Stagedoor may not bring them back: grant insert, update on %1$s to workflow_admin',
                      iu_core.fn_ingest_table_sql(v_reference.child));
      end if;
      if v_reference.child_key is null and v_reference.effect like 'set %' then
        return format('%s rows of %s refer to rows that would be deleted (on delete %s), and without a primary key an undo could not find them again',
                      v_found, iu_core.fn_ingest_table_sql(v_reference.child), v_reference.effect);
      end if;
      if p_lock and v_reference.effect <> 'restrict' then
        execute format($sql$
          select count(*) from (select from pg_temp.ingest_dependent d join %s f on f.tableoid = d.row_table and f.ctid = d.row_tid
                                 where d.level = %s and d.target = %s and d.via = %L for update of f) locked
        $sql$, iu_core.fn_ingest_table_sql(v_reference.child), v_level + 1, v_reference.child::oid, v_reference.name) into v_locked;
        -- One that was changed while we waited for its lock.
        if v_locked <> v_found then
          return format('rows of %s that depend on rows to delete are being changed', iu_core.fn_ingest_table_sql(v_reference.child));
        end if;
      end if;
    end loop;
    v_level := v_level + 1;
  end loop;
  analyze pg_temp.ingest_dependent;
  -- Several foreign keys may change one row.
  update pg_temp.ingest_dependent d set changed = o.changed
    from (select x.row_table, x.row_tid, array_agg(distinct c order by c) as changed from pg_temp.ingest_dependent x, unnest(x.changed) c
           group by 1, 2 having count(distinct x.via) > 1) o
   where d.changed is not null and d.row_table = o.row_table and d.row_tid = o.row_tid;
  -- What is deleted anyway is neither changed nor forbids anything, and a row is changed once.
  delete from pg_temp.ingest_dependent d
   where d.effect <> 'delete'
     and exists (select from pg_temp.ingest_dependent o where o.effect = 'delete' and o.row_table = d.row_table and o.row_tid = d.row_tid);
  delete from pg_temp.ingest_dependent d
   where d.effect <> 'delete'
     and exists (select from pg_temp.ingest_dependent o where o.effect <> 'delete' and o.row_table = d.row_table and o.row_tid = d.row_tid
                    and (o.effect <> 'restrict', o.level, o.via) < (d.effect <> 'restrict', d.level, d.via));
  return iu_core.fn_ingest_snapshot_changed_keys();
end $$;

-- Notes under which key (`after_key`) an undo finds the rows of `ingest_dependent` that a foreign key changes, where it changes the
-- very columns that identify them. Returns why an undo could not bring such rows back; NULL: it can. Internal.
create or replace function iu_core.fn_ingest_snapshot_changed_keys() returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_change record;
  v_column record;
  v_default record;
  v_reference record;
  v_key jsonb;
  v_found boolean;
begin
  for v_change in
    select d.target::regclass as target, iu_core.fn_ingest_table_sql(d.target) as name, d.changed, min(d.effect) as effect,
           (array_agg(d.target_key))[1] as target_key, count(*) as rows
      from pg_temp.ingest_dependent d where d.changed is not null group by d.target, d.changed
  loop
    v_key := '{}';
    for v_column in
      select a.attname::text as name, a.attidentity, a.attgenerated from pg_attribute a
       where a.attrelid = v_change.target and a.attnum > 0 and not a.attisdropped
         and (a.attname = any (v_change.changed) and (a.attidentity = 'a' or v_change.target_key ? a.attname::text)
              or a.attgenerated <> '' and v_change.target_key ? a.attname::text)
       order by a.attnum
    loop
      select * into v_default from iu_core.fn_ingest_constant_default(v_change.target, v_column.name);
      if v_column.attidentity = 'a' then
        return format('%s of %s %s to rows that would be deleted by %s, which is set then (on delete %s) and which an undo could not set back, because it is generated always as identity: let them refer to other rows, then plan again',
                      case v_change.rows when 1 then '1 row' else v_change.rows || ' rows' end, v_change.name,
                      case v_change.rows when 1 then 'refers' else 'refer' end, v_column.name, v_change.effect);
      end if;
      if v_column.attgenerated <> '' or not v_default.is_constant then
        return format('%s of %s %s to rows that would be deleted, and an undo could not find %s again: their key has %s, which is set then (on delete %s) to a value that is not known before. Give %2$s another unique key, or %5$s a constant default',
                      case v_change.rows when 1 then '1 row' else v_change.rows || ' rows' end, v_change.name,
                      case v_change.rows when 1 then 'refers' else 'refer' end, case v_change.rows when 1 then 'it' else 'them' end, v_column.name, v_change.effect);
      end if;
      v_key := v_key || jsonb_build_object(v_column.name, v_default.value);
    end loop;
    if v_key <> '{}' then
      update pg_temp.ingest_dependent d set after_key = d.target_key || v_key where d.target = v_change.target and d.changed = v_change.changed;
    end if;
    -- What refers to the changed columns would follow, lose its reference or forbid the change, and is not in the plan.
    for v_reference in
      select r.* from iu_core.fn_ingest_references_to(v_change.target) r where r.parent_columns && v_change.changed
    loop
      v_found := true;
      if v_reference.visible then
        execute format($sql$
          select exists (select from pg_temp.ingest_dependent d join %s t on t.tableoid = d.row_table and t.ctid = d.row_tid join %s f on %s
                          where d.target = $1 and d.changed = $2)
        $sql$, v_change.name, iu_core.fn_ingest_table_sql(v_reference.child), v_reference.on_key) into v_found using v_change.target::oid, v_change.changed;
      end if;
      if v_found then
        return format('rows of %s%s refer to rows of %s by %s, which the foreign key of those rows would change (on delete %s), and an undo could not bring them back: delete the rows of %1$s or let them refer to other rows, then plan again',
                      iu_core.fn_ingest_table_sql(v_reference.child), case when v_reference.visible then '' else ', which Stagedoor may not read, may' end,
                      v_change.name, array_to_string(v_reference.parent_columns, ', '), v_change.effect);
      end if;
    end loop;
  end loop;
  return null;
end $$;

-- The value that a column gets by SET DEFAULT, if it is known before: is_constant is false for a default that calls what is not
-- immutable (a sequence, the time, a random number), calls a function of the user, or cannot be computed. Internal.
create or replace function iu_core.fn_ingest_constant_default(p_table regclass, p_column text, out is_constant boolean, out value jsonb)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_default record;
begin
  select pg_get_expr(d.adbin, d.adrelid) as expression, d.adbin::text as tree, format_type(a.atttypid, a.atttypmod) as type, t.typdefault
    into v_default
    from pg_attribute a join pg_type t on t.oid = a.atttypid left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
   where a.attrelid = p_table and a.attname = p_column;
  is_constant := v_default.typdefault is null and coalesce(v_default.tree, '') !~ '{(NEXTVALUEEXPR|SQLVALUEFUNCTION|COERCEVIAIO)'
    and not exists (select from regexp_matches(v_default.tree, ':funcid (\d+)', 'g') m join pg_proc f on f.oid = m[1]::oid
                     where f.provolatile <> 'i' or f.pronamespace <> 'pg_catalog'::regnamespace)
    and not exists (select from regexp_matches(v_default.tree, ':opno (\d+)', 'g') m join pg_operator o on o.oid = m[1]::oid
                      join pg_proc f on f.oid = o.oprcode where f.provolatile <> 'i' or f.pronamespace <> 'pg_catalog'::regnamespace);
  if is_constant and v_default.expression is not null then
    begin
      execute format('select to_jsonb((%s)::%s)', v_default.expression, v_default.type) into value;
    exception when others then
      is_constant := false;
    end;
  end if;
end $$;

-- The foreign keys that point at a table, at the partitioned table that it belongs to, or at its partitions: `on_key` compares a
-- referring row `f` with a row `t`; `child_key` identifies a row of the referring table; `set_columns` are those that a delete
-- sets. Where these cannot be set to NULL, the foreign key forbids the delete, whatever it says. Internal.
create or replace function iu_core.fn_ingest_references_to(p_target regclass)
returns table (name text, child regclass, effect text, on_key text, child_key text[], visible boolean, writable boolean,
               parent_columns text[], set_columns text[])
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select c.conname::text, c.conrelid::regclass,
         case when c.confdeltype in ('n', 'd') and s.never_null then 'restrict'
              else case c.confdeltype when 'c' then 'delete' when 'n' then 'set null' when 'd' then 'set default' else 'restrict' end end,
         string_agg(format('t.%I operator(%I.%s) f.%I', ta.attname, n.nspname, o.oprname, fa.attname), ' and '),
         iu_core.fn_ingest_unique_key(c.conrelid),
         has_table_privilege(c.conrelid, 'select') and not row_security_active(c.conrelid),
         has_table_privilege(c.conrelid, 'update') and (c.confdeltype <> 'c' or has_table_privilege(c.conrelid, 'insert')),
         array_agg(ta.attname::text), s.columns
    from pg_constraint c, unnest(c.conkey, c.confkey, c.conpfeqop) as k (child_column, parent_column, operator),
         pg_attribute fa, pg_attribute ta, pg_operator o, pg_namespace n,
         lateral (select array_agg(a.attname::text order by a.attnum) as columns,
                         coalesce(bool_or(a.attnotnull and (c.confdeltype = 'n' or not a.atthasdef and a.attidentity = '' and y.typdefault is null)), false) as never_null
                    from pg_attribute a join pg_type y on y.oid = a.atttypid
                   where a.attrelid = c.conrelid and a.attnum = any (coalesce(nullif(c.confdelsetcols, '{}'), c.conkey))) s
   where c.contype = 'f' and c.conparentid = 0
     and (c.confrelid = p_target
          or c.confrelid in (select relid from pg_partition_tree(p_target))
          or c.confrelid in (select relid from pg_partition_ancestors(p_target)))
     and fa.attrelid = c.conrelid and fa.attnum = k.child_column
     and ta.attrelid = c.confrelid and ta.attnum = k.parent_column
     and o.oid = k.operator and n.oid = o.oprnamespace
   group by c.oid, c.conname, c.conrelid, c.confdeltype, s.columns, s.never_null
   order by c.conrelid::regclass::text, c.conname
$$;

-- Columns that identify a row of a table: its primary key, else another unique index whose columns cannot be NULL. One that no
-- foreign key changes (set null, set default) comes first. Internal.
create or replace function iu_core.fn_ingest_unique_key(p_table regclass) returns text[]
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select k.columns
    from pg_index i,
         lateral (select array_agg(a.attname::text order by p.position) as columns, bool_and(a.attnotnull) as never_null,
                         bool_or(a.attgenerated <> '' or exists (
                           select from pg_constraint c where c.conrelid = p_table and c.contype = 'f' and c.confdeltype in ('n', 'd')
                              and a.attnum = any (coalesce(nullif(c.confdelsetcols, '{}'), c.conkey)))) as may_change
                    from unnest(i.indkey[0:i.indnkeyatts - 1]) with ordinality as p (number, position)
                    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = p.number) k
   where i.indrelid = p_table and i.indisunique and i.indisvalid and i.indpred is null and i.indexprs is null and k.never_null
   order by k.may_change, i.indisprimary desc, i.indnkeyatts, i.indexrelid limit 1
$$;

-- The dependents of every row to delete, and a fingerprint of exactly these rows. Internal.
create or replace function iu_core.fn_ingest_snapshot_dependents_by_row()
returns table (root integer, dependents jsonb, dependents_hash bytea, reason text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select d.root, jsonb_agg(jsonb_build_object('table', d.target, 'effect', d.effect, 'rows', d.rows) order by d.target, d.effect),
         sha256(convert_to(string_agg(d.rows_hash, '|' order by d.target, d.effect), 'UTF8')),
         string_agg(format('%s %s of %s %s to it', d.rows, case d.rows when 1 then 'row' else 'rows' end, d.target,
                           case d.rows when 1 then 'refers' else 'refer' end), '; ' order by d.target) filter (where d.effect = 'restrict')
    from (select x.root, iu_core.fn_ingest_table_sql(x.target) as target, x.effect, count(*) as rows,
                 concat_ws(':', x.target, x.effect, encode(sha256(string_agg(x.row_hash, '' order by x.row_hash)), 'hex')) as rows_hash
            from pg_temp.ingest_dependent x where x.level > 0 group by 1, 2, 3, x.target) d
   group by d.root
$$;

-- Why rows of `ingest_gone` cannot be deleted: others refer to them, or rows that the file has would be deleted or changed with
-- them. p_row_match: finds the row `t` of a planned row in `ingest_now n`. NULL if they can. Internal.
create or replace function iu_core.fn_ingest_snapshot_blocked(p_type record, p_row_match text) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_blocked text;
  v_rows bigint;
begin
  select string_agg(format('%s %s of %s', b.rows, case b.rows when 1 then 'row' else 'rows' end, b.target), ', ' order by b.target), sum(b.rows)
    into v_blocked, v_rows
    from (select iu_core.fn_ingest_table_sql(target) as target, count(*) as rows from pg_temp.ingest_dependent where effect = 'restrict' group by 1) b;
  if v_blocked is not null then
    return format('%s %s to rows that would be deleted, and the foreign key forbids that: --on-invalid skip leaves those rows as they are',
                  v_blocked, case v_rows when 1 then 'refers' else 'refer' end);
  end if;
  -- Rows of the table itself may refer to each other.
  if exists (select from pg_temp.ingest_dependent where level > 0 and target = p_type.target) then
    execute format($sql$
      select count(*) from pg_temp.ingest_dependent d join %s t on t.tableoid = d.row_table and t.ctid = d.row_tid
       where d.level > 0 and d.target = $1 and exists (select from pg_temp.ingest_now n where %s)
    $sql$, iu_core.fn_ingest_table_sql(p_type.target), p_row_match) into v_rows using p_type.target::oid;
    if v_rows > 0 then
      return format('%s %s of %s that the file has %s to rows that it lacks, and would be deleted or changed with them', v_rows,
                    case v_rows when 1 then 'row' else 'rows' end, p_type.target_name, case v_rows when 1 then 'refers' else 'refer' end);
    end if;
  end if;
  return null;
end $$;
