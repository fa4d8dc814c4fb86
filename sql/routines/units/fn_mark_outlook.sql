-- What a cut by this manifest would do now, for whoever decides about it: {pieces: [{address, what, unit?, status?, version_no?,
-- new_address?, replaced_version?, keeps_text?, moved_from?, moved_to?, replaced_place?, kept_in?}], gone: [{address, retired: [], kept: []}],
-- legacy: {document_id, title, content_hash, is_same} or null}.
-- what is as in fn_cut_plan; unit, status (deleted among them) and version_no are of the unit that holds the piece; new_address is that
-- of a draft beside it; kept_in is the container in which people put it, and in which it stays. Of pieces that would be gone: which
-- drafts would be retired, and what stays. legacy: the document of the old knowledge base under the same source, which a cut leaves
-- as it is. Changes nothing.
create or replace function iu_core.fn_mark_outlook(p_workspace_id uuid, p_manifest jsonb) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_nestloop = off
set jit = off
as $$
declare
  v_document_id uuid;
  v_root iu_core.information_unit;
  v_plan jsonb;
  v_moves jsonb;
  v_gone jsonb;
  v_legacy jsonb;
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  perform iu_core.fn_unit_workspace_check(p_workspace_id);
  if iu_core.fn_mark_manifest_form(p_manifest) <> '[]' then
    raise exception using errcode = 'SD001', message = 'It is not a manifest, or not of its form';
  end if;
  select document_id into v_document_id from iu_core.kb_document
   where workspace_id = p_workspace_id and source_ref = p_manifest -> 'document' ->> 'source_ref';
  select * into v_root from iu_core.information_unit
   where workspace_id = p_workspace_id and canonical_address = split_part(p_manifest -> 'pieces' -> 0 ->> 'address', '/', 1);
  while v_root.lifecycle_status = 'superseded' and v_root.deleted_at is null loop
    select * into v_root from iu_core.information_unit where unit_id = v_root.superseded_by;
  end loop;
  v_plan := iu_core.fn_cut_plan(
    p_workspace_id, v_document_id,
    case when v_root.deleted_at is null and v_root.lifecycle_status in ('draft', 'enacted') then v_root.unit_id end,
    p_manifest -> 'pieces');
  -- With false also those that stay where people put them.
  select jsonb_agg(m || jsonb_build_object('stays', k.unit_id is null)) into v_moves
    from jsonb_array_elements(iu_core.fn_cut_moves(v_document_id, v_plan, false)) m
    left join jsonb_to_recordset(iu_core.fn_cut_moves(v_document_id, v_plan, true)) as k (unit_id uuid) on k.unit_id = (m ->> 'unit_id')::uuid;
  select jsonb_agg(jsonb_build_object('address', g.piece_address, 'retired', g.retired, 'kept', g.kept) order by g.position) into v_gone
    from (select m.piece_address, min(m.position) as position,
                 coalesce(jsonb_agg(u.canonical_address) filter (where u.lifecycle_status = 'draft'), '[]') as retired,
                 coalesce(jsonb_agg(u.canonical_address) filter (where u.lifecycle_status = 'enacted'), '[]') as kept
            from iu_core.kb_unit_map m
            left join lateral (select x.* from iu_core.information_unit x where x.unit_id = m.unit_id and x.deleted_at is null offset 0) u on true
           where m.document_id = v_document_id and m.dropped_at is null
             and m.piece_address not in (select p.address from iu_core.fn_cut_planned(v_plan) p)
           group by m.piece_address) g;
  select jsonb_build_object('document_id', d.document_id, 'title', d.title, 'content_hash', d.content_hash,
                            'is_same', d.content_hash = p_manifest -> 'document' ->> 'content_hash') into v_legacy
    from iu_core.kb_document d where d.document_id = v_document_id and d.origin = 'knowledge_base';
  return jsonb_build_object('gone', coalesce(v_gone, '[]'), 'legacy', v_legacy, 'pieces', (
    with plan as materialized (
      select * from iu_core.fn_cut_planned(v_plan)
    )
    select jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
             'address', p.address, 'what', p.what, 'unit', u.canonical_address, 'version_no', u.version_no,
             'status', case when u.deleted_at is null then u.lifecycle_status else 'deleted' end,
             'new_address', case when p.what = 'successor' then p.unit_address end,
             'replaced_version', case when p.what = 'versioned' and p.is_edited and not p.keeps_body then p.version_no end,
             'keeps_text', case when p.what = 'versioned' then nullif(p.keeps_body, false) end,
             'moved_from', case when not m.stays then f.canonical_address end,
             'moved_to', case when not m.stays then coalesce(o.canonical_address, b.unit_address) end,
             'replaced_place', case when not m.stays then nullif(m.by_hand, false) end,
             'kept_in', case when m.stays then coalesce(f.canonical_address, '') end)) order by p."position")
      from plan p
      left join lateral (select x.* from iu_core.information_unit x where x.unit_id = p.head_id offset 0) u on true
      left join jsonb_to_recordset(v_moves) as m (unit_id uuid, "from" uuid, "to" uuid, by_hand boolean, stays boolean) on m.unit_id = p.head_id
      left join lateral (select x.canonical_address from iu_core.information_unit x where x.unit_id = m."from" offset 0) f on true
      left join lateral (select x.canonical_address from iu_core.information_unit x where x.unit_id = m."to" offset 0) o on true
      -- A section that the cut would make first.
      left join plan b on b.unit_id = m."to" and b.what in ('born', 'successor')));
end $$;

grant execute on function iu_core.fn_mark_outlook(uuid, jsonb) to
  authenticated, stagedoor_reviewer, stagedoor_agent, service_role, dot_executor;
