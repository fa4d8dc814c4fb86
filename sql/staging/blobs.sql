-- Blobs of staging records: each belongs to one workspace, is kept while a record refers to it, and is deleted afterwards.

-- Registers a blob that has just been stored: its workspace, length and digest. Only that workspace can stage it.
create or replace function iu_core.fn_blob_register(p_workspace_id uuid, p_blob_ref text, p_byte_len bigint, p_content_hash text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(p_workspace_id, 'stage');
  perform iu_core.fn_require_workspace(p_workspace_id);
  if p_blob_ref is null or p_blob_ref !~ '^[a-z][a-z0-9+.-]*:.' or length(p_blob_ref) > 1000 then
    raise exception using errcode = 'SD001', message = 'A blob reference needs a scheme and a name, such as disk:…';
  end if;
  if p_byte_len is null or p_byte_len < 0 or p_content_hash is null or p_content_hash !~ '^[0-9a-f]{64}$' then
    raise exception using errcode = 'SD001', message = 'A blob needs a length and the sha-256 of its bytes';
  end if;
  insert into iu_core.stored_blob (blob_ref, workspace_id, byte_len, content_hash, stored_by)
  values (p_blob_ref, p_workspace_id, p_byte_len, p_content_hash, iu_core.fn_actor())
  on conflict do nothing;
  if not exists (select from iu_core.stored_blob b
                  where b.blob_ref = p_blob_ref and b.workspace_id is not distinct from p_workspace_id
                    and (b.byte_len, b.content_hash) = (p_byte_len, p_content_hash)) then
    perform iu_core.fn_blob_raise_missing(p_blob_ref);
  end if;
end $$;

grant execute on function iu_core.fn_blob_register(uuid, text, bigint, text) to
  service_role, dot_executor, authenticated, stagedoor_agent, stagedoor_reviewer;

-- Raises blob_missing: the same error for a blob that does not exist and for one of another workspace. Internal.
create or replace function iu_core.fn_blob_raise_missing(p_blob_ref text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'SD513',
    message = format('There is no blob %s in this workspace with this length and digest', left(p_blob_ref, 200)),
    detail = json_build_object('ref', left(p_blob_ref, 200))::text;
end $$;

-- Checks that the blobs of a record belong to its workspace and have the length and digest that were stored. People and
-- playbooks can stage only registered blobs (fn_blob_register). Back-end code, which may store blobs in its own way, can name
-- new ones: they then belong to the workspace of this record. Internal: called by create.
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
    perform iu_core.fn_blob_raise_missing(v_ref);
  end if;
end $$;

-- Locks blobs until the end of the transaction, so that nobody takes them out of the trash while they are staged again.
-- Internal: called by create. A caller that can see the blobs themselves checks that they exist after this call, not before.
create or replace function iu_core.fn_iu_staging_blobs_lock(p_blob_refs text[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_trashed text[] := array(
    select t.blob_ref from iu_core.iu_staging_blob_trash t where t.blob_ref = any (p_blob_refs));
  v_gone text;
begin
  -- A shared lock: several records may stage the same blob at once. Claiming it from the trash needs an exclusive lock.
  perform pg_advisory_xact_lock_shared(hashtextextended('stagedoor.blob:' || ref, 0)) from unnest(p_blob_refs) as ref;
  select ref into v_gone from unnest(v_trashed) as ref
   where not exists (select from iu_core.iu_staging_blob_trash t where t.blob_ref = ref)
     and not exists (select from iu_core.iu_staging_payload p where p.blob_ref = ref)
   limit 1;
  if found then
    raise exception using
      errcode = 'SD513',
      message = format('The blob %s has just been deleted, because no record referred to it', v_gone),
      detail = json_build_object('ref', v_gone)::text;
  end if;
end $$;

-- Takes blobs out of the trash for the process that stores blobs with this reference scheme. In one transaction: claim, delete
-- the blobs, commit; a rollback puts them back. Returns only blobs that no record refers to. A blob that was staged again, or
-- that another record still has, leaves the trash and stays.
create or replace function iu_core.fn_iu_staging_blobs_claim(p_scheme text, p_limit integer default 100) returns setof text
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
      message = 'Blobs must be claimed in a read committed transaction: an older snapshot would miss new references';
  end if;
  -- Skips blobs that a transaction is staging now, or is trashing again.
  with due as (
    select blob_ref from iu_core.iu_staging_blob_trash
     where starts_with(blob_ref, p_scheme || ':')
     order by trashed_at limit p_limit
       for update skip locked
  )
  select array_agg(blob_ref) into v_refs from due
   where pg_try_advisory_xact_lock(hashtextextended('stagedoor.blob:' || blob_ref, 0));
  -- A separate statement: it sees everything that was staged before we got the locks.
  return query
    with taken as (
      delete from iu_core.iu_staging_blob_trash t where t.blob_ref = any (v_refs) returning t.blob_ref
    ), unregistered as (
      delete from iu_core.stored_blob b
       where b.blob_ref = any (v_refs)
         and not exists (select from iu_core.iu_staging_payload p where p.blob_ref = b.blob_ref)
    )
    select taken.blob_ref from taken
     where not exists (select from iu_core.iu_staging_payload p where p.blob_ref = taken.blob_ref);
end $$;

grant execute on function iu_core.fn_iu_staging_blobs_claim(text, integer) to dot_executor, service_role;

-- Puts those of the given blobs into the trash that no record refers to. Returns how many. fn_iu_staging_blobs_claim checks
-- again whether one of them is being staged at that moment.
create or replace function iu_core.fn_iu_staging_blobs_trash_orphans(p_blob_refs text[]) returns integer
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

grant execute on function iu_core.fn_iu_staging_blobs_trash_orphans(text[]) to dot_executor, service_role;
