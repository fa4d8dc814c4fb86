-- A document of the old knowledge base that changed is projected again, in the transaction of the change: one row for it, not
-- before there is quiet. One that was only cut is not: its pieces are.
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
                                   case when o.status in ('done', 'dead_letter') then v_now else o.first_enqueued_at end + v_policy.longest_wait end),
         retry_count = 0, last_error = null,
         worker_id = case o.status when 'processing' then o.worker_id end,
         changed_at = v_now;
  return null;
end $$;

create or replace trigger kb_document_is_projected
  after insert or update of body, title, language, deleted_at, origin on iu_core.kb_document
  for each row execute function iu_core.fn_vector_enqueue_document();
