-- Exchanges the code of a sign-in link, by its sha-256, for whom it signs in: once, and not after its time. No row: there is no such code.
create or replace function iu_core.fn_sign_in_code_take(p_code_hash text) returns table (subject text, database_role name)
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
  with taken as (
    delete from iu_core.sign_in_code c where c.code_hash = p_code_hash returning c.*
  )
  select t.subject, t.database_role from taken t where t.expires_at > clock_timestamp()
$$;

grant execute on function iu_core.fn_sign_in_code_take(text) to service_role;
