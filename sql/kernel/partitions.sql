-- Monthly partitions of the outbox, the job history and the execution log: creation, and how long they last.

-- Creates the missing partitions of a table, one for each month, from this month until now + p_ahead. Returns how many were
-- missing. p_floor maps the first moment of a month to its lowest key; without it the key is the time itself. A partition is
-- attached rather than created in place, so that writers of other partitions never wait. Internal: the maintenance function of
-- a table calls it first and holds its lock until commit.
create or replace function iu_core.fn_partitions_create(
  p_table regclass, p_ahead interval, p_keep interval, p_floor regproc default null
) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_month timestamptz := date_trunc('month', now(), 'UTC');
  v_next timestamptz;
  v_schema name;
  v_table name;
  v_name text;
  v_made integer := 0;
begin
  if p_ahead is null or p_ahead < '0' or p_keep is null or p_keep < '0' then
    raise exception using errcode = 'SD001', message = 'p_ahead and p_keep are intervals of zero or more';
  end if;
  select n.nspname, c.relname into v_schema, v_table
    from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = p_table;
  perform pg_advisory_xact_lock(hashtextextended('stagedoor.partitions ' || p_table, 0));
  loop
    v_next := date_trunc('month', v_month + interval '40 days', 'UTC');
    v_name := format('%I.%I', v_schema, v_table || '_' || to_char(v_month at time zone 'UTC', '"y"YYYY"m"MM'));
    if to_regclass(v_name) is null then
      execute format('create table %s (like %s including defaults including constraints)', v_name, p_table);
      execute format('alter table %s enable row level security', v_name);
      execute format('alter table %1$s attach partition %2$s for values from (%3$s(%4$L)) to (%3$s(%5$L))', p_table, v_name,
                     coalesce(p_floor::text, 'timestamptz'), v_month, v_next);
      v_made := v_made + 1;
    end if;
    exit when v_next >= now() + p_ahead;
    v_month := v_next;
  end loop;
  return v_made;
end $$;

-- PostgreSQL copies row triggers to partitions, but not statement triggers. Each partition therefore gets its own trigger
-- against TRUNCATE. Internal.
create or replace function iu_core.fn_partitions_forbid_truncate(p_table regclass, p_trigger name) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text;
begin
  for v_name in
    select i.inhrelid::regclass::text from pg_inherits i
     where i.inhparent = p_table and not exists (select from pg_trigger t where t.tgrelid = i.inhrelid and t.tgname = p_trigger)
  loop
    begin
      execute format('create trigger %I before truncate on %s
                        for each statement execute function iu_core.fn_refuse_change()', p_trigger, v_name);
    exception when lock_not_available then
      null; -- A long transaction writes there. The next run retries.
    end;
  end loop;
end $$;

-- For how many days from now the partitions cover every moment; NULL: none covers now. Ranges that touch are one range, so a gap ends
-- the count. The end of the latest partition alone would hide a gap before it.
create or replace function iu_core.fn_partitions_days_left(p_covered tstzmultirange) returns integer
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select floor(extract(epoch from upper(covered) - now()) / 86400)::integer from unnest(p_covered) covered where covered @> now()
$$;

grant execute on function iu_core.fn_partitions_days_left(tstzmultirange) to dot_executor, service_role;
