-- An event carries references. The ten forbidden keys are refused at any depth, and so is anything large.
create or replace function iu_core.fn_event_payload_check(p_payload jsonb) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text;
  v_reason text;
begin
  if p_payload = '{}' then
    return;
  end if;
  if jsonb_typeof(p_payload) is distinct from 'object' then
    v_reason := format('its payload is %s, not an object', coalesce(jsonb_typeof(p_payload), 'NULL'));
  elsif length(p_payload::text) > 8192 then
    v_reason := format('its payload has %s characters, more than 8192', length(p_payload::text));
  else
    select k #>> '{}' into v_key
      from jsonb_path_query(p_payload, 'strict $.** ? (@.type() == "object").keyvalue().key') as k
     where lower(k #>> '{}') in ('body', 'content', 'raw', 'vector', 'embedding', 'secret', 'token', 'password',
                                 'ssn', 'personal_data')
     limit 1;
    if v_key is not null then
      v_reason := format('its payload has the key %L', v_key);
    end if;
  end if;
  if v_reason is not null then
    raise exception using
      errcode = 'SD302',
      message = 'An event carries references only, but ' || v_reason,
      detail = json_build_object('reason', v_reason)::text;
  end if;
end $$;
