-- Of blobs that somebody keeps: puts those into the trash that no record refers to. Returns how many. Whether nobody
-- is staging one of them at this very moment is settled when it is taken out (fn_iu_staging_blobs_take).
create or replace function iu_core.fn_iu_staging_blobs_orphaned(p_blob_refs text[]) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
begin
  perform iu_core.fn_gate_require('iu_core.staging_cleanup_enabled');
  if p_blob_refs is null then
    raise exception using errcode = 'SD001', message = 'The references must be an array, not NULL';
  end if;
  insert into iu_core.iu_staging_blob_trash (blob_ref)
  select distinct ref from unnest(p_blob_refs) as ref
   where ref is not null and not exists (select from iu_core.iu_staging_payload p where p.blob_ref = ref)
   order by ref
  on conflict do nothing;
  get diagnostics v_count = row_count;
  return v_count;
end $$;

grant execute on function iu_core.fn_iu_staging_blobs_orphaned(text[]) to dot_executor, service_role;
