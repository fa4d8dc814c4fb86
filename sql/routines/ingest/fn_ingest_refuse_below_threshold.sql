-- Ends a LENIENT promotion where tables refused so many rows that less than the threshold of the plan is left, by lines or by the
-- dataset's amount. Whoever approved the plan saw these lines as taken. Internal.
create or replace function iu_core.fn_ingest_refuse_below_threshold(
  p_upload iu_core.ingest_upload, p_plan iu_core.ingest_plan, p_promotion iu_core.ingest_promotion
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_first record;
  v_refusal text;
begin
  select min(r.row_number) as line, (array_agg(r.reason order by r.row_number))[1] as reason, count(*) as rows into v_first
    from iu_core.ingest_plan_row r
   where r.upload_id = p_upload.upload_id and r.row_type = p_upload.reading -> 'layout' ->> 'leaf'
     and r.action = 'refused' and r.reason like 'failed: %';
  p_upload.valid_count := p_upload.valid_count - v_first.rows;
  p_upload.invalid_count := p_upload.invalid_count + v_first.rows;
  v_refusal := iu_core.fn_ingest_plan_refusal(p_upload, 'LENIENT', p_plan.threshold, p_promotion.totals, p_promotion.control);
  if v_refusal is not null then
    perform iu_core.fn_ingest_refuse_plan(p_upload.upload_id, format('its tables refuse %s %s (line %s: %s); then %s', v_first.rows, case v_first.rows when 1 then 'row' else 'rows' end,
      v_first.line, substr(v_first.reason, length('failed: ') + 1), v_refusal));
  end if;
end $$;
