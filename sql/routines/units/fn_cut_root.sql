-- The unit of the whole document: at the first segment of all addresses, its body is the title. Born if it is not there, a new version
-- if the document's title or language changed and it is a draft: what people wrote into it stays otherwise. Where people superseded it,
-- the one that took its place. unit_id is NULL where no pieces can be put into it. Internal: before fn_cut_document.
create or replace function iu_core.fn_cut_root(
  p_workspace_id uuid,
  p_document jsonb,
  p_address text,
  p_actor text,
  out unit_id uuid,
  out is_versioned boolean
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  u iu_core.information_unit;
  v_title text := p_document ->> 'title';
begin
  is_versioned := false;
  select * into u from iu_core.information_unit
   where workspace_id = p_workspace_id and canonical_address = p_address for no key update;
  if not found then
    select b.unit_id into unit_id from iu_core.fn_unit_birth(p_workspace_id, jsonb_build_array(jsonb_build_object(
      'canonical_address', p_address, 'body', v_title, 'title', v_title, 'unit_kind', 'document',
      'language', p_document ->> 'language', 'source_ref', p_document ->> 'source_ref')), p_actor) b;
    return;
  end if;
  while u.lifecycle_status = 'superseded' and u.deleted_at is null loop
    select * into u from iu_core.information_unit x where x.unit_id = u.superseded_by for no key update;
  end loop;
  if u.deleted_at is not null or u.lifecycle_status = 'retired' then
    return;
  end if;
  unit_id := u.unit_id;
  if u.lifecycle_status = 'draft'
     and exists (select from iu_core.kb_document d
                   left join iu_core.kb_document_cut c on c.document_id = d.document_id and d.origin = 'knowledge_base'
                  where d.workspace_id = p_workspace_id and d.source_ref = p_document ->> 'source_ref'
                    and (coalesce(c.title, d.title), coalesce(c.language, d.language)) is distinct from (v_title, p_document ->> 'language')) then
    select w.changed into is_versioned
      from iu_core.fn_unit_version_write(u, v_title, v_title, p_document ->> 'language', null, p_actor) w;
  end if;
end $$;
