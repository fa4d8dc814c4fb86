-- Which rows of one row type are still as we left them. A column that was added since is no change of a row. Internal.
create or replace function iu_core.fn_ingest_undo_decide_type(p_upload_id uuid, p_type record, p_lock boolean) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_match text;
  v_key text;
  v_image text := 't.*';
  v_target text := iu_core.fn_ingest_table_sql(p_type.target);
begin
  v_match := case when p_type.target is not null then iu_core.fn_ingest_undo_rows(p_upload_id, p_type) end;
  if v_match is null then
    insert into pg_temp.ingest_undo (type_order, row_type, row_number, action, target, target_key, outcome, reason)
    select type_order, row_type, row_number, action, p_type.target, target_key, 'kept',
           case when p_type.target is null then 'its table is gone' else 'its table has lost a column since' end
      from iu_core.ingest_ledger
     where upload_id = p_upload_id and type_order = p_type.type_order;
    return;
  end if;
  if exists (select from pg_attribute where attrelid = p_type.target and attnum > 0 and not attisdropped
                and attname <> all (p_type.columns)) then
    v_image := format('row(%s)', (select string_agg(format('t.%I', c), ', ' order by position)
                                    from unnest(p_type.columns) with ordinality as s (c, position)));
  end if;
  v_key := format('jsonb_build_object(%s)', (
    select string_agg(format('%1$L, t.%1$I', k), ', ') from jsonb_array_elements_text(p_type.spec -> 'key') k
      join pg_attribute a on a.attrelid = p_type.target and a.attname = k and not a.attisdropped));
  if p_lock then
    execute format($sql$
      select count(*) from (select from pg_temp.ingest_now n join %1$s t on %2$s order by %3$s for update of t) locked
    $sql$, v_target, v_match,
      (select string_agg(format('t.%I', k), ', ') from jsonb_array_elements_text(p_type.spec -> 'key') k
         join pg_attribute a on a.attrelid = p_type.target and a.attname = k and not a.attisdropped));
  end if;
  execute format($sql$
    insert into pg_temp.ingest_undo
    select %1$s, %2$L, n."#row", n."#action", %3$L::regclass,
           coalesce(n."#key", case when not h.same and t.ctid is not null then %6$s end), n."#before", t.tableoid, t.ctid,
           case when h.same then 'reversed' else 'kept' end,
           case when t.ctid is null then 'somebody deleted it since'
                -- If it is as a later upload left it, that one is named: undone first, it gives back what we left.
                when not h.same then coalesce((
                  select format('upload %%s (%%s) changed it since: undo that first', o.upload_id, o.file_name)
                    from iu_core.ingest_ledger l
                    join iu_core.ingest_promotion p on p.upload_id = l.upload_id and p.undone_at is null
                    join iu_core.ingest_upload o on o.upload_id = l.upload_id
                    join iu_core.ingest_promotion m on m.upload_id = %8$L and m.promoted_at < p.promoted_at
                    join iu_core.ingest_upload u on u.upload_id = m.upload_id and u.workspace_id = o.workspace_id
                   where (l.target_id = n."#id"
                          or (l.target_id is null and l.target = %9$L and md5(l.target_key::text) = md5(n."#key"::text)))
                     and l.after_hash = h.hash
                   order by p.promoted_at desc limit 1), 'somebody changed it since') end
      from pg_temp.ingest_now n left join %4$s t on %5$s,
           lateral (select case when t.ctid is not null then %7$s end as hash) as s,
           lateral (select s.hash, coalesce(s.hash = n."#after", false) as same) as h
  $sql$, p_type.type_order, p_type.row_type, v_target, v_target, v_match, v_key,
    -- What was promoted before rows were hashed by themselves has the sha-256 of its text.
    format('case octet_length(n."#after") when 32 then sha256(convert_to((%s)::text, ''UTF8'')) else %s end', v_image,
           iu_core.fn_ingest_row_hash_sql(p_type.target, v_image, p_type.columns)),
    p_upload_id, p_type.spec ->> 'target');
end $$;
