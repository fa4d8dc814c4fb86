-- Which unit holds which piece, after the cut. All units that ever held a piece know what it is now, so that the checker sees which
-- of them have drifted. p_changed: of the plan what is not unchanged. Internal.
create or replace function iu_core.fn_cut_map(p_document_id uuid, p_plan jsonb, p_changed jsonb, p_run_id uuid) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
-- The statistics are of before this transaction: what it made itself is joined by hashing, units are looked up by their id.
set enable_nestloop = off
set jit = off
as $$
begin
  insert into iu_core.kb_unit_map (document_id, unit_id, piece_address, parent_address, position, title, content_hash, cut_run_id)
  select p_document_id, p.unit_id, p.address, coalesce(p.parent, ''), p."position", p.title, p.hash, p_run_id
    from iu_core.fn_cut_planned(p_changed) p
  on conflict (document_id, unit_id) do update set cut_run_id = excluded.cut_run_id;
  update iu_core.kb_unit_map m
     set parent_address = coalesce(p.parent, ''), position = p."position", title = p.title, content_hash = p.hash, dropped_at = null
    from iu_core.fn_cut_planned(p_plan) p
   where m.document_id = p_document_id and m.piece_address = p.address
     and (m.parent_address, m.position, m.title, m.content_hash, m.dropped_at)
         is distinct from (coalesce(p.parent, ''), p."position", p.title, p.hash, null);
end $$;
