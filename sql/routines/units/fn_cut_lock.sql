-- Locks the units of what a plan changes, and says whether they are still as it was made for. If not, the plan is made anew: what was
-- locked stays so, and the tree is, so that it comes to an end. Internal.
create or replace function iu_core.fn_cut_lock(p_plan jsonb) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_changed boolean;
begin
  with locked as (
    select u.unit_id, u.version_no, u.lifecycle_status, u.deleted_at
      from iu_core.information_unit u
     where u.unit_id = any (array(select p.head_id from iu_core.fn_cut_planned(p_plan) p where p.what in ('versioned', 'successor')))
     order by u.unit_id
       for no key update
  )
  select exists (
    select from iu_core.fn_cut_planned(p_plan) p join locked l on l.unit_id = p.head_id
     where (l.version_no, l.lifecycle_status, l.deleted_at is null and l.lifecycle_status in ('draft', 'enacted'))
       is distinct from (p.version_no, p.lifecycle_status, p.is_alive)) into v_changed;
  return not v_changed;
end $$;
