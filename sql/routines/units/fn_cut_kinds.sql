-- The units that the manifest calls another kind than they are, as {"kinds_kept": [addresses]}; NULL if there are none. Internal.
create or replace function iu_core.fn_cut_kinds(p_plan jsonb) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object('kinds_kept', jsonb_agg(u.canonical_address order by p."position"))
    from iu_core.fn_cut_planned(p_plan) p
   cross join lateral (
     select x.canonical_address, x.unit_kind from iu_core.information_unit x where x.unit_id = p.unit_id offset 0) u
   where p.is_alive and p.what in ('unchanged', 'versioned') and u.unit_kind <> p.kind
  having count(*) > 0
$$;
