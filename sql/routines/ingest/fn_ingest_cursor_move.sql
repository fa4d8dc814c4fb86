-- Where the next pull begins moves with the promotion; where it stood is kept beside it, for an undo. Internal.
create or replace function iu_core.fn_ingest_cursor_move(u iu_core.ingest_upload) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if u.cursor_name is null then
    return;
  end if;
  -- (Promotions for one client wait for each other, so nobody moves it in between.)
  update iu_core.ingest_promotion
     set cursor_before = (
           select jsonb_build_object('upload_id', c.upload_id, 'value', c.cursor_value) from iu_core.ingest_cursor c
            where c.workspace_id = u.workspace_id and c.client_id = u.client_id and c.dataset = u.dataset
              and c.platform = u.platform and c.cursor_name = u.cursor_name)
   where upload_id = u.upload_id;
  insert into iu_core.ingest_cursor as c (workspace_id, client_id, dataset, platform, cursor_name, cursor_value, upload_id)
  values (u.workspace_id, u.client_id, u.dataset, u.platform, u.cursor_name, u.cursor_value, u.upload_id)
  on conflict (workspace_id, client_id, dataset, platform, cursor_name) do update
     set cursor_value = excluded.cursor_value, upload_id = excluded.upload_id, committed_at = clock_timestamp();
end $$;
