-- Time-ordered ids and the append-only guard: what every later table stands on.
-- The schemas iu_core and noetl, the roles and the history tables exist before this runs (src/db/migrate/bootstrap.ts).

revoke all on schema iu_core from public;
revoke all on schema noetl from public;
grant usage on schema iu_core to
  dot_executor, directus, service_role, authenticated, vector_worker, stagedoor_agent, stagedoor_reviewer;
grant usage on schema noetl to
  dot_executor, service_role, authenticated, stagedoor_reviewer;

-- A version 7 uuid. PostgreSQL 18 has one in C; older servers get the same layout, with the microseconds in
-- the 12 bits behind the version, so that ids of one session rise. Frozen: it is behind column defaults.
do $$
begin
  if current_setting('server_version_num')::int >= 180000 then
    execute $sql$
      create function iu_core.fn_time_uuid() returns uuid
      language sql volatile parallel safe
      as 'select pg_catalog.uuidv7()'
    $sql$;
  else
    execute $sql$
      create function iu_core.fn_time_uuid() returns uuid
      language plpgsql volatile parallel safe
      set search_path = pg_catalog, pg_temp
      as '
      declare
        v_us bigint := (extract(epoch from clock_timestamp()) * 1000000)::bigint;
      begin
        return (lpad(to_hex(v_us / 1000), 12, ''0'')
             || ''7'' || lpad(to_hex((v_us % 1000) * 4096 / 1000), 3, ''0'')
             || substr(gen_random_uuid()::text, 20))::uuid;
      end'
    $sql$;
  end if;
end $$;

-- The smallest time-ordered uuid of a moment: a partition's bound.
create function iu_core.fn_time_uuid_floor(p_at timestamptz) returns uuid
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select rpad(lpad(to_hex(floor(extract(epoch from p_at) * 1000)::bigint), 12, '0'), 32, '0')::uuid
$$;

revoke all on function iu_core.fn_time_uuid() from public;
revoke all on function iu_core.fn_time_uuid_floor(timestamptz) from public;
grant execute on function iu_core.fn_time_uuid(), iu_core.fn_time_uuid_floor(timestamptz) to
  dot_executor, service_role, authenticated, vector_worker, stagedoor_agent, stagedoor_reviewer;
