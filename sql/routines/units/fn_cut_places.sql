-- Puts the units of the pieces where the manifest has them (fn_cut_move, fn_cut_order): what people put elsewhere, or in another order,
-- stays until the document itself moves it. What people put between the pieces stays behind the piece that it follows. One
-- piece.piece_reordered for each container in which units that were there before changed places. Answers {moves, orders_replaced:
-- [addresses of containers whose order people had made]}. Internal: under fn_unit_tree_lock, after births.
create or replace function iu_core.fn_cut_places(p_workspace_id uuid, p_document_id uuid, p_plan jsonb) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_moves jsonb := iu_core.fn_cut_move(p_workspace_id, p_document_id, p_plan);
  v_order jsonb;
  v_events jsonb;
  v_replaced jsonb;
begin
  v_order := iu_core.fn_cut_order(p_document_id, p_plan, array(select (m ->> 'unit_id')::uuid from jsonb_array_elements(v_moves) m));
  perform iu_core.fn_unit_number(array(select value::uuid from jsonb_array_elements_text(o -> 'units'))) from jsonb_array_elements(v_order) o;
  select jsonb_agg(jsonb_build_object(
           'event_domain', 'piece', 'event_type', 'piece_reordered', 'event_subject_ref', u.unit_id, 'canonical_address', u.canonical_address,
           'workspace_id', p_workspace_id,
           'safe_payload', jsonb_build_object('unit_id', u.unit_id, 'pieces', jsonb_array_length(o -> 'units')))
         order by u.canonical_address),
         coalesce(jsonb_agg(u.canonical_address order by u.canonical_address) filter (where (o ->> 'by_hand')::boolean), '[]')
    into v_events, v_replaced
    from jsonb_array_elements(v_order) o
   cross join lateral (select x.* from iu_core.information_unit x where x.unit_id = (o ->> 'container_id')::uuid offset 0) u
   where (o ->> 'is_reordered')::boolean;
  if v_events is not null then
    perform iu_core.fn_event_emit_batch(v_events);
  end if;
  return jsonb_build_object('moves', v_moves, 'orders_replaced', v_replaced);
end $$;
