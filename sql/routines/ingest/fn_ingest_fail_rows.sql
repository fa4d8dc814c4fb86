-- Rows that their table refuses: kept with the reason among the wrong ones, while the others go on. Internal.
create or replace function iu_core.fn_ingest_fail_rows(p_upload_id uuid, p_type record, p_row_numbers integer[], p_reason text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from pg_temp.ingest_now where "#row" = any (p_row_numbers);
  update iu_core.ingest_plan_row set action = 'refused', reason = 'failed: ' || p_reason
   where upload_id = p_upload_id and type_order = p_type.type_order and row_number = any (p_row_numbers);
  update public.staging_rows s
     set processing_action = 'failed', processed_at = now(), validation_status = 'invalid', validation_errors = coalesce(validation_errors, '[]') || jsonb_build_object(
           'line', s.row_number, 'rule', 'table.refused', 'message', p_reason,
           'suggestion', 'Correct the line and upload it again, or change the table.'),
         updated_at = now()
   where s.upload_id = p_upload_id and s.row_type = p_type.row_type and s.row_number = any (p_row_numbers);
end $$;
