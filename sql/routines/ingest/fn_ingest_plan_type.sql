-- What one row type would change: every row beside its target row. Internal.
create or replace function iu_core.fn_ingest_plan_type(p_upload iu_core.ingest_upload, p_type record, p_nullable text[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_layout jsonb := p_upload.reading -> 'layout';
  v_joins text := iu_core.fn_ingest_parent_joins(p_type.spec, v_layout);
  v_from text;
  v_match text;
  v_new_id text;
  v_ambiguous text;
  v_reason text;
  v_values text;
  v_changed text;
  v_key text;
  v_texts boolean := iu_core.fn_ingest_plan_texts(p_type.written) is not null;
  v_inserted text;
begin
  v_match := iu_core.fn_ingest_key_match_sql(p_type.key_columns, p_type.spec, p_type.written, v_layout, p_upload, p_nullable);
  if p_type.is_entity then
    v_from := format('pg_temp.ingest_entity e join pg_temp.%I l on l.row_number = e.row_number and e.row_type = %L %s',
                     case when to_regclass('pg_temp.ingest_entity_line') is null then 'ingest_line' else 'ingest_entity_line' end,
                     p_type.row_type, v_joins);
    v_new_id := 'e.new_id';
    v_ambiguous := 'e.ambiguous';
    v_reason := 'e.reason';
    -- Found by its key or by its name: in both cases it is the row that was found.
    v_match := 'e.existing and ' || case when p_type.id_column is null then v_match
                                         else format('t.%I = e.internal_id', p_type.id_column) end;
  else
    v_from := 'pg_temp.ingest_line l ' || v_joins;
    v_new_id := 'l.staging_row_id';
    select coalesce(string_agg(format('coalesce(p_%s.ambiguous, false)', iu_core.fn_ingest_line_column(v_layout, value)), ' or '), 'false'),
           format('concat(''its parent is not certain: '', coalesce(%s))',
                  coalesce(string_agg(format('p_%s.reason', iu_core.fn_ingest_line_column(v_layout, value)), ', '), 'null::text'))
      into v_ambiguous, v_reason
      from jsonb_each_text(p_type.spec -> 'columns') where value like '$%' and v_layout -> 'row_types' ? substr(value, 2);
  end if;

  -- What was found by its name keeps the id that it has there.
  select string_agg(format('(%s)::%s as %I',
           case when w.source = '$identity' then format('case when t.ctid is null then e.external_id else t.%I::text end', w."column")
                else iu_core.fn_ingest_source_sql(w.source, v_layout, p_upload) end, w.type, w."column"), ', '),
         -- json has no equality of its own.
         string_agg(format('case when t.%1$I%3$s is distinct from v.%1$I%3$s then %2$L end', w."column", w."column",
                           case w.type when 'json' then '::jsonb' else '' end), ', '),
         string_agg(format('%L, v.%I', w."column", w."column"), ', ') filter (where w."column" = any (p_type.key_columns)),
         string_agg(format('v.%I::text', w."column"), ', ')
    into v_values, v_changed, v_key, v_inserted
    from jsonb_to_recordset(p_type.written) as w ("column" text, source text, type text);

  -- The id of the staged row becomes that of the new one: known before promotion, and rising with time.
  -- Whole rows are `t.*` and `v.*`: `t` alone would be the column t of a table that has one.
  execute format($sql$
    insert into iu_core.ingest_plan_row (
      upload_id, type_order, row_type, row_number, staging_row_id, action, target_id, target_key, before, before_hash,
      inserted, after, changed, reason, row_hash)
    select r.*, sha256(convert_to(concat_ws('|', r.row_type, r.row_number, r.action, r.target_id,
                                            r.inserted, coalesce(r.after, r.target_key), r.before_hash), 'UTF8'))
      from (
        select %1$L::uuid, %2$s::smallint, %3$L::text as row_type, l.row_number as row_number, %4$s as staging_row_id, a.action,
               %5$s as target_id,
               case when %13$L and a.action <> 'refused' then jsonb_build_object(%6$s) end as target_key,
               case when a.action = 'update' then to_jsonb(t.*) end as before,
               case when a.action in ('update', 'unchanged') then %17$s end as before_hash,
               case when %15$L and a.action = 'insert' then array[%16$s] end as inserted,
               -- (A row at once: built column by column it takes half as long again.)
               case when a.action = 'update' or a.action = 'insert' and not %15$L then to_jsonb(v.*) end as after,
               case when a.action = 'update' then c.changed end as changed,
               case when a.action = 'refused' then %14$s end as reason
          from %7$s
          left join %8$s t on %9$s,
               lateral (select %10$s) as v,
               lateral (select case when t.ctid is not null then array_remove(array[%11$s]::text[], null) end as changed) as c,
               lateral (select case when %12$s then 'refused' when t.ctid is null then 'insert'
                                    when c.changed = '{}' then 'unchanged' else 'update' end as action) as a
        -- Otherwise the images would be built once for the table and once more for the hash.
        offset 0
      ) r
  $sql$,
    p_upload.upload_id, p_type.type_order, p_type.row_type, v_new_id,
    case when p_type.id_column is null then 'null::uuid' else format('coalesce(t.%I, %s)', p_type.id_column, v_new_id) end,
    v_key, v_from, iu_core.fn_ingest_table_sql(p_type.target), v_match, v_values, v_changed, v_ambiguous, p_type.id_column is null,
    v_reason, v_texts, v_inserted, iu_core.fn_ingest_row_hash_sql(p_type.target, 't.*'));
end $$;
