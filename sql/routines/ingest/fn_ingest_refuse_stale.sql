-- Raises that production has changed since the plan was made, with the first of the rows and how to see all of them. Internal.
create or replace function iu_core.fn_ingest_refuse_stale(p_upload_id uuid, p_rows bigint, p_target text, p_line integer default null)
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_reason text := format('%s %s of %s %s changed since the plan was made', p_rows, case p_rows when 1 then 'row' else 'rows' end, p_target,
                          case p_rows when 1 then 'has' else 'have' end)
    || case when p_line is null then '' else format('; %s planned from line %s of the file', case p_rows when 1 then 'it was' else 'the first was' end, p_line) end;
begin
  raise exception using
    errcode = 'SD606',
    message = v_reason,
    hint = format('`stagedoor upload plan %s --stale` shows what was planned and what is there now; `stagedoor upload plan %1$s --again` plans it again.',
                  p_upload_id),
    detail = json_build_object('upload', p_upload_id, 'reason', v_reason, 'line', p_line)::text;
end $$;
