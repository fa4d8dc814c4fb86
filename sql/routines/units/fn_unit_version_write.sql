-- Writes the next version of a unit that the caller has locked (fn_unit_editable). NULL keeps what there is. What changes nothing
-- makes no version, no event and no work for search; a new title alone is a version, but nothing to embed. Internal.
create or replace function iu_core.fn_unit_version_write(
  u iu_core.information_unit,
  p_body text,
  p_title text,
  p_language text,
  p_note text,
  p_actor text,
  p_via text default null,
  out version_no integer,
  out unit_version_id uuid,
  out content_hash text,
  out changed boolean
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_hash text := u.content_hash;
  v_body text := p_body;
  v_language text;
begin
  if p_body is not null then
    perform iu_core.fn_unit_body_check(p_body);
    v_hash := encode(sha256(convert_to(p_body, 'UTF8')), 'hex');
  end if;
  if num_nonnulls(p_title, p_language) > 0 then
    perform iu_core.fn_unit_words_check(p_title, p_language);
  end if;
  if length(p_note) > 2000 then
    raise exception using errcode = 'SD001', message = 'A note has at most 2000 characters';
  end if;
  select v.language, coalesce(v_body, v.body) into v_language, v_body
    from iu_core.unit_version v where v.unit_version_id = u.current_version_id;
  changed := v_hash <> u.content_hash or p_title <> u.title or p_language <> v_language;
  if changed is not true then
    changed := false;
    version_no := u.version_no;
    unit_version_id := u.current_version_id;
    content_hash := u.content_hash;
    return;
  end if;
  version_no := u.version_no + 1;
  insert into iu_core.unit_version (unit_id, version_no, unit_kind, title, language, body, content_hash, note, edited_by, edited_via)
  values (u.unit_id, version_no, u.unit_kind, coalesce(p_title, u.title), coalesce(p_language, v_language), v_body, '', p_note, p_actor, p_via)
  returning unit_version.unit_version_id, unit_version.content_hash into unit_version_id, content_hash;
  update iu_core.information_unit x
     set current_version_id = fn_unit_version_write.unit_version_id, version_no = fn_unit_version_write.version_no,
         content_hash = v_hash, title = coalesce(p_title, u.title)
   where x.unit_id = u.unit_id;
  if v_hash <> u.content_hash then
    perform iu_core.fn_vector_enqueue_unit(u.unit_id, v_hash, 'upsert');
  end if;
  perform iu_core.fn_event_write('iu', 'unit_versioned', u.unit_id::text, u.workspace_id, p_actor, p_via, jsonb_build_object(
    'unit_id', u.unit_id, 'unit_version_id', unit_version_id, 'version_no', version_no, 'content_hash', content_hash,
    'previous_hash', u.content_hash), u.canonical_address);
end $$;
