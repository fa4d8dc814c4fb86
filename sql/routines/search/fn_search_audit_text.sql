-- What Postgres itself has wrong: units and documents that are said to be in search and are not, or are in it and should not be, and
-- have nobody on the way to them.
--   missing  no text in search, or that of another version
--   left     it was deleted or retired, or is a document that is only cut
-- p_repair has them projected again. For back-end code.
create or replace function iu_core.fn_search_audit_text(p_repair boolean default false, p_limit integer default 1000)
returns table (unit_id uuid, document_id uuid, finding text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_found record;
  v_units uuid[] := '{}';
  v_documents uuid[] := '{}';
begin
  perform iu_core.require_member(null, 'administer');
  for v_found in
    (select u.unit_id, null::uuid as document_id, case when x.gone then 'left' else 'missing' end as finding
       from iu_core.information_unit u
       left join iu_core.vector_outbox o on o.unit_id = u.unit_id
      cross join lateral (select u.deleted_at is not null or u.lifecycle_status = 'retired' as gone,
                                 (select min(c.content_hash_at_embedding) from iu_core.search_chunk c where c.unit_id = u.unit_id) as hash) as x
      where coalesce(o.status, 'done') = 'done'
        and case when x.gone then x.hash is not null else x.hash is distinct from u.content_hash end
      order by u.unit_id limit p_limit)
    union all
    (select null, d.document_id, case when x.gone then 'left' else 'missing' end
       from iu_core.kb_document d
       left join iu_core.vector_outbox o on o.document_id = d.document_id
      cross join lateral (select d.deleted_at is not null or d.origin = 'cut' as gone,
                                 (select min(c.content_hash_at_embedding) from iu_core.search_chunk c where c.document_id = d.document_id) as hash) as x
      where coalesce(o.status, 'done') = 'done'
        and case when x.gone then x.hash is not null else x.hash is distinct from d.content_hash end
      order by d.document_id limit p_limit)
  loop
    unit_id := v_found.unit_id;
    document_id := v_found.document_id;
    finding := v_found.finding;
    v_units := v_units || v_found.unit_id;
    v_documents := v_documents || v_found.document_id;
    return next;
  end loop;
  if coalesce(p_repair, false) then
    perform iu_core.fn_vector_due(array_remove(v_units, null));
    insert into iu_core.vector_outbox as o (document_id, operation, content_hash, earliest_run_at)
    select d.document_id, 'upsert', d.content_hash, clock_timestamp()
      from iu_core.kb_document d where d.document_id = any (v_documents) order by d.document_id
    on conflict (document_id) where document_id is not null do update
       set generation = o.generation + 1, status = 'pending', first_enqueued_at = excluded.earliest_run_at,
           earliest_run_at = excluded.earliest_run_at, retry_count = 0, last_error = null, changed_at = excluded.earliest_run_at
     -- What was enqueued meanwhile is on its way.
     where o.status = 'done';
    perform pg_notify('stagedoor_vectors', '') where array_remove(v_documents, null) <> '{}';
  end if;
end $$;

grant execute on function iu_core.fn_search_audit_text(boolean, integer) to dot_executor, service_role;
