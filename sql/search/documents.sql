-- Documents of the old knowledge base.

-- Adds a document of the old knowledge base to search, or updates it, by its source. A document that was cut into units is then
-- searched itself. Does nothing if nothing differs. Returns its id.
create or replace function iu_core.fn_document_put(
  p_workspace_id uuid,
  p_source_ref text,
  p_title text,
  p_body text,
  p_language text default null
) returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_hash text := encode(sha256(convert_to(p_body, 'UTF8')), 'hex');
  v_problem text;
  v_id uuid;
begin
  perform iu_core.require_member(p_workspace_id, 'administer');
  perform iu_core.fn_require_workspace(p_workspace_id);
  v_problem := case
    when p_workspace_id is null then 'A document belongs to a workspace'
    when p_source_ref is null or p_source_ref !~ '\S' or length(p_source_ref) > 2000 then 'A document needs a source_ref of up to 2,000 characters'
    when p_title is null or p_title !~ '\S' or length(p_title) > 500 then 'A document needs a title of up to 500 characters'
    when p_body is null or p_body !~ '\S' then 'A document needs a text'
    when octet_length(p_body) > 10485760 then 'A document has at most 10 MiB'
    when p_language !~ '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$' then format('%L is not a language', p_language) end;
  if v_problem is not null then
    raise exception using errcode = 'SD001', message = v_problem;
  end if;
  perform set_config('stagedoor.knowledge_base', p_workspace_id || ' ' || p_source_ref, true);
  insert into iu_core.kb_document as d (workspace_id, source_ref, title, language, body, content_hash, updated_by, origin)
  values (p_workspace_id, p_source_ref, p_title, coalesce(p_language, iu_core.fn_text_language(p_body)), p_body, v_hash, iu_core.fn_actor(), 'knowledge_base')
  on conflict (workspace_id, source_ref) do update
     set title = excluded.title, language = excluded.language, body = excluded.body, content_hash = excluded.content_hash,
         updated_by = excluded.updated_by, updated_at = clock_timestamp(), deleted_at = null, origin = 'knowledge_base'
   where (d.title, d.language, d.content_hash, d.deleted_at, d.origin)
         is distinct from (excluded.title, excluded.language, excluded.content_hash, null, 'knowledge_base')
  returning d.document_id into v_id;
  perform set_config('stagedoor.knowledge_base', '', true);
  if v_id is null then
    select d.document_id into v_id from iu_core.kb_document d where d.workspace_id = p_workspace_id and d.source_ref = p_source_ref;
  end if;
  return v_id;
end $$;

grant execute on function iu_core.fn_document_put(uuid, text, text, text, text) to dot_executor, service_role, stagedoor_reviewer;

-- Deletes a document of the old knowledge base from search; its row stays. A document that was only cut is not part of it: its
-- units are deleted instead.
create or replace function iu_core.fn_document_delete(p_document_id uuid) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_deleted boolean;
begin
  perform iu_core.require_member(iu_core.fn_document_workspace(p_document_id), 'administer');
  perform set_config('stagedoor.knowledge_base', d.workspace_id || ' ' || d.source_ref, true)
     from iu_core.kb_document d where d.document_id = p_document_id;
  update iu_core.kb_document d
     set deleted_at = clock_timestamp(), updated_at = clock_timestamp(), updated_by = iu_core.fn_actor()
   where d.document_id = p_document_id and d.origin = 'knowledge_base' and d.deleted_at is null;
  v_deleted := found;
  perform set_config('stagedoor.knowledge_base', '', true);
  if not v_deleted and exists (select from iu_core.kb_document d where d.document_id = p_document_id and d.origin = 'cut') then
    raise exception using errcode = 'SD001', message = 'This document was only cut into units and is not searched itself';
  end if;
end $$;

grant execute on function iu_core.fn_document_delete(uuid) to dot_executor, service_role, stagedoor_reviewer;

-- The workspace of a document that the caller may see; another workspace's document gives the same error as a missing one.
-- Internal: definer functions pass the result to require_member.
create or replace function iu_core.fn_document_workspace(p_document_id uuid) returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
begin
  select workspace_id into v_workspace from iu_core.kb_document where document_id = p_document_id;
  if not found or not iu_core.fn_workspace_is_visible(v_workspace) then
    raise exception using
      errcode = 'SD917',
      message = format('There is no document %s', coalesce(p_document_id::text, 'NULL')),
      detail = json_build_object('projection', p_document_id)::text;
  end if;
  return v_workspace;
