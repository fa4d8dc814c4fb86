-- Refuses a kind that nobody ever enqueued, registered or ran. Internal.
create or replace function iu_core.fn_job_kind_require(p_kind text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from iu_core.job_kind where job_kind = p_kind) then
    raise exception using
      errcode = 'SD701',
      message = format('There is no job kind %s', coalesce(p_kind, 'NULL')),
      detail = json_build_object('what', 'job kind ' || coalesce(p_kind, 'NULL'))::text;
  end if;
end $$;
