-- Documents, and how fresh search is about each: absent where it is not searched itself (deleted, or only cut), error as a dead
-- letter, stale while our record of it is older than it or search has no text of it, else current. For back-end code; search asks it for people.
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
