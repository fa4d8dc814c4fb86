-- The lines that are about to be corrected, as they are now. Whoever asked is alone with the upload until the end of the
-- transaction: of two people who correct two cells of one line neither overwrites what the other has done. For the back end.
create or replace function iu_core.fn_ingest_repair_lines(p_upload_id uuid, p_lines integer[])
returns table (row_number integer, raw_payload jsonb)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  u iu_core.ingest_upload;
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'stage');
  u := iu_core.fn_ingest_lock(p_upload_id, array['staged', 'planned'], 'repaired');
  perform iu_core.fn_ingest_as_read(u);
  return query
    select s.row_number, s.raw_payload from public.staging_rows s
     where s.upload_id = p_upload_id and s.row_type = u.reading -> 'layout' ->> 'leaf' and s.row_number = any (p_lines)
     order by s.row_number;
end $$;

grant execute on function iu_core.fn_ingest_repair_lines(uuid, integer[]) to service_role;
