-- Raises for a payload that a route may not send. It returns jsonb only to stand where the payload would. Internal.
create or replace function iu_core.fn_sql_route_refuse(p_route_code text, p_payload jsonb, p_forbidden text[]) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_reason text := iu_core.fn_payload_problem(p_payload);
begin
  if v_reason is null then
    select format('its payload has the key %L', k #>> '{}') into v_reason
      from jsonb_path_query(p_payload, 'strict $.** ? (@.type() == "object").keyvalue().key') k
     where lower(k #>> '{}') = any (p_forbidden)
     limit 1;
  end if;
  if v_reason is not null then
    raise exception using
      errcode = 'SD310',
      message = format('The route %s cannot send this change: an event carries references only, but %s', p_route_code, v_reason),
      detail = json_build_object('route', p_route_code, 'reason', v_reason)::text;
  end if;
  return p_payload;
end $$;
