-- A kind that a unit may have; whoever is mistaken is told which there are. Internal.
create or replace function iu_core.fn_unit_kind_check(p_unit_kind text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from iu_core.unit_kind k where k.unit_kind = p_unit_kind) then
    raise exception using
      errcode = 'SD001',
      message = format('%L is not a kind of unit', left(p_unit_kind, 80)),
      hint = 'There are ' || (select string_agg(k.unit_kind, ', ' order by k.unit_kind) from iu_core.unit_kind k) || '.';
  end if;
end $$;
