-- Staged rows are those of their upload: its workspace, client and platform, and a row type that a dataset has registered for
-- that platform. One look for all rows of a statement; these columns never change later, by the owner neither.
create or replace function iu_core.fn_ingest_rows_check() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_wrong record;
begin
  if tg_op = 'UPDATE' then
    raise exception using
      errcode = 'SD520',
      message = format('Rows of upload %s stay those of their upload, platform and row type', old.upload_id),
      detail = json_build_object('upload', old.upload_id, 'reason', 'a staged row does not change whose it is')::text;
  end if;
  select a.upload_id, a.platform, a.row_type, u.upload_id is null as unknown,
         (a.workspace_id, a.client_id, a.platform) is distinct from (u.workspace_id, u.client_id, u.platform) as foreign_row
    into v_wrong
    from (select distinct upload_id, workspace_id, client_id, platform, row_type from added) a
    left join iu_core.ingest_upload u on u.upload_id = a.upload_id
   where (a.workspace_id, a.client_id, a.platform) is distinct from (u.workspace_id, u.client_id, u.platform)
      or not exists (select from iu_core.ingest_row_type t where t.platform = a.platform and t.row_type = a.row_type)
   limit 1;
  if found then
    raise exception using
      errcode = 'SD520',
      message = case
        when v_wrong.unknown then format('There is no upload %s to stage rows for', v_wrong.upload_id)
        when v_wrong.foreign_row then format('Rows of upload %s have another workspace, client or platform than the upload', v_wrong.upload_id)
        else format('No dataset has registered %s rows of %s', v_wrong.platform, v_wrong.row_type) end,
      detail = json_build_object('upload', v_wrong.upload_id, 'reason', case
        when v_wrong.unknown then 'there is no such upload'
        when v_wrong.foreign_row then 'workspace, client and platform of a row are those of its upload'
        else format('no dataset has registered %s rows of %s', v_wrong.platform, v_wrong.row_type) end)::text;
  end if;
  return null;
end $$;

create or replace trigger staging_rows_of_their_upload after insert on public.staging_rows
  referencing new table as added for each statement execute function iu_core.fn_ingest_rows_check();
-- Named columns, so that nothing is evaluated for an update of others.
create or replace trigger staging_rows_stay_of_their_upload
  before update of upload_id, workspace_id, client_id, platform, row_type on public.staging_rows
  for each row when ((old.upload_id, old.workspace_id, old.client_id, old.platform, old.row_type)
                     is distinct from (new.upload_id, new.workspace_id, new.client_id, new.platform, new.row_type))
  execute function iu_core.fn_ingest_rows_check();
