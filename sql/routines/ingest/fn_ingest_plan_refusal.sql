-- Why a plan cannot be promoted as it is, in words; NULL: it can. STRICT takes all lines or none, LENIENT takes the valid
-- ones if they are enough, by their number and, where the dataset names an amount, by that. Lines that were left out by rule (totals) count on neither side. Internal.
create or replace function iu_core.fn_ingest_plan_refusal(
  p_upload iu_core.ingest_upload, p_gate_mode text, p_threshold numeric, p_totals jsonb, p_control jsonb
) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_refused bigint := 0;
  v_valid bigint;
  v_lines bigint;
  v_lost record;
begin
  -- Lines, not rows: one line may be refused as a campaign and as the figures of that campaign.
  if p_totals @? '$.*.refused' then
    select count(distinct row_number) into v_refused from iu_core.ingest_plan_row where upload_id = p_upload.upload_id and action = 'refused';
  end if;
  -- Lines that the plan refuses are among the invalid ones by now.
  v_valid := p_upload.valid_count;
  v_lines := p_upload.valid_count + p_upload.invalid_count;
  if p_upload.run_mode = 'FULL_DRY_RUN' then
    return 'this is a dry run';
  elsif v_valid = 0 then
    return 'no line is valid';
  elsif p_gate_mode = 'STRICT' and (p_upload.invalid_count > 0 or v_refused > 0) then
    return format('%s of %s lines %s wrong, and all or none are taken', greatest(p_upload.invalid_count, v_refused),
                  v_lines, case greatest(p_upload.invalid_count, v_refused) when 1 then 'is' else 'are' end);
  elsif p_gate_mode = 'LENIENT' and v_valid < p_threshold * v_lines then
    return format('only %s of %s lines are valid, and %s %% are asked for', v_valid, v_lines,
                  trim_scale(p_threshold * 100));
  end if;
  -- A few wrong lines may hold most of the money.
  if p_gate_mode = 'LENIENT' then
    select c.title, c.currency, c.lost_share into v_lost
      from jsonb_to_recordset(p_control) as c (title text, currency text, lost_share numeric)
     where c.lost_share > 1 - p_threshold order by c.lost_share desc limit 1;
    if found then
      return format('wrong or left-out lines hold %s %% of %s, and %s %% are asked for', trim_scale(round(v_lost.lost_share * 100, 2)),
                    concat_ws(' in ', v_lost.title, v_lost.currency), trim_scale(p_threshold * 100));
    end if;
  end if;
  return null;
end $$;
