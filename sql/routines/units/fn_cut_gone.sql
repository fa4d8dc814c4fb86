-- Pieces that the manifest no longer has, be it that the document lost them or that somebody left them out: drafts are retired,
-- what is enacted stays, and the map says since when. Answers {"units": [ids that were retired], "kept": how many pieces stay}.
-- Internal.
create or replace function iu_core.fn_cut_gone(p_document_id uuid, p_plan jsonb, p_run_id uuid, p_actor text) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_gone text[];
  v_units uuid[];
  v_retired uuid[];
  v_kept integer;
begin
  v_gone := array(
    select m.piece_address from iu_core.kb_unit_map m where m.document_id = p_document_id and m.dropped_at is null
    except
    select p.address from iu_core.fn_cut_planned(p_plan) p);
  if v_gone = '{}' then
    return '{"units": [], "kept": 0}';
  end if;
  v_units := array(
    select m.unit_id from iu_core.kb_unit_map m
     where m.document_id = p_document_id and m.piece_address = any (v_gone) order by m.position, m.unit_id);
  perform from iu_core.information_unit u where u.unit_id = any (v_units) order by u.unit_id for no key update;
  v_retired := array(
    select g.unit_id from unnest(v_units) with ordinality as g (unit_id, number)
     cross join lateral (select x.* from iu_core.information_unit x where x.unit_id = g.unit_id offset 0) u
     where u.lifecycle_status = 'draft' and u.deleted_at is null
     order by g.number);
  if v_retired <> '{}' then
    update iu_core.information_unit u set lifecycle_status = 'retired' where u.unit_id = any (v_retired);
    perform iu_core.fn_vector_enqueue(v_retired, 'patch');
    perform iu_core.fn_unit_lifecycle_log(v_retired, 'draft', 'retired', p_actor,
                                          p_reason => 'no longer a piece of the document', p_change_set_id => p_run_id);
  end if;
  select count(distinct m.piece_address) into v_kept
    from iu_core.kb_unit_map m
   cross join lateral (select x.* from iu_core.information_unit x where x.unit_id = m.unit_id offset 0) u
   where m.document_id = p_document_id and m.piece_address = any (v_gone)
     and u.lifecycle_status = 'enacted' and u.deleted_at is null;
  update iu_core.kb_unit_map set dropped_at = clock_timestamp(), cut_run_id = p_run_id
   where document_id = p_document_id and piece_address = any (v_gone) and dropped_at is null;
  return jsonb_build_object('units', v_retired, 'kept', v_kept);
end $$;
