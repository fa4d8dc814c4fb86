-- Lines with the same key become one, at the first of them: what is additive is summed, the rest is the first line's.
-- The others are planned as skipped. Amounts of two currencies have no sum: such lines are refused. Internal.
create or replace function iu_core.fn_ingest_plan_sums(p_upload iu_core.ingest_upload, p_definition jsonb, p_leaf jsonb)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_layout jsonb := p_upload.reading -> 'layout';
  v_key text;
  v_sums text;
  v_sets text;
  v_currency text;
begin
  select string_agg('l.' || iu_core.fn_ingest_line_column(v_layout, case when source = '$identity' then '$' || (p_leaf ->> 'name') else source end), ', ')
    into v_key
    from jsonb_array_elements_text(p_leaf -> 'key') as k, lateral (select p_leaf -> 'columns' ->> k) as s (source)
   where v_layout -> 'fields' ? source or v_layout -> 'row_types' ? substr(source, 2) or source = '$identity';
  select string_agg(format('sum(l.%1$I) as %1$I', d.slot), ', '), string_agg(format('%1$I = g.%1$I', d.slot), ', ')
    into v_sums, v_sets
    from jsonb_array_elements_text(v_layout -> 'fields') as f,
         lateral (select p_definition -> 'fields' -> f, iu_core.fn_ingest_line_column(v_layout, f)) as d (field, slot)
   where exists (select from jsonb_each_text(p_leaf -> 'columns') c where c.value = f and not p_leaf -> 'key' ? c.key)
     and coalesce((d.field ->> 'additive')::boolean, d.field ->> 'type' in ('integer', 'money'))
     and d.field ->> 'type' in ('integer', 'money', 'decimal');
  if v_key is null then
    return;
  end if;
  select iu_core.fn_ingest_line_column(v_layout, f) into v_currency from jsonb_array_elements_text(v_layout -> 'fields') as f
   where p_definition -> 'fields' -> f ->> 'type' = 'currency'
     and exists (select from jsonb_each_text(p_leaf -> 'columns') c where c.value = f) limit 1;
  drop table if exists pg_temp.ingest_repeated;
  execute format($sql$
    create temporary table ingest_repeated on commit drop as
    select array_agg(l.row_number order by l.row_number) as lines, %s as several_currencies %s
      from pg_temp.ingest_line l group by %s having count(*) > 1
  $sql$, case when v_currency is null then 'false' else format('coalesce(min(l.%1$I) <> max(l.%1$I), false)', v_currency) end, ', ' || v_sums, v_key);
  with mixed as (
    delete from pg_temp.ingest_line l
     using (select unnest(r.lines) as row_number, r.lines from pg_temp.ingest_repeated r where r.several_currencies) g
     where l.row_number = g.row_number
    returning l.staging_row_id, l.row_number, format('lines %s have the same key and different currencies, so they have no sum',
                                                     array_to_string(g.lines[1:5], ', ')) as reason
  )
  insert into iu_core.ingest_plan_row (upload_id, type_order, row_type, row_number, staging_row_id, action, reason, row_hash)
  select p_upload.upload_id, iu_core.fn_ingest_type_order(p_definition, v_layout ->> 'leaf'), v_layout ->> 'leaf',
         row_number, staging_row_id, 'refused', reason, sha256(convert_to(concat_ws('|', row_number, 'refused', reason), 'UTF8'))
    from mixed;
  delete from pg_temp.ingest_repeated where several_currencies;
  if v_sets is not null then
    execute format('update pg_temp.ingest_line l set %s from pg_temp.ingest_repeated g where l.row_number = g.lines[1]', v_sets);
  end if;
  with others as (
    -- Line by line, so that it can be hashed: with any (lines) 10,000 keys took 25 s.
    delete from pg_temp.ingest_line l using (select unnest(r.lines[2:]) as row_number, r.lines[1] as first_line from pg_temp.ingest_repeated r) g
     where l.row_number = g.row_number returning l.staging_row_id, l.row_number, g.first_line
  )
  insert into iu_core.ingest_plan_row (upload_id, type_order, row_type, row_number, staging_row_id, action, reason, row_hash)
  select p_upload.upload_id, iu_core.fn_ingest_type_order(p_definition, v_layout ->> 'leaf'), v_layout ->> 'leaf',
         row_number, staging_row_id, 'skipped', format('added to line %s, which has the same key', first_line),
         sha256(convert_to(format('%s skipped %s', row_number, first_line), 'UTF8'))
    from others;
end $$;
