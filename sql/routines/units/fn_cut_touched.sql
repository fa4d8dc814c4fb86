-- The units that a cut touched, each with what it did, in the order of the document: its own first (p_root_id, if it was), retired ones
-- last. Internal.
create or replace function iu_core.fn_cut_touched(p_changed jsonb, p_gone jsonb, p_moves jsonb, p_root_id uuid) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
set enable_nestloop = off
set jit = off
as $$
  with touched as (
    select p_root_id as unit_id, 'versioned' as what, -1 as number, null::integer as replaced where p_root_id is not null
    union all
    select p.unit_id, p.what, p."position", case when p.what = 'versioned' and p.is_edited and not p.keeps_body then p.version_no end
      from iu_core.fn_cut_planned(p_changed) p
    union all
    select g.id::uuid, 'retired', 1000000, null from jsonb_array_elements_text(p_gone -> 'units') as g (id)
  ), moved as (
    select m.* from jsonb_to_recordset(p_moves) as m (unit_id uuid, "from" uuid, "to" uuid, by_hand boolean)
  )
  select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
           'unit_id', u.unit_id, 'canonical_address', u.canonical_address, 'what', coalesce(t.what, 'moved'), 'replaced_version', t.replaced,
           'moved_from', f.canonical_address, 'moved_to', o.canonical_address, 'replaced_place', nullif(m.by_hand, false)))
         order by coalesce(t.number, 0), u.canonical_address), '[]')
    from touched t
    full join moved m on m.unit_id = t.unit_id
   cross join lateral (
     select x.unit_id, x.canonical_address from iu_core.information_unit x where x.unit_id = coalesce(t.unit_id, m.unit_id) offset 0) u
    left join lateral (select x.canonical_address from iu_core.information_unit x where x.unit_id = m."from" offset 0) f on true
    left join lateral (select x.canonical_address from iu_core.information_unit x where x.unit_id = m."to" offset 0) o on true
$$;
