-- From when to when the promoted rows are: the leaf's date column, if it has one. Of the plan's rows, or (p_now) of those
-- that were just written, as `ingest_now` has them: their few days are found in a tenth of the time. Internal.
create or replace function iu_core.fn_ingest_date_range(
  p_upload iu_core.ingest_upload, p_definition jsonb, p_now boolean default false
) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_leaf text := p_upload.reading -> 'layout' ->> 'leaf';
  v_column text;
  v_written boolean;
  v_slot text;
  v_range jsonb;
begin
  select c.key, p_upload.reading -> 'layout' -> 'fields' ? c.value,
         (select w.slot from iu_core.fn_ingest_row_types(p_definition, p_upload.reading -> 'layout') r,
                 jsonb_to_recordset(r.written) as w ("column" text, slot text) where r.row_type = v_leaf and w."column" = c.key)
    into v_column, v_written, v_slot
    from jsonb_array_elements(p_definition -> 'rows') as spec, jsonb_each_text(spec -> 'columns') as c
   where spec ->> 'name' = v_leaf and spec -> 'key' ? c.key and p_definition -> 'fields' -> c.value ->> 'type' = 'date';
  if v_column is null then
    return '{}';
  end if;
  -- Dates as ISO writes them: their bytes are in order, too.
  if p_now and v_written then
    execute format($sql$
      select jsonb_build_object('date_from', min(day collate "C"), 'date_to', max(day collate "C"))
        from (select distinct w.%1$I as d from pg_temp.ingest_now w where "#action" in ('insert', 'update')) n,
             lateral (select to_jsonb(n.d) #>> '{}') as t (day)
    $sql$, v_slot) into v_range;
    return v_range;
  end if;
  select jsonb_build_object('date_from', min(day collate "C"), 'date_to', max(day collate "C")) into v_range
    from (select coalesce(r.after ->> v_column, r.inserted[c.position]) as day
            from iu_core.ingest_plan_row r
            join iu_core.ingest_plan p using (upload_id)
            left join lateral (select w.ordinality as position
                                 from rows from (jsonb_to_recordset(p.inserted_columns -> v_leaf) as ("column" text)) with ordinality as w
                                where w."column" = v_column) c on true
           where r.upload_id = p_upload.upload_id and r.row_type = v_leaf and r.action in ('insert', 'update') offset 0) d;
  return v_range;
end $$;
