-- The client that an upload is for, if it is one of the workspace's; the workspace itself where a dataset has no clients.
-- Internal.
create or replace function iu_core.fn_ingest_client(p_definition jsonb, p_workspace_id uuid, p_client_id uuid) returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_clients jsonb := p_definition -> 'client';
  v_found boolean;
begin
  if coalesce(v_clients, 'null') = 'null' then
    if p_client_id is not null and p_client_id <> p_workspace_id then
      raise exception using errcode = 'SD610',
        message = format('The dataset %s has no clients', p_definition ->> 'name'),
        detail = json_build_object('client', p_client_id)::text;
    end if;
    return p_workspace_id;
  end if;
  execute format('select exists (select from %s c where c.%I = $1 and c.%I = $2)',
                 iu_core.fn_ingest_table_sql((v_clients ->> 'table')::regclass), v_clients ->> 'id', v_clients ->> 'workspace')
    into v_found using p_client_id, p_workspace_id;
  if not v_found then
    raise exception using
      errcode = 'SD610',
      message = case when p_client_id is null then 'Say for which client this upload is'
                     else format('The workspace has no client %s', p_client_id) end,
      detail = json_build_object('client', p_client_id)::text;
  end if;
  return p_client_id;
end $$;
