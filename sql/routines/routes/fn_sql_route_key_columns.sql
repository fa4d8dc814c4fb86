-- The names in {"key": "(a,\"B c\")"}, which are written as in SQL; NULL where the policy has no key. Internal.
create or replace function iu_core.fn_sql_route_key_columns(p_policy jsonb) returns text[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text := p_policy ->> 'key';
  v_columns text[];
begin
  if v_key is null then
    return null;
  end if;
  -- parse_ident knows quotes, but separates by points: each name is taken apart by itself.
  if v_key ~ '^\s*\(\s*("([^"]|"")+"|[[:alpha:]_][[:alnum:]_$]*)(\s*,\s*("([^"]|"")+"|[[:alpha:]_][[:alnum:]_$]*))*\s*\)\s*$' then
    select array_agg((parse_ident(name[1]))[1] order by position) into v_columns
      from regexp_matches(v_key, '"(?:[^"]|"")+"|[[:alpha:]_][[:alnum:]_$]*', 'g') with ordinality as n (name, position);
  end if;
  if v_columns is null then
    raise exception using
      errcode = 'SD311',
      message = format('The idempotency key %L is not a list of columns such as (id,status)', v_key),
      detail = json_build_object('reason', 'its idempotency key is not a list of columns such as (id,status)')::text;
  end if;
  return v_columns;
end $$;
