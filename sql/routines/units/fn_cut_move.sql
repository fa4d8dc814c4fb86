-- Puts the units of the pieces into the containers of the manifest (fn_cut_moves), with one iu.unit_moved for each, and answers which
-- moved. What people put elsewhere stays, unless the document moved its piece; and unless the two together would put a unit into
-- itself: then all pieces go where the manifest has them. Internal: under fn_unit_tree_lock, after births.
create or replace function iu_core.fn_cut_move(p_workspace_id uuid, p_document_id uuid, p_plan jsonb) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_all jsonb := '[]';
  v_moves jsonb;
  v_keep boolean;
  v_moved uuid[];
  v_circle uuid;
  v_events jsonb;
begin
  foreach v_keep in array array[true, false] loop
    v_moves := iu_core.fn_cut_moves(p_document_id, p_plan, v_keep);
    exit when v_moves is null;
    v_all := v_all || v_moves;
    v_moved := array(select (m ->> 'unit_id')::uuid from jsonb_array_elements(v_all) m);
    perform from iu_core.information_unit where unit_id = any (v_moved) order by unit_id for no key update;
    update iu_core.information_unit u
       set container_id = (m ->> 'to')::uuid, position = (m ->> 'position')::integer
      from jsonb_array_elements(v_moves) m
     where u.unit_id = (m ->> 'unit_id')::uuid;
    v_circle := iu_core.fn_cut_circles(v_moved);
    exit when v_circle is null;
  end loop;
  if v_circle is not null then
    raise exception using
      errcode = 'SD908',
      message = format('The unit %s cannot be inside of what is inside it', v_circle),
      detail = (select json_build_object('unit', v_circle, 'container', u.container_id) from iu_core.information_unit u where u.unit_id = v_circle)::text;
  end if;
  if v_all <> '[]' then
    select jsonb_agg(jsonb_build_object(
             'event_domain', 'iu', 'event_type', 'unit_moved', 'event_subject_ref', m ->> 'unit_id', 'canonical_address', m ->> 'address',
             'workspace_id', p_workspace_id, 'safe_payload', jsonb_build_object(
               'unit_id', m -> 'unit_id', 'from_container_id', m -> 'from', 'container_id', m -> 'to', 'position', m -> 'position'))
           order by n) into v_events
      from jsonb_array_elements(v_all) with ordinality as e (m, n);
    perform iu_core.fn_event_emit_batch(v_events);
  end if;
  return v_all;
end $$;
