-- Puts the units of the pieces where the manifest has them. A unit that is in the right section already stays, though the section
-- have a successor; order is that of the manifest, and what people put between the pieces stays behind the piece that it follows.
-- One iu.unit_moved for each that got another container, one piece.piece_reordered for each container in which units that were
-- there before changed places. Returns the units that moved. Internal: under fn_unit_tree_lock, after births.
create or replace function iu_core.fn_cut_places(p_workspace_id uuid, p_document_id uuid, p_plan jsonb) returns uuid[]
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_moves jsonb;
  v_order jsonb;
  v_events jsonb;
  v_moved uuid[];
begin
  v_moves := iu_core.fn_cut_moves(p_document_id, p_plan);
  if v_moves is not null then
    v_moved := array(select (m ->> 'unit_id')::uuid from jsonb_array_elements(v_moves) m);
    perform from iu_core.information_unit where unit_id = any (v_moved) order by unit_id for no key update;
    update iu_core.information_unit u
       set container_id = (m ->> 'to')::uuid, position = (m ->> 'position')::integer
      from jsonb_array_elements(v_moves) m
     where u.unit_id = (m ->> 'unit_id')::uuid;
    perform iu_core.fn_cut_circles(v_moved);
    select jsonb_agg(jsonb_build_object(
             'event_domain', 'iu', 'event_type', 'unit_moved', 'event_subject_ref', m ->> 'unit_id', 'canonical_address', m ->> 'address',
             'workspace_id', p_workspace_id, 'safe_payload', jsonb_build_object(
               'unit_id', m -> 'unit_id', 'from_container_id', m -> 'from', 'container_id', m -> 'to', 'position', m -> 'position'))
           order by n) into v_events
      from jsonb_array_elements(v_moves) with ordinality as e (m, n);
    perform iu_core.fn_event_emit_batch(v_events);
  end if;

  v_order := iu_core.fn_cut_order(p_document_id, p_plan, coalesce(v_moved, '{}'));
  perform iu_core.fn_unit_number(array(select value::uuid from jsonb_array_elements_text(o -> 'units'))) from jsonb_array_elements(v_order) o;
  select jsonb_agg(jsonb_build_object(
           'event_domain', 'piece', 'event_type', 'piece_reordered', 'event_subject_ref', u.unit_id, 'canonical_address', u.canonical_address,
           'workspace_id', p_workspace_id,
           'safe_payload', jsonb_build_object('unit_id', u.unit_id, 'pieces', jsonb_array_length(o -> 'units')))
         order by u.canonical_address) into v_events
    from jsonb_array_elements(v_order) o
   cross join lateral (select x.* from iu_core.information_unit x where x.unit_id = (o ->> 'container_id')::uuid offset 0) u
   where (o ->> 'is_reordered')::boolean;
  if v_events is not null then
    perform iu_core.fn_event_emit_batch(v_events);
  end if;
  return coalesce(v_moved, '{}');
end $$;
