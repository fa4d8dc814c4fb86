-- Counts of an upload's lines by verdict, as they are now. Internal.
create or replace function iu_core.fn_ingest_recount(p_upload_id uuid, p_leaf text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update iu_core.ingest_upload u
     set line_count = c.lines, valid_count = c.valid, invalid_count = c.invalid, skipped_count = c.skipped,
         warning_count = c.warned
    from (select count(*) as lines,
                 count(*) filter (where validation_status = 'valid') as valid,
                 count(*) filter (where validation_status = 'invalid') as invalid,
                 count(*) filter (where validation_status = 'skipped') as skipped,
                 count(*) filter (where validation_warnings <> '[]') as warned
            from public.staging_rows where upload_id = p_upload_id and row_type = p_leaf) c
   where u.upload_id = p_upload_id;
end $$;
