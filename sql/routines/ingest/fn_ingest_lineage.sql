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
declare
  v_ids uuid[] := array_remove(array[p_id], null);
  v_id_column text;
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  if num_nonnulls(p_id, p_key) <> 1 or jsonb_typeof(p_key) <> 'object' then
    raise exception using errcode = 'SD001', message = 'Name the row by its id, or by its key as a JSON object';
  end if;
  if p_id is null then
    -- Where rows have ids of ours the ledger knows them by those.
    select spec ->> 'id' into v_id_column
      from iu_core.ingest_dataset d, jsonb_array_elements(d.definition -> 'rows') spec
     where to_regclass(spec ->> 'target') = to_regclass(p_target) limit 1;
    if v_id_column is not null then
      execute format('select array_agg(t.%I) from %s t where to_jsonb(t) @> $1', v_id_column, to_regclass(p_target))
        into v_ids using p_key;
    end if;
  end if;
  return query
    select u.upload_id, u.file_name, u.file_hash, l.row_number, l.target, l.target_id, l.target_key, l.action,
           u.uploaded_by, p.approved_by, p.approved_at, p.promoted_by, p.promoted_at, p.undone_at, l.undo_outcome
      from iu_core.ingest_ledger l
      join iu_core.ingest_upload u using (upload_id)
      join iu_core.ingest_promotion p using (upload_id)
     where u.workspace_id = p_workspace_id and to_regclass(l.target) = to_regclass(p_target)
       and (l.target_id = any (v_ids)
            or (p_id is null and l.target_id is null and l.target = p_target
                and md5(l.target_key::text) = md5(p_key::text)))
     order by p.promoted_at desc;
end $$;

grant execute on function iu_core.fn_ingest_lineage(uuid, text, uuid, jsonb)
  to service_role, dot_executor, authenticated, stagedoor_reviewer;
