-- Runs one writing statement over all planned rows of a type and action. If a table refuses a row: STRICT says which and
-- gives up; LENIENT halves the range until the row is alone, marks it failed with its error and goes on with the others.
-- p_sql takes the first and the last line. Internal.
create or replace function iu_core.fn_ingest_apply(
  p_upload_id uuid, p_type record, p_gate_mode text, p_action text, p_sql text
) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  -- Ranges that are still to be done, the first line last.
  v_ranges int4range[];
  v_range int4range;
  v_rows bigint;
  v_done bigint;
  v_middle integer;
  v_reason text;
begin
  if p_gate_mode = 'LENIENT' then
    perform iu_core.fn_ingest_fail_orphans(p_upload_id, p_type);
  end if;
  select array[int4range(min("#row"), max("#row"), '[]')] into v_ranges from pg_temp.ingest_now
   where "#action" = p_action having count(*) > 0;
  while cardinality(v_ranges) > 0 loop
    v_range := v_ranges[cardinality(v_ranges)];
    v_ranges := v_ranges[:cardinality(v_ranges) - 1];
    select count(*), percentile_disc(0.5) within group (order by "#row") into v_rows, v_middle
      from pg_temp.ingest_now where "#action" = p_action and "#row" <@ v_range;
    continue when v_rows = 0;
    begin
      execute p_sql using lower(v_range), upper(v_range) - 1;
      get diagnostics v_done = row_count;
      continue when v_done = v_rows;
      -- A trigger that returns NULL leaves a row out without a word.
      raise exception using errcode = 'SD611', message = format('A trigger of %s left rows out', p_type.target_name);
    exception
      when integrity_constraint_violation or data_exception or raise_exception or with_check_option_violation or sqlstate 'SD611' then
        get stacked diagnostics v_reason = message_text;
    end;
    if v_rows > 1 then
      v_ranges := v_ranges || int4range(v_middle + 1, upper(v_range)) || int4range(lower(v_range), v_middle + 1);
    elsif p_gate_mode = 'STRICT' then
      raise exception using
        errcode = 'SD611',
        message = format('The table %s refuses line %s: %s', p_type.target_name, v_middle, v_reason),
        detail = json_build_object('target', p_type.target_name, 'line', v_middle, 'reason', v_reason)::text;
    else
      perform iu_core.fn_ingest_fail_row(p_upload_id, p_type, v_middle, v_reason);
    end if;
  end loop;
end $$;
