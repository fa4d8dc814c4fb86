-- The policy of a kind, if it takes the type.
create or replace function iu_core.fn_iu_staging_policy(p_staging_kind text, p_payload_type text)
returns iu_core.iu_staging_kind_policy
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_policy iu_core.iu_staging_kind_policy;
begin
  select p.* into v_policy
    from iu_core.iu_staging_kind_policy p
    join iu_core.iu_staging_kind_type t on t.staging_kind = p.staging_kind
   where p.staging_kind = p_staging_kind and t.payload_type = p_payload_type;
  if found then
    return v_policy;
  end if;
  if not exists (select from iu_core.iu_staging_kind_policy where staging_kind = p_staging_kind) then
    raise exception using
      errcode = 'SD507',
      message = format('There is no staging kind %L', p_staging_kind),
      hint = 'The kinds: ' || (select string_agg(staging_kind, ', ' order by staging_kind) from iu_core.iu_staging_kind_policy);
  end if;
  raise exception using
    errcode = 'SD507',
    message = format('The staging kind %s does not take the payload type %L', p_staging_kind, p_payload_type),
    hint = (select format('It takes: %s', string_agg(t.payload_type, ', ' order by t.payload_type))
              from iu_core.iu_staging_kind_type t where t.staging_kind = p_staging_kind);
end $$;