end $$;

-- A document of the old knowledge base does not change, also not by the owner: only fn_document_put and fn_document_delete,
-- which act for that knowledge base, write it. Cuts, units and everything else leave it as it is (VA-7).
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
    message = format('The document %s belongs to the old knowledge base: its %s cannot be changed', old.source_ref, coalesce(v_field, 'row')),
    detail = json_build_object('document', old.source_ref, 'field', coalesce(v_field, 'row'))::text,
    hint = 'iu_core.fn_document_put updates it, iu_core.fn_document_delete deletes it from search.';
end $$;

create or replace trigger kb_document_legacy_is_read_only
  before update or delete on iu_core.kb_document
  for each row execute function iu_core.fn_document_guard();
create or replace trigger kb_document_is_not_truncated
  before truncate on iu_core.kb_document
  for each statement execute function iu_core.fn_refuse_change();

-- Projects a changed document of the old knowledge base again, in the transaction of the change: one row for it, due after the
-- quiet window. A document that was only cut is not projected: its pieces are.
create or replace function iu_core.fn_vector_enqueue_document() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_operation text := case when new.deleted_at is null then 'upsert' else 'delete' end;
  v_policy iu_core.vector_policy;
begin
  if new.origin <> 'knowledge_base' then
    return null;
  end if;
  select * into v_policy from iu_core.vector_policy;
  insert into iu_core.vector_outbox as o (document_id, operation, content_hash, first_enqueued_at, earliest_run_at, changed_at)
  values (new.document_id, v_operation, case v_operation when 'upsert' then new.content_hash end, v_now,
          v_now + case v_operation when 'upsert' then v_policy.quiet_window else v_policy.delete_delay end, v_now)
  on conflict (document_id) where document_id is not null do update
     set operation = excluded.operation, content_hash = excluded.content_hash,
         generation = o.generation + 1,
         status = case o.status when 'processing' then 'processing' else 'pending' end,
         first_enqueued_at = case when o.status in ('done', 'dead_letter') then v_now else o.first_enqueued_at end,
         earliest_run_at = least(excluded.earliest_run_at,
                                 case when v_operation = 'upsert' then
                                   case when o.status in ('done', 'dead_letter') then v_now else o.first_enqueued_at end + v_policy.max_wait end),
         retry_count = 0, last_error = null,
         worker_id = case o.status when 'processing' then o.worker_id end,
         changed_at = v_now;
  return null;
end $$;

create or replace trigger kb_document_is_projected
  after insert or update of body, title, language, deleted_at, origin on iu_core.kb_document
  for each row execute function iu_core.fn_vector_enqueue_document();

-- Documents, and their freshness in search: absent if it is not searched itself (deleted, or only cut), error as a dead letter,
-- stale while our record of it is older or search has no text of it, else current. For back-end code; search reads it for
-- people.
create or replace view iu_core.v_document with (security_invoker = true) as
select d.document_id, d.workspace_id, d.source_ref, d.title, d.language, d.content_hash, d.origin, d.updated_by, d.created_at,
       d.updated_at, d.deleted_at, y.synced_at,
       case
         when d.deleted_at is not null or d.origin = 'cut' then 'absent'
         when o.status = 'dead_letter' then 'error'
         when y.document_id is null or o.status in ('pending', 'processing')
              or y.content_hash <> d.content_hash or y.document_updated_at < d.updated_at
              or not exists (select from iu_core.search_chunk c
                              where c.document_id = d.document_id and c.content_hash_at_embedding = d.content_hash) then 'stale'
         else 'current'
       end as vector_state
  from iu_core.kb_document d
  left join lateral (select n.* from iu_core.search_document_sync n where n.document_id = d.document_id offset 0) as y on true
  left join lateral (select n.status from iu_core.vector_outbox n where n.document_id = d.document_id offset 0) as o on true;

grant select on iu_core.v_document to service_role, dot_executor, vector_worker;
