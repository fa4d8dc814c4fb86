-- An id that rises with time, made by the database itself (node 0); engines make theirs in their own process.
-- The counter cycles: two ids of one millisecond would only be equal if 4,096 were made in between, and each costs its
-- caller an insert. The clock's mark moves every 10 ms at most: it is for noticing that the clock went back.
create or replace function noetl.fn_snowflake() returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_epoch constant bigint := 1704067200000;
  v_now bigint;
  v_latest bigint;
begin
  loop
    v_now := floor(extract(epoch from clock_timestamp()) * 1000)::bigint - c_epoch;
    select last_value into v_latest from noetl.snowflake_clock;
    exit when v_now >= v_latest;
    if v_latest - v_now > 50 then
      raise exception using
        errcode = 'SD809',
        message = format('The clock went back by %s ms', v_latest - v_now),
        detail = json_build_object('milliseconds', v_latest - v_now)::text;
    end if;
    perform pg_sleep((v_latest - v_now) / 1000.0);
  end loop;
  if v_now >= v_latest + 10 then
    perform setval('noetl.snowflake_clock', v_now);
  end if;
  return v_now << 22 | nextval('noetl.snowflake_counter');
end $$;

grant execute on function noetl.fn_snowflake() to dot_executor, service_role;
