-- Refuses a job that the queue could not hold or that would carry more than references. Internal.
create or replace function iu_core.fn_job_check(
  p_kind text, p_idempotency_key text, p_executor text, p_safe_payload jsonb
) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_reason text;
begin
  if p_kind is null or p_kind !~ '^[a-z][a-z0-9_.:-]{0,62}$' then
    v_reason := format('%L is not a kind: lowercase letters, digits and _.:- are, at most 63', p_kind);
  elsif p_idempotency_key is not null and (p_idempotency_key = '' or length(p_idempotency_key) > 500) then
    v_reason := 'its idempotency key is empty or longer than 500 characters';
  elsif p_executor is null or p_executor <> all (iu_core.fn_executors()) then
    raise exception using
      errcode = 'SD704',
      message = format('%L is not an executor', p_executor),
      detail = json_build_object('executor', p_executor)::text;
  else
    v_reason := iu_core.fn_payload_problem(coalesce(p_safe_payload, '{}'));
  end if;
  if v_reason is not null then
    raise exception using
      errcode = 'SD705',
      message = format('A job of the kind %s cannot be enqueued: %s', coalesce(p_kind, 'NULL'), v_reason),
      detail = json_build_object('kind', p_kind, 'reason', v_reason)::text;
  end if;
end $$;
