-- Pieces that the document no longer has: drafts are retired, what is enacted stays, and the map says since when. Answers
-- {"units": [ids that were retired], "kept": how many pieces stay}. Internal.
create or replace function iu_core.fn_cut_gone(p_document_id uuid, p_plan jsonb, p_run_id uuid, p_actor text) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
-- The statistics are of before this transaction: what it made itself is joined by hashing, units are looked up by their id.
set enable_nestloop = off
set jit = off
as $$
declare
  v_gone text[];
  v_retired uuid[];
  v_kept integer;
begin
  v_gone := array(
    select distinct m.piece_address from iu_core.kb_unit_map m
     where m.document_id = p_document_id and m.dropped_at is null
       and not exists (select from iu_core.fn_cut_planned(p_plan) p where p.address = m.piece_address)
     order by 1);
  if v_gone = '{}' then
    return '{"units": [], "kept": 0}';
  end if;
  perform from iu_core.information_unit u
    where u.unit_id in (select m.unit_id from iu_core.kb_unit_map m where m.document_id = p_document_id and m.piece_address = any (v_gone))
    order by u.unit_id for no key update;
  with retired as (
    update iu_core.information_unit u set lifecycle_status = 'retired'
      from iu_core.kb_unit_map m
     where m.document_id = p_document_id and m.piece_address = any (v_gone) and u.unit_id = m.unit_id
       and u.lifecycle_status = 'draft' and u.deleted_at is null
    returning u.unit_id, m.position
  )
  select coalesce(array_agg(unit_id order by position, unit_id), '{}') into v_retired from retired;
  if v_retired <> '{}' then
    perform iu_core.fn_vector_enqueue(v_retired, 'patch');
    perform iu_core.fn_unit_lifecycle_log(v_retired, 'draft', 'retired', p_actor,
                                          p_reason => 'no longer in the document', p_change_set_id => p_run_id);
  end if;
  select count(distinct m.piece_address) into v_kept
    from iu_core.kb_unit_map m join iu_core.information_unit u on u.unit_id = m.unit_id
   where m.document_id = p_document_id and m.piece_address = any (v_gone) and u.unit_id <> all (v_retired)
     and u.lifecycle_status = 'enacted' and u.deleted_at is null;
  update iu_core.kb_unit_map set dropped_at = clock_timestamp(), cut_run_id = p_run_id
   where document_id = p_document_id and piece_address = any (v_gone) and dropped_at is null;
  return jsonb_build_object('units', v_retired, 'kept', v_kept);
end $$;
