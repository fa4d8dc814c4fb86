-- Where a production row comes from: the promotions that wrote it, the newest first, 500 at most. By its id, or by its whole
-- key; the workspace's own column may be left out of it. Not for agents, who know of their own uploads only.
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
  v_id uuid := p_id;
  v_key jsonb;
  v_role text;
  -- The ledger has the name that the dataset gave it; the caller may write it another way.
  v_names text[] := array(select spec ->> 'target' from iu_core.ingest_dataset d, jsonb_array_elements(d.definition -> 'rows') spec
                           where to_regclass(spec ->> 'target') = to_regclass(p_target)) || p_target;
begin
  v_role := iu_core.require_member(p_workspace_id, 'read');
  if v_role = 'agent' then
    raise exception using
      errcode = 'SD202',
      message = 'An agent knows of its own uploads only, not where rows come from',
      detail = json_build_object('actor', iu_core.fn_actor(), 'role', 'agent', 'right', 'read')::text;
  end if;
  if num_nonnulls(p_id, p_key) <> 1 or jsonb_typeof(p_key) <> 'object' then
    raise exception using errcode = 'SD001', message = 'Name the row by its id, or by its key as a JSON object';
  end if;
  if to_regclass(p_target) is null then
    raise exception using errcode = 'SD001', message = format('There is no table %s', coalesce(p_target, 'NULL')),
      hint = 'Name it with its schema, as the dataset does: public.daily_metrics.';
  end if;
  if p_id is null then
    select k.id, k.key into v_id, v_key from iu_core.fn_ingest_row_by_key(p_workspace_id, p_target, p_key) k;
  end if;
  return query
    select u.upload_id, u.file_name, u.file_hash, l.row_number, l.target, l.target_id, l.target_key, l.action,
           u.uploaded_by, p.approved_by, p.approved_at, p.promoted_by, p.promoted_at, p.undone_at, l.undo_outcome
      from iu_core.ingest_ledger l
      join iu_core.ingest_upload u using (upload_id)
      join iu_core.ingest_promotion p using (upload_id)
     where u.workspace_id = p_workspace_id and to_regclass(l.target) = to_regclass(p_target)
       and (l.target_id = v_id
            or (l.target_id is null and l.target = any (v_names) and md5(l.target_key::text) = md5(v_key::text)))
     order by p.promoted_at desc limit 500;
end $$;

grant execute on function iu_core.fn_ingest_lineage(uuid, text, uuid, jsonb)
  to service_role, dot_executor, authenticated, stagedoor_reviewer;
