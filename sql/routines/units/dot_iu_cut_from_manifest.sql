-- Cuts a document into units as the approved manifest has it: consumes the record, writes the document, its units and
-- which unit holds which piece, in one transaction and one run. p_manifest_digest is the digest of the part manifest, or that of the
-- record; p_source is the document where the record holds the manifest alone (by its hash it is the one that was approved, or refused).
-- Cut again, a changed document touches only what changed: a draft
-- gets a version, an enacted unit a draft beside it (<address>~2, ~3, …) that supersedes it; a piece that is gone is retired if it is
-- a draft, else left. What people edited, moved or reordered stays where the document's piece did not change.
-- Answers {run_id, document_id, born, versioned, successors, retired, kept, unchanged, units: [{unit_id, canonical_address, what,
-- replaced_version?, moved_from?, moved_to?, replaced_place?}], kinds_kept?, orders_replaced?, legacy_kept?, left_out?}. The numbers are of pieces;
-- units are those that it touched, the document's own among them if its title changed. replaced_version: what people had written
-- since the last cut, which the document's text took the place of. moved_from, moved_to: addresses of containers, absent for none;
-- replaced_place: people had put it there. kinds_kept: addresses of units that the manifest calls another kind; a kind changes by
-- fn_unit_amend_kind alone (U3). orders_replaced: containers whose order people had made, and the document changed.
-- legacy_kept: true where the document is one of the old knowledge base, whose own text stays as it is.
-- left_out {bytes, parts: [{from, to, first_line, last_line}]}: text of the document that the manifest has in no piece.
create or replace function iu_core.dot_iu_cut_from_manifest(
  p_staging_record_id uuid,
  p_manifest_digest text,
  p_source text default null
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid := iu_core.fn_iu_staging_workspace(p_staging_record_id);
  v_actor text := iu_core.fn_actor();
  v_run_id uuid;
  v_manifest jsonb;
  v_digest text;
  v_source text;
  v_bytes bytea;
  v_document_id uuid;
  v_is_legacy boolean;
  v_root text;
  v_unit record;
  v_plan jsonb;
  v_changed jsonb;
  v_gone jsonb;
  v_places jsonb;
  v_more jsonb;
  v_counts jsonb;
  v_execution text := current_setting('stagedoor.execution', true);
begin
  perform iu_core.require_member(v_workspace, 'operate');
  if p_manifest_digest is null then
    raise exception using errcode = 'SD001', message = 'A cut names the digest of the manifest that was approved';
  end if;
  if not exists (select from iu_core.iu_staging_record
                  where staging_record_id = p_staging_record_id and (staging_kind, payload_type) = ('mark_manifest', 'manifest_json')) then
    raise exception using
      errcode = 'SD909',
      message = format('Record %s is a %s, not the marking of a document', p_staging_record_id,
                       (select staging_kind from iu_core.iu_staging_record where staging_record_id = p_staging_record_id)),
      detail = '{"reason": "the record is not the marking of a document"}';
  end if;
  perform iu_core.fn_unit_workspace_check(v_workspace);
  select r.content_hash into v_digest from iu_core.iu_staging_record r
   where r.staging_record_id = p_staging_record_id and r.part_digests @> jsonb_build_array(jsonb_build_object(
     'part_index', 0, 'part_name', 'manifest', 'content_hash', p_manifest_digest));
  v_run_id := iu_core.fn_command_run_start('dot_iu_cut_from_manifest', p_manifest_digest, v_workspace);
  perform iu_core.fn_iu_staging_consume(p_staging_record_id, v_run_id, coalesce(v_digest, p_manifest_digest));
  -- What it writes from here on was approved, whatever else its execution has read (fn_execution_refuse_unapproved).
  perform set_config('stagedoor.execution', '', true);
  select payload_json into v_manifest from iu_core.iu_staging_payload
   where staging_record_id = p_staging_record_id and (part_index, part_name) = (0, 'manifest');
  select payload_text into v_source from iu_core.iu_staging_payload
   where staging_record_id = p_staging_record_id and (part_index, part_name) = (1, 'source');
  v_source := coalesce(v_source, p_source, iu_core.fn_mark_source(v_workspace, v_manifest));
  if v_source is null then
    raise exception using
      errcode = 'SD909',
      message = 'The manifest cannot be used: its document is missing',
      hint = 'The record holds the manifest alone: give the document to the cut (p_source; stagedoor cut --source FILE).',
      detail = '{"reason": "its document is missing; give it to the cut"}';
  end if;
  -- From here on one cut of a workspace at a time: which addresses are taken, and what is inside what, stays as it is seen.
  perform iu_core.fn_unit_tree_lock(v_workspace);
  -- Whoever approved it saw what it would change then. What was cut since would be taken back unseen.
  if exists (select from iu_core.kb_document d
               left join iu_core.kb_document_cut c on c.document_id = d.document_id
               join iu_core.iu_staging_record r on r.approved_at < case d.origin when 'cut' then d.updated_at else c.cut_at end
              where r.staging_record_id = p_staging_record_id and d.workspace_id = v_workspace
                and d.source_ref = v_manifest -> 'document' ->> 'source_ref') then
    raise exception using
      errcode = 'SD909',
      message = 'The manifest cannot be used: the document was cut again after this was approved',
      hint = 'Mark the document as it is now, and let that be approved.',
      detail = '{"reason": "the document was cut again after this was approved; mark it as it is now"}';
  end if;
  perform iu_core.fn_mark_manifest_require(v_manifest, v_source, v_workspace);
  v_bytes := convert_to(v_source, 'UTF8');
  v_root := split_part(v_manifest -> 'pieces' -> 0 ->> 'address', '/', 1);
  v_unit := iu_core.fn_cut_root(v_workspace, v_manifest -> 'document', v_root, v_actor);
  select c.document_id, c.is_legacy into v_document_id, v_is_legacy
    from iu_core.fn_cut_document(v_workspace, v_manifest -> 'document', v_source, v_actor) c;
  loop
    v_plan := iu_core.fn_cut_plan(v_workspace, v_document_id, v_unit.unit_id, v_manifest -> 'pieces');
    v_changed := jsonb_path_query_array(v_plan, '$[*] ? (@.what != "unchanged")');
    exit when iu_core.fn_cut_lock(v_changed);
  end loop;
  v_gone := iu_core.fn_cut_gone(v_document_id, v_plan, v_run_id, v_actor);
  perform iu_core.fn_cut_births(v_workspace, v_manifest -> 'document', v_bytes, v_changed, v_actor);
  perform iu_core.fn_cut_versions(v_manifest -> 'document', v_bytes, v_changed, v_run_id, v_actor);
  perform iu_core.fn_cut_map(v_document_id, v_plan, v_changed, v_run_id);
  perform iu_core.fn_cut_topics(v_plan, v_actor);
  v_places := iu_core.fn_cut_places(v_workspace, v_document_id, v_plan);

  select jsonb_build_object(
           'born', count(*) filter (where what = 'born'), 'versioned', count(*) filter (where what = 'versioned'),
           'successors', count(*) filter (where what = 'successor'), 'retired', jsonb_array_length(v_gone -> 'units'),
           'kept', v_gone -> 'kept', 'unchanged', jsonb_array_length(v_plan) - count(*)) into v_counts
    from iu_core.fn_cut_planned(v_changed);
  perform iu_core.fn_event_emit(
    'iu', 'unit_cut', p_event_subject_ref => v_document_id::text, p_canonical_address => v_root, p_workspace_id => v_workspace,
    p_safe_payload => v_counts || jsonb_build_object('document_id', v_document_id, 'run_id', v_run_id));
  perform iu_core.fn_command_run_finish(v_run_id);
  perform set_config('stagedoor.execution', coalesce(v_execution, ''), true);
  v_more := jsonb_strip_nulls(jsonb_build_object(
    'orders_replaced', nullif(v_places -> 'orders_replaced', '[]'),
    'legacy_kept', nullif(v_is_legacy, false),
    'left_out', iu_core.fn_mark_left_out(v_bytes, v_manifest -> 'pieces')));
  return v_counts || coalesce(iu_core.fn_cut_kinds(v_plan), '{}') || v_more || jsonb_build_object(
    'run_id', v_run_id, 'document_id', v_document_id,
    'units', iu_core.fn_cut_touched(v_changed, v_gone, v_places -> 'moves', case when v_unit.is_versioned then v_unit.unit_id end));
end $$;

grant execute on function iu_core.dot_iu_cut_from_manifest(uuid, text, text) to dot_executor, service_role, authenticated, stagedoor_reviewer;
