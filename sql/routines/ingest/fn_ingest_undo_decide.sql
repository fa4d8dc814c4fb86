-- What an undo would do with every row of a promotion, into the temporary table `ingest_undo`: reversed, kept (it is not
-- as we left it) or refused (something else depends on it). Children are decided before their parents. With p_lock the
-- rows are locked first, so that what is decided still holds when it is done. Internal.
create or replace function iu_core.fn_ingest_undo_decide(p_promotion iu_core.ingest_promotion, p_lock boolean) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_spec record;
  v_match text;
  v_table regclass;
  v_reference record;
begin
  drop table if exists pg_temp.ingest_undo;
  create temporary table ingest_undo (
    type_order smallint, row_number integer, action text, target regclass, row_table oid, row_tid tid,
    outcome text, reason text) on commit drop;
  for v_spec in
    select t.ordinality::smallint as type_order, t.spec, t.spec ->> 'target' as target_name, t.spec ->> 'id' as id_column
      from jsonb_array_elements(p_promotion.definition -> 'rows') with ordinality as t (spec, ordinality)
     where exists (select from iu_core.ingest_ledger l
                    where l.upload_id = p_promotion.upload_id and l.type_order = t.ordinality)
     order by t.ordinality desc
  loop
    v_table := to_regclass(v_spec.target_name);
    if v_table is null then
      insert into pg_temp.ingest_undo
      select l.type_order, l.row_number, l.action, null, null, null, 'kept', 'its table is gone' from iu_core.ingest_ledger l
       where l.upload_id = p_promotion.upload_id and l.type_order = v_spec.type_order;
      continue;
    end if;
    v_match := case when v_spec.id_column is not null then format('t.%I = l.target_id', v_spec.id_column)
      else (select string_agg(format('t.%1$I is not distinct from (l.target_key ->> %1$L)::%2$s', a.attname, format_type(a.atttypid, a.atttypmod)), ' and ')
              from jsonb_array_elements_text(v_spec.spec -> 'key') k
              join pg_attribute a on a.attrelid = v_table and a.attname = k) end;
    if p_lock then
      execute format($sql$
        select count(*) from (select from iu_core.ingest_ledger l join %1$s t on %2$s
                               where l.upload_id = $1 and l.type_order = $2 order by %3$s for update of t) locked
      $sql$, v_table, v_match, (select string_agg(format('t.%I', k), ', ') from jsonb_array_elements_text(v_spec.spec -> 'key') k))
        using p_promotion.upload_id, v_spec.type_order;
    end if;
    execute format($sql$
      insert into pg_temp.ingest_undo
      select l.type_order, l.row_number, l.action, %1$L::regclass, t.tableoid, t.ctid,
             case when to_jsonb(t) = l.after then 'reversed' else 'kept' end,
             case when t.ctid is null then 'somebody deleted it since' when to_jsonb(t) <> l.after then 'somebody changed it since' end
        from iu_core.ingest_ledger l left join %2$s t on %3$s
       where l.upload_id = $1 and l.type_order = $2
    $sql$, v_table::text, v_table, v_match) using p_promotion.upload_id, v_spec.type_order;
    analyze pg_temp.ingest_undo;

    -- Every foreign key that points here, cascading ones, too: they would take others' rows along without a word.
    for v_reference in
      select c.conrelid::regclass as child, c.conname,
             string_agg(format('f.%I = t.%I', fa.attname, ta.attname), ' and ') as on_key
        from pg_constraint c, unnest(c.conkey, c.confkey) as k (child_column, parent_column),
             pg_attribute fa, pg_attribute ta
       where c.contype = 'f' and c.confrelid = v_table and c.conparentid = 0
         and fa.attrelid = c.conrelid and fa.attnum = k.child_column
         and ta.attrelid = c.confrelid and ta.attnum = k.parent_column
       group by c.oid, c.conrelid, c.conname
    loop
      execute format($sql$
        update pg_temp.ingest_undo u
           set outcome = 'refused', reason = %1$L
          from %2$s t
         where u.type_order = %3$s and u.outcome = 'reversed' and u.action = 'insert'
           and t.tableoid = u.row_table and t.ctid = u.row_tid
           and exists (select from %4$s f where %5$s
                          and not exists (select from pg_temp.ingest_undo g
                                           where g.row_table = f.tableoid and g.row_tid = f.ctid
                                             and g.outcome = 'reversed' and g.action = 'insert'))
      $sql$, format('rows of %s depend on it', v_reference.child), v_table, v_spec.type_order, v_reference.child, v_reference.on_key);
    end loop;
  end loop;
end $$;
