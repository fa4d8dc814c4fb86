-- One-time codes of sign-in links.

-- Stores the code of a sign-in link, by its sha-256, for a member, and deletes expired codes. Administrators only.
create or replace function iu_core.fn_sign_in_code_add(p_code_hash text, p_subject text, p_database_role name, p_lives interval default '12 hours')
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_code_hash is null or p_code_hash !~ '^[0-9a-f]{64}$' or p_subject is null
     or p_database_role not in ('authenticated', 'stagedoor_reviewer', 'stagedoor_agent')
     or p_lives is null or p_lives not between interval '1 second' and interval '7 days' then
    raise exception using errcode = 'SD001', message = 'A sign-in code needs a sha-256, a subject, the role of a person and a lifetime of at most 7 days';
  end if;
  delete from iu_core.sign_in_code where expires_at < clock_timestamp();
  insert into iu_core.sign_in_code (code_hash, subject, database_role, expires_at)
  values (p_code_hash, p_subject, p_database_role, clock_timestamp() + p_lives);
end $$;

-- Exchanges the code of a sign-in link, by its sha-256, for the member it signs in. A code works once and only until it
-- expires. Returns no row if there is no such code.
create or replace function iu_core.fn_sign_in_code_redeem(p_code_hash text) returns table (subject text, database_role name)
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
  with taken as (
    delete from iu_core.sign_in_code c where c.code_hash = p_code_hash returning c.*
  )
  select t.subject, t.database_role from taken t where t.expires_at > clock_timestamp()
$$;

grant execute on function iu_core.fn_sign_in_code_redeem(text) to service_role;
