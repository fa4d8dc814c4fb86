-- The decisions for one row type. The ledger's rows are taken into a typed temporary table first, as in promotion: the
-- planner must know how many there are. Internal.
create or replace function iu_core.fn_ingest_undo_decide_type(p_upload_id uuid, p_type record, p_lock boolean) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_record text;
  v_match text;
  v_key text;
  v_reference record;
begin
  if p_type.target is null then
    insert into pg_temp.ingest_undo (type_order, row_type, row_number, action, target_key, outcome, reason)
    select type_order, row_type, row_number, action, target_key, 'kept', 'its table is gone' from iu_core.ingest_ledger
     where upload_id = p_upload_id and type_order = p_type.type_order;
    return;
  end if;
  select string_agg(format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', '),
         string_agg(case when a.attnotnull then format('t.%1$I = n.%1$I', a.attname)
                         else format('t.%1$I is not distinct from n.%1$I', a.attname) end, ' and ')
    into v_record, v_match
    from jsonb_array_elements_text(p_type.spec -> 'key') k
    join pg_attribute a on a.attrelid = p_type.target and a.attname = k;
  v_key := format('jsonb_build_object(%s)', (select string_agg(format('%1$L, t.%1$I', k), ', ')
                                                from jsonb_array_elements_text(p_type.spec -> 'key') k));
  if p_type.id_column is not null then
    v_match := format('t.%I = n."#id"', p_type.id_column);
    v_record := '"#none" text';
  end if;
  drop table if exists pg_temp.ingest_now;
  execute format($sql$
    create temporary table ingest_now on commit drop as
    select l.row_number as "#row", l.action as "#action", l.target_id as "#id", l.target_key as "#key", l.before as "#before",
           l.after_hash as "#after", x.*
      from iu_core.ingest_ledger l, jsonb_to_record(coalesce(l.target_key, '{}')) as x (%s)
     where l.upload_id = %L and l.type_order = %s
  $sql$, v_record, p_upload_id, p_type.type_order);
  analyze pg_temp.ingest_now;

  if p_lock then
    execute format($sql$
      select count(*) from (select from pg_temp.ingest_now n join %1$s t on %2$s order by %3$s for update of t) locked
    $sql$, p_type.target, v_match,
      (select string_agg(format('t.%I', k), ', ') from jsonb_array_elements_text(p_type.spec -> 'key') k));
  end if;
  execute format($sql$
    insert into pg_temp.ingest_undo
    select %1$s, %2$L, n."#row", n."#action", %3$L::regclass,
           coalesce(n."#key", case when not h.same and t.ctid is not null then %6$s end), n."#before", t.tableoid, t.ctid,
           case when h.same then 'reversed' else 'kept' end,
           case when t.ctid is null then 'somebody deleted it since' when not h.same then 'somebody changed it since' end
      from pg_temp.ingest_now n left join %4$s t on %5$s,
           lateral (select t.ctid is not null and sha256(convert_to(t::text, 'UTF8')) = n."#after" as same) as h
  $sql$, p_type.type_order, p_type.row_type, p_type.target::text, p_type.target, v_match, v_key);
  analyze pg_temp.ingest_undo;

  -- Every foreign key that points here, cascading ones, too: they would take others' rows along without a word.
  for v_reference in
    select c.conrelid::regclass as child,
           string_agg(format('f.%I = t.%I', fa.attname, ta.attname), ' and ') as on_key
      from pg_constraint c, unnest(c.conkey, c.confkey) as k (child_column, parent_column),
           pg_attribute fa, pg_attribute ta
     where c.contype = 'f' and c.confrelid = p_type.target and c.conparentid = 0
       and fa.attrelid = c.conrelid and fa.attnum = k.child_column
       and ta.attrelid = c.confrelid and ta.attnum = k.parent_column
     group by c.oid, c.conrelid
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
    $sql$, format('rows of %s depend on it', v_reference.child), p_type.target, p_type.type_order, v_reference.child, v_reference.on_key);
  end loop;
end $$;
