-- What is wrong with a payload that must carry references only, or NULL: the ten forbidden keys at any depth, or too large.
create or replace function iu_core.fn_payload_problem(p_payload jsonb) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text;
begin
  if p_payload = '{}' then
    return null;
  end if;
  if jsonb_typeof(p_payload) is distinct from 'object' then
    return format('its payload is %s, not an object', coalesce(jsonb_typeof(p_payload), 'NULL'));
  end if;
  if length(p_payload::text) > 8192 then
    return format('its payload has %s characters, more than 8192', length(p_payload::text));
  end if;
  select k #>> '{}' into v_key
    from jsonb_path_query(p_payload, 'strict $.** ? (@.type() == "object").keyvalue().key') as k
   where lower(k #>> '{}') in ('body', 'content', 'raw', 'vector', 'embedding', 'secret', 'token', 'password',
                               'ssn', 'personal_data')
   limit 1;
  return case when v_key is not null then format('its payload has the key %L', v_key) end;
end $$;
