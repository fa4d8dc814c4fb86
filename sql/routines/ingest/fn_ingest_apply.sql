-- Runs one writing statement over all planned rows of a type and action. If a table refuses a row: STRICT says which and
-- gives up; LENIENT halves the range until the row is alone, marks it failed with its error and goes on with the others.
-- p_sql takes the first and the last line; p_stale_sql likewise, and gives the number of rows that somebody else
-- wrote meanwhile and the first line of them. Internal.
create or replace function iu_core.fn_ingest_apply(
  p_upload_id uuid, p_type record, p_gate_mode text, p_action text, p_sql text, p_stale_sql text default null
) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  -- Ranges that are still to be done, the first line last; at first all that there can be.
  v_ranges int4range[] := array[int4range(0, 2147483647)];
  v_range int4range;
  v_rows bigint;
  v_done bigint;
  v_middle integer;
  v_reason text;
  v_state text;
  v_stale bigint;
begin
  if p_gate_mode = 'LENIENT' then
    perform iu_core.fn_ingest_fail_orphans(p_upload_id, p_type);
  end if;
  while cardinality(v_ranges) > 0 loop
    v_range := v_ranges[cardinality(v_ranges)];
    v_ranges := v_ranges[:cardinality(v_ranges) - 1];
    select count(*) into v_rows from pg_temp.ingest_now where "#action" = p_action and "#row" between lower(v_range) and upper(v_range) - 1;
    continue when v_rows = 0;
    begin
      execute p_sql using lower(v_range), upper(v_range) - 1;
      get diagnostics v_done = row_count;
      continue when v_done = v_rows;
      -- A trigger that returns NULL leaves a row out without a word.
      raise exception using errcode = 'SD611', message = format('A trigger of %s left rows out', p_type.target_name);
    exception when others then
      get stacked diagnostics v_reason = message_text, v_state = returned_sqlstate;
      -- What says nothing about a row (a deadlock, a full disk, a right that is missing, a broken trigger) is not for rows.
      if left(v_state, 2) in ('08', '0A', '25', '40', '42', '53', '54', '55', '57', '58', 'XX') then
        raise;
      end if;
    end;
    if v_state = '23505' and p_stale_sql is not null then
      execute p_stale_sql into v_stale, v_middle using lower(v_range), upper(v_range) - 1;
      if v_stale > 0 then
        perform iu_core.fn_ingest_refuse_stale(p_upload_id, v_stale, p_type.target_name, v_middle);
      end if;
    end if;
    select percentile_disc(0.5) within group (order by "#row") into v_middle
      from pg_temp.ingest_now where "#action" = p_action and "#row" between lower(v_range) and upper(v_range) - 1;
    -- From now on many small ranges are asked for.
    create index if not exists ingest_now_row on pg_temp.ingest_now ("#row");
    if v_rows > 1 then
      v_ranges := v_ranges || int4range(v_middle + 1, upper(v_range)) || int4range(lower(v_range), v_middle + 1);
    elsif p_gate_mode = 'STRICT' then
      raise exception using
        errcode = 'SD611',
        message = format('The table %s refuses line %s: %s', p_type.target_name, v_middle, v_reason),
        detail = json_build_object('target', p_type.target_name, 'line', v_middle, 'reason', v_reason)::text;
    else
      perform iu_core.fn_ingest_fail_rows(p_upload_id, p_type, array[v_middle], v_reason);
    end if;
  end loop;
end $$;
