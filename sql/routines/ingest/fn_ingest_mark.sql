-- Marks the staged rows of what was just written or found unchanged. No index holds what is set here, so the rows stay where
-- they are. p_all_inserted: the plan has every valid row of the type, and inserted it under the id of its staged row, so that
-- none has to be looked for. Internal.
create or replace function iu_core.fn_ingest_mark(p_upload_id uuid, p_row_type text, p_all_inserted boolean) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
-- The planner does not know how many rows of an upload there are that was staged a moment ago.
set enable_nestloop = off
set enable_indexscan = off
as $$
begin
  if p_all_inserted then
    update public.staging_rows
       set processing_action = 'insert', processed_at = now(), target_internal_id = id, updated_at = now()
     where upload_id = p_upload_id and row_type = p_row_type and validation_status = 'valid';
    return;
  end if;
  update public.staging_rows s
     set processing_action = n."#action"::public.staging_processing_action,
         processed_at = now(), target_internal_id = n."#id", updated_at = now()
    from pg_temp.ingest_now n
   where s.upload_id = p_upload_id and s.row_type = p_row_type and s.id = n."#staged";
end $$;
