-- Refuses to delete rows of one row type that others refer to, and says how many it refused. Every foreign key that points
-- here is asked, cascading ones, too: they would take others' rows along without a word. Internal.
create or replace function iu_core.fn_ingest_undo_dependents(p_type record) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_reference record;
  v_refused bigint := 0;
  v_count bigint;
begin
  for v_reference in
    select c.conrelid::regclass as child,
           string_agg(format('f.%I = t.%I', fa.attname, ta.attname), ' and ') as on_key,
           has_table_privilege(c.conrelid, 'select') and not row_security_active(c.conrelid) as visible
      from pg_constraint c, unnest(c.conkey, c.confkey) as k (child_column, parent_column),
           pg_attribute fa, pg_attribute ta
     where c.contype = 'f' and c.conparentid = 0
       -- A key may point at the table, at the partitioned one that it belongs to, or at one of its partitions.
       and (c.confrelid = p_type.target
            or c.confrelid in (select relid from pg_partition_tree(p_type.target))
            or c.confrelid in (select relid from pg_partition_ancestors(p_type.target)))
       and fa.attrelid = c.conrelid and fa.attnum = k.child_column
       and ta.attrelid = c.confrelid and ta.attnum = k.parent_column
     group by c.oid, c.conrelid
  loop
    -- What we cannot see we cannot rule out.
    execute format($sql$
      update pg_temp.ingest_undo u
         set outcome = 'refused', reason = %1$L
        from %2$s t
       where u.type_order = %3$s and u.outcome = 'reversed' and u.action = 'insert'
         and t.tableoid = u.row_table and t.ctid = u.row_tid and %4$s
    $sql$,
      case when v_reference.visible then format('rows of %s depend on it', v_reference.child)
           else format('rows of %s may depend on it, and Stagedoor may not look', v_reference.child) end,
      iu_core.fn_ingest_table_sql(p_type.target), p_type.type_order,
      case when v_reference.visible then format($sql$
        exists (select from %s f where %s
                   and not exists (select from pg_temp.ingest_undo g
                                    where g.row_table = f.tableoid and g.row_tid = f.ctid
                                      and g.outcome = 'reversed' and g.action = 'insert'))
      $sql$, iu_core.fn_ingest_table_sql(v_reference.child), v_reference.on_key) else 'true' end);
    get diagnostics v_count = row_count;
    v_refused := v_refused + v_count;
  end loop;
  return v_refused;
end $$;
