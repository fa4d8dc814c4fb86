-- Every change of a point carries the transaction that made it: processes that mirror the points read by it what became visible
-- since they last looked (docs/decisions/0002). A writer that forgot to say so would be missed by all of them.
create or replace function iu_core.fn_search_point_stamp() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  new.tx := pg_current_xact_id();
  return new;
end $$;

create or replace trigger search_point_stamp before insert or update on iu_core.search_point
  for each row execute function iu_core.fn_search_point_stamp();
