-- A dataset may name a table of the user's that is told of uploads (public.data_uploads). Its triggers find what they call by
-- a plain name where they always do. Internal.
create or replace function iu_core.fn_ingest_tell_uploads_table(p_upload_id uuid, p_status text, p_row_count bigint)
returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  u iu_core.ingest_upload;
  v_table regclass;
begin
  select * into u from iu_core.ingest_upload where upload_id = p_upload_id;
  select to_regclass(definition ->> 'uploads') into v_table from iu_core.ingest_dataset where dataset = u.dataset;
  -- A dry run is nobody's business but ours.
  if v_table is null or u.run_mode = 'FULL_DRY_RUN' then
    return;
  end if;
  if p_status = 'pending' then
    execute format('insert into %s (id, workspace_id, client_id, platform, file_name, status) values ($1, $2, $3, $4, $5, $6)', v_table)
      using u.upload_id, u.workspace_id, u.client_id, u.platform, u.file_name, p_status;
  else
    begin
      execute format('update %s set status = $2, row_count = coalesce($3, row_count) where id = $1', v_table)
        using u.upload_id, p_status, p_row_count;
    exception when check_violation or invalid_text_representation or datatype_mismatch then
      -- Their table may not know the word undone; nothing of ours may hang on that.
      if p_status <> 'undone' then
        raise;
      end if;
      execute format('update %s set status = $2, row_count = coalesce($3, row_count) where id = $1', v_table)
        using u.upload_id, 'failed', p_row_count;
    end;
  end if;
end $$;
