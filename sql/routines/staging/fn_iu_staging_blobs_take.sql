-- Takes blobs out of the trash, for whoever keeps those whose references begin with the scheme and a colon. In one
-- transaction: take, delete the blobs, commit. A rollback puts them back. Gives only those that no record refers to:
-- one that was staged again, or that another record still has, leaves the trash and stays.
create or replace function iu_core.fn_iu_staging_blobs_take(p_scheme text, p_limit integer default 100) returns setof text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_refs text[];
begin
  perform iu_core.fn_gate_require('iu_core.staging_cleanup_enabled');
  if p_scheme is null or p_scheme !~ '^[a-z][a-z0-9+.-]*$' then
    raise exception using errcode = 'SD001', message = format('%L is not the scheme of blob references', p_scheme);
  end if;
  if p_limit is null or p_limit < 1 then
    raise exception using errcode = 'SD001', message = 'The limit must be at least 1';
  end if;
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception using errcode = 'SD001',
      message = 'Blobs are taken in a read committed transaction: an older snapshot would not see who refers to them';
  end if;
  -- Passes over those that a transaction is staging now, or is trashing once more.
  with due as (
    select blob_ref from iu_core.iu_staging_blob_trash
     where starts_with(blob_ref, p_scheme || ':')
     order by trashed_at limit p_limit
       for update skip locked
  )
  select array_agg(blob_ref) into v_refs from due
   where pg_try_advisory_xact_lock(hashtextextended('stagedoor.blob:' || blob_ref, 0));
  -- A statement of its own: it sees everything that was staged before the locks were ours.
  return query
    with taken as (
      delete from iu_core.iu_staging_blob_trash t where t.blob_ref = any (v_refs) returning t.blob_ref
    ), forgotten as (
      delete from iu_core.stored_blob b
       where b.blob_ref = any (v_refs)
         and not exists (select from iu_core.iu_staging_payload p where p.blob_ref = b.blob_ref)
    )
    select taken.blob_ref from taken
     where not exists (select from iu_core.iu_staging_payload p where p.blob_ref = taken.blob_ref);
end $$;

grant execute on function iu_core.fn_iu_staging_blobs_take(text, integer) to dot_executor, service_role;
