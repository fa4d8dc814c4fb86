-- Holds blobs until the end of the transaction, so that nobody takes them out of the trash while they are staged again.
-- Internal: create calls it. Whoever can see the blobs themselves looks whether they are there after this, not before.
create or replace function iu_core.fn_iu_staging_blobs_hold(p_blob_refs text[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_trashed text[] := array(
    select t.blob_ref from iu_core.iu_staging_blob_trash t where t.blob_ref = any (p_blob_refs));
  v_gone text;
begin
  -- Shared: any number of records may stage the same blob at once. Whoever takes it out of the trash needs it alone.
  perform pg_advisory_xact_lock_shared(hashtextextended('stagedoor.blob:' || ref, 0)) from unnest(p_blob_refs) as ref;
  select ref into v_gone from unnest(v_trashed) as ref
   where not exists (select from iu_core.iu_staging_blob_trash t where t.blob_ref = ref)
     and not exists (select from iu_core.iu_staging_payload p where p.blob_ref = ref)
   limit 1;
  if found then
    raise exception using
      errcode = 'SD513',
      message = format('There is no blob %s any more: it was in the trash, and has just been deleted', v_gone),
      detail = json_build_object('ref', v_gone)::text;
  end if;
end $$;
