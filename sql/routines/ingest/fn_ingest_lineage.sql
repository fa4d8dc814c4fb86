-- Where a production row comes from: every promotion that wrote it, the newest first. By its id, or by its key.
create or replace function iu_core.fn_ingest_lineage(
  p_workspace_id uuid, p_target text, p_id uuid default null, p_key jsonb default null
)
returns table (
  upload_id uuid, file_name text, file_hash text, line integer, target text, target_id uuid, target_key jsonb, action text,
  uploaded_by text, approved_by text, approved_at timestamptz, promoted_by text, promoted_at timestamptz,
  undone_at timestamptz, undo_outcome text
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  if num_nonnulls(p_id, p_key) <> 1 then
    raise exception using errcode = 'SD001', message = 'Name the row by its id or by its key';
  end if;
  return query
    select u.upload_id, u.file_name, u.file_hash, l.row_number, l.target, l.target_id, l.target_key, l.action,
           u.uploaded_by, p.approved_by, p.approved_at, p.promoted_by, p.promoted_at, p.undone_at, l.undo_outcome
      from iu_core.ingest_ledger l
      join iu_core.ingest_upload u using (upload_id)
      join iu_core.ingest_promotion p using (upload_id)
     where u.workspace_id = p_workspace_id
       and to_regclass(l.target) = to_regclass(p_target)
       and (l.target_id = p_id
            or (l.target_id is null and l.target = p_target and md5(l.target_key::text) = md5(p_key::text) and l.target_key = p_key)
            or (p_id is null and l.target_id is not null and l.target_key @> p_key and l.target = p_target))
     order by p.promoted_at desc;
end $$;

grant execute on function iu_core.fn_ingest_lineage(uuid, text, uuid, jsonb)
  to service_role, dot_executor, authenticated, stagedoor_reviewer;
