-- Says whose a blob is that has just been stored, with its length and digest. Only that workspace stages it.
create or replace function iu_core.fn_blob_register(p_workspace_id uuid, p_blob_ref text, p_byte_len bigint, p_content_hash text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(p_workspace_id, 'stage');
  perform iu_core.fn_require_workspace(p_workspace_id);
  if p_blob_ref is null or p_blob_ref !~ '^[a-z][a-z0-9+.-]*:.' or length(p_blob_ref) > 1000 then
    raise exception using errcode = 'SD001', message = 'A reference to a blob has a scheme and a name, such as disk:…';
  end if;
  if p_byte_len is null or p_byte_len < 0 or p_content_hash is null or p_content_hash !~ '^[0-9a-f]{64}$' then
    raise exception using errcode = 'SD001', message = 'A blob has a length and the sha-256 of its bytes';
  end if;
  insert into iu_core.stored_blob (blob_ref, workspace_id, byte_len, content_hash, stored_by)
  values (p_blob_ref, p_workspace_id, p_byte_len, p_content_hash, iu_core.fn_actor())
  on conflict do nothing;
  if not exists (select from iu_core.stored_blob b
                  where b.blob_ref = p_blob_ref and b.workspace_id is not distinct from p_workspace_id
                    and (b.byte_len, b.content_hash) = (p_byte_len, p_content_hash)) then
    perform iu_core.fn_blob_refuse(p_blob_ref);
  end if;
end $$;

grant execute on function iu_core.fn_blob_register(uuid, text, bigint, text) to
  service_role, dot_executor, authenticated, stagedoor_agent, stagedoor_reviewer;
