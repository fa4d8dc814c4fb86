-- The blobs that a record refers to are its workspace's own, of the length and digest that were stored. People and playbooks stage only
-- what was registered (fn_blob_register). Back-end code, which keeps blobs in ways of its own, may name new ones: they become the
-- workspace's with this record, and never another's. Internal: create calls it.
create or replace function iu_core.fn_blobs_bind(p_workspace_id uuid, p_parts jsonb[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ref text;
begin
  if iu_core.fn_caller_is_service() and iu_core.fn_execution_current() is null then
    insert into iu_core.stored_blob (blob_ref, workspace_id, byte_len, content_hash, stored_by)
    select distinct on (part ->> 'blob_ref') part ->> 'blob_ref', p_workspace_id, (part ->> 'byte_len')::bigint, part ->> 'content_hash',
           iu_core.fn_actor()
      from unnest(p_parts) as part
     where part ->> 'payload_kind' = 'blob_ref'
     order by part ->> 'blob_ref'
    on conflict do nothing;
  end if;
  select part ->> 'blob_ref' into v_ref
    from unnest(p_parts) as part
   where part ->> 'payload_kind' = 'blob_ref'
     and not exists (select from iu_core.stored_blob b
                      where b.blob_ref = part ->> 'blob_ref' and b.workspace_id is not distinct from p_workspace_id
                        and b.byte_len = (part ->> 'byte_len')::bigint and b.content_hash = part ->> 'content_hash')
   limit 1;
  if found then
    perform iu_core.fn_blob_refuse(v_ref);
  end if;
end $$;
