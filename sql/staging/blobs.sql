-- Blobs of staging records: bound to a workspace, kept while a record refers to them, then deleted.

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

-- The same answer for a blob that is not there and for one of another workspace. Internal.
create or replace function iu_core.fn_blob_refuse(p_blob_ref text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'SD513',
    message = format('There is no blob %s in this workspace, of this length and digest', left(p_blob_ref, 200)),
    detail = json_build_object('ref', left(p_blob_ref, 200))::text;
end $$;

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
