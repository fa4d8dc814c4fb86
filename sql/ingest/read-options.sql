-- How files are to be read, as somebody said it for one file, remembered for their next files of the same shape.

-- Remembers how the file of an upload was to be read, for the next files of the same shape that the same person uploads to the same dataset and
-- platform. Options that were remembered for this shape and not chosen now stay. At most 50 shapes are kept for each person, dataset and
-- platform; the oldest are forgotten. For the back end, in the transaction that completes the reading.
create or replace function iu_core.fn_ingest_read_options_remember(p_upload_id uuid, p_shape text, p_columns text[], p_options jsonb) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  u iu_core.ingest_upload;
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'stage');
  select * into u from iu_core.ingest_upload where upload_id = p_upload_id;
  perform iu_core.fn_ingest_mapping_lock(u.workspace_id, u.dataset, u.platform);
  insert into iu_core.ingest_read_option as o (workspace_id, dataset, platform, author, shape, columns, options, upload_id)
  values (u.workspace_id, u.dataset, u.platform, u.uploaded_by, p_shape, p_columns, p_options, u.upload_id)
  on conflict on constraint ingest_read_option_once do update
     set columns = excluded.columns, options = o.options || excluded.options, upload_id = excluded.upload_id, remembered_at = clock_timestamp();
  delete from iu_core.ingest_read_option o
   where (o.workspace_id, o.dataset, o.platform, o.author) = (u.workspace_id, u.dataset, u.platform, u.uploaded_by)
     and o.shape in (select x.shape from iu_core.ingest_read_option x
                      where (x.workspace_id, x.dataset, x.platform, x.author) = (u.workspace_id, u.dataset, u.platform, u.uploaded_by)
                      order by x.remembered_at desc offset 50);
end $$;

grant execute on function iu_core.fn_ingest_read_options_remember(uuid, text, text[], jsonb) to service_role;

-- Forgets how files are to be read: of one shape, or of all (NULL). One's own; those of another author need the right to operate. The back end
-- forgets those of everybody if it names nobody. Returns how many were forgotten. Files that were read already stay as they are.
create or replace function iu_core.fn_ingest_read_options_forget(
  p_workspace_id uuid, p_dataset text, p_platform text, p_shape text default null, p_author text default null
) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_author text := coalesce(p_author, case when iu_core.fn_caller_is_service() then null else iu_core.fn_actor() end);
  v_count integer;
begin
  perform iu_core.require_member(p_workspace_id, case when v_author = iu_core.fn_actor() then 'stage' else 'operate' end);
  delete from iu_core.ingest_read_option o
   where o.workspace_id = p_workspace_id and o.dataset = p_dataset and o.platform = p_platform
     and (v_author is null or o.author = v_author) and (p_shape is null or o.shape = p_shape);
  get diagnostics v_count = row_count;
  return v_count;
end $$;

grant execute on function iu_core.fn_ingest_read_options_forget(uuid, text, text, text, text)
  to service_role, authenticated, stagedoor_agent, stagedoor_reviewer;
