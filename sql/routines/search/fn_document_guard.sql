-- Before a document changes. One of the old knowledge base does not change, by the owner neither: it is
-- written by fn_document_put and fn_document_remove alone, which are that knowledge base's own. Cuts, units and everything else
-- leave it as it is (VA-7).
create or replace function iu_core.fn_document_guard() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_field text;
begin
  if old.origin = 'cut' then
    -- It becomes one of the knowledge base: what it was cut from so far stays known.
    if tg_op = 'UPDATE' and new.origin = 'knowledge_base' then
      insert into iu_core.kb_document_cut (document_id, title, language, body, content_hash, cut_by, cut_at)
      values (old.document_id, old.title, old.language, old.body, old.content_hash, old.updated_by, old.updated_at)
      on conflict (document_id) do nothing;
    end if;
    return coalesce(new, old);
  end if;
  if tg_op = 'UPDATE' then
    v_field := case
      when new.document_id is distinct from old.document_id then 'document_id'
      when new.workspace_id is distinct from old.workspace_id then 'workspace_id'
      when new.source_ref is distinct from old.source_ref then 'source_ref'
      when new.origin is distinct from old.origin then 'origin'
      when new.created_at is distinct from old.created_at then 'created_at'
      when current_setting('stagedoor.knowledge_base', true) is not distinct from old.workspace_id || ' ' || old.source_ref then null
      when new.body is distinct from old.body then 'body'
      when new.content_hash is distinct from old.content_hash then 'content_hash'
      when new.title is distinct from old.title then 'title'
      when new.language is distinct from old.language then 'language'
      when new.updated_by is distinct from old.updated_by then 'updated_by'
      when new.updated_at is distinct from old.updated_at then 'updated_at'
      when new.deleted_at is distinct from old.deleted_at then 'deleted_at'
    end;
    if v_field is null then
      return new;
    end if;
  end if;
  raise exception using
    errcode = 'SD919',
    message = format('The document %s belongs to the old knowledge base: its %s does not change', old.source_ref, coalesce(v_field, 'row')),
    detail = json_build_object('document', old.source_ref, 'field', coalesce(v_field, 'row'))::text,
    hint = 'iu_core.fn_document_put brings it up to date, iu_core.fn_document_remove takes it out of search.';
end $$;

create or replace trigger kb_document_of_the_old_stays
  before update or delete on iu_core.kb_document
  for each row execute function iu_core.fn_document_guard();
create or replace trigger kb_document_is_not_truncated
  before truncate on iu_core.kb_document
  for each statement execute function iu_core.fn_refuse_change();
