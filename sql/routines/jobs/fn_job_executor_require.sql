-- The executor that the caller may lease for: a token of stagedoor_executor names exactly one, our own workers any. Internal.
create or replace function iu_core.fn_job_executor_require(p_executor text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_own text;
begin
  if iu_core.fn_caller_is_service() then
    if p_executor = any (iu_core.fn_executors()) then
      return;
    end if;
  elsif session_user = 'stagedoor_api' and iu_core.fn_caller_role() = 'stagedoor_executor' then
    v_own := nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'executor';
    if p_executor is not null and p_executor = v_own then
      return;
    end if;
  end if;
  raise exception using
    errcode = 'SD704',
    message = case when v_own is null then format('%L is not an executor that this login runs', p_executor)
                   else format('This token is of the executor %s, not of %s', v_own, coalesce(p_executor, 'NULL')) end,
    detail = json_build_object('executor', p_executor)::text;
end $$;
