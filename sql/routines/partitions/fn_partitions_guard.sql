-- Row triggers of a table come to its partitions by themselves, those of statements do not: each gets its own against TRUNCATE.
-- Internal.
create or replace function iu_core.fn_partitions_guard(p_table regclass, p_trigger name) returns void
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
      null; -- Somebody has long been writing there. The next round tries again.
    end;
  end loop;
end $$;
