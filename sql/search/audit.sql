-- The audit of the vector stores against PostgreSQL, and its repair.

-- Compares points that a store holds with PostgreSQL: one page of an unfiltered scroll, as [{"id", "payload"}]. Findings:
--   staging  its id or its payload names something of the staging zone, other than as part of its unit's own address
--   orphan   PostgreSQL has no such point or no text of it, or has removed it, and no removal is pending
--   payload  its source differs from PostgreSQL
-- In the legacy collection only staging, and documents that do not exist. For back-end code; changes nothing.
create or replace function iu_core.fn_search_audit(p_collection text, p_points jsonb)
returns table (id text, finding text, detail text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_legacy boolean;
  v_own_payload boolean;
begin
  perform iu_core.require_member(null, 'administer');
  if jsonb_typeof(p_points) is distinct from 'array' then
    raise exception using errcode = 'SD001', message = 'The points must be an array';
  end if;
  -- In the store postgres the payload is what the tables say.
  select c.state = 'legacy', c.store <> 'postgres' into v_legacy, v_own_payload from iu_core.search_collection c where c.collection = p_collection;
  if v_legacy is null then
    raise exception using
      errcode = 'SD915',
      message = format('There is no collection %s', coalesce(p_collection, 'NULL')),
      detail = json_build_object('collection', p_collection)::text;
  end if;
  return query
    with seen as materialized (
      select s ->> 'id' as id, coalesce(s -> 'payload', '{}') as payload,
             case when s ->> 'id' ~* '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$' then (s ->> 'id')::uuid end as chunk_id
        from jsonb_array_elements(p_points) as s
    ), named as (
      select distinct s.id, lower(m.found[1])::uuid as named
        from seen s
       -- A unit's address may contain a staging id: drafts/<staging id>.
       cross join lateral (select case when exists (select from iu_core.information_unit u
                                                     where u.unit_id::text = s.payload ->> 'unit_id'
                                                       and u.canonical_address = s.payload ->> 'canonical_address')
                                       then s.payload - 'canonical_address' else s.payload end as payload) as x
       cross join lateral regexp_matches(s.id || ' ' || x.payload::text,
                                         '([0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12})', 'g') as m (found)
    ), staged as (
      select n.id, min(n.named::text) as named from named n
       where exists (select from iu_core.iu_staging_record r where r.staging_record_id = n.named)
          or exists (select from iu_core.iu_staging_payload p where p.staging_payload_id = n.named)
       group by n.id
    )
    select t.id, 'staging', 'names ' || t.named from staged t
    union all
    select s.id, 'orphan',
           case when p.state is null then 'Postgres knows no such point' when p.state = 'removed' then 'it was removed'
                else 'search has no such text' end
      from seen s
      left join iu_core.search_point p on p.collection = p_collection and p.chunk_id = s.chunk_id
      left join lateral (select x.status from iu_core.vector_outbox x where x.unit_id = p.unit_id
                          union all
                         select x.status from iu_core.vector_outbox x where x.row_id = p.row_id) as o on true
     where not v_legacy and not exists (select from staged t where t.id = s.id)
       -- In the store postgres the record of a point is the point: the texts tell whether it should be there.
       and (p.chunk_id is null
            or (p.state = 'removed' or not exists (select from iu_core.search_chunk c where c.chunk_id = p.chunk_id))
               and coalesce(o.status in ('done', 'dead_letter'), true))
    union all
    select s.id, 'payload', 'it says to be of the row ' || coalesce(s.payload ->> 'row_id', '(none)')
      from seen s
      join iu_core.search_point p on p.collection = p_collection and p.chunk_id = s.chunk_id and p.state = 'written'
      join iu_core.search_row r on r.row_id = p.row_id
     where not v_legacy and not exists (select from staged t where t.id = s.id)
       and (s.payload ->> 'row_id' is distinct from r.row_id::text
            or exists (select from iu_core.search_chunk c where c.chunk_id = p.chunk_id and c.row_id is distinct from p.row_id)
            or v_own_payload and s.payload ->> 'workspace_id' is distinct from r.workspace_id::text)
    union all
    select s.id, 'payload', 'it says to be of ' || coalesce(s.payload ->> 'unit_id', 'nothing')
      from seen s
      join iu_core.search_point p on p.collection = p_collection and p.chunk_id = s.chunk_id and p.state = 'written'
      join iu_core.information_unit u on u.unit_id = p.unit_id
     where not v_legacy and not exists (select from staged t where t.id = s.id)
       and (s.payload ->> 'unit_id' is distinct from u.unit_id::text
            or exists (select from iu_core.search_chunk c where c.chunk_id = p.chunk_id and c.unit_id is distinct from p.unit_id)
            or v_own_payload and s.payload ->> 'workspace_id' is distinct from u.workspace_id::text
            or v_own_payload and not exists (select from iu_core.unit_version v
                            where v.unit_id = u.unit_id and v.content_hash = s.payload ->> 'content_hash_at_embedding'))
    union all
    select s.id, 'orphan', 'there is no document ' || coalesce(s.payload ->> 'document_id', '(none named)')
      from seen s
     where v_legacy and not exists (select from staged t where t.id = s.id)
       and not exists (select from iu_core.kb_document d
                        where d.deleted_at is null and s.payload ->> 'document_id' in (d.document_id::text, d.source_ref));
end $$;

grant execute on function iu_core.fn_search_audit(text, jsonb) to dot_executor, service_role;

-- Finds errors inside PostgreSQL: units and documents that should be in search and are not, or are in search and should not be,
-- and that have no pending work.
--   missing  no text in search, or that of another version
--   left     it was deleted or retired, or is a document that was only cut
-- p_repair projects them again. For back-end code.
create or replace function iu_core.fn_search_audit_text(p_repair boolean default false, p_limit integer default 1000)
returns table (unit_id uuid, document_id uuid, finding text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_found record;
  v_units uuid[] := '{}';
  v_documents uuid[] := '{}';
begin
  perform iu_core.require_member(null, 'administer');
  for v_found in
    (select u.unit_id, null::uuid as document_id, case when x.is_removed then 'left' else 'missing' end as finding
       from iu_core.information_unit u
       left join iu_core.vector_outbox o on o.unit_id = u.unit_id
      cross join lateral (select u.deleted_at is not null or u.lifecycle_status = 'retired' as is_removed,
                                 (select min(c.content_hash_at_embedding) from iu_core.search_chunk c where c.unit_id = u.unit_id) as hash) as x
      where coalesce(o.status, 'done') = 'done'
        and case when x.is_removed then x.hash is not null else x.hash is distinct from u.content_hash end
      order by u.unit_id limit p_limit)
    union all
    (select null, d.document_id, case when x.is_removed then 'left' else 'missing' end
       from iu_core.kb_document d
       left join iu_core.vector_outbox o on o.document_id = d.document_id
      cross join lateral (select d.deleted_at is not null or d.origin = 'cut' as is_removed,
                                 (select min(c.content_hash_at_embedding) from iu_core.search_chunk c where c.document_id = d.document_id) as hash) as x
      where coalesce(o.status, 'done') = 'done'
        and case when x.is_removed then x.hash is not null else x.hash is distinct from d.content_hash end
      order by d.document_id limit p_limit)
  loop
    unit_id := v_found.unit_id;
    document_id := v_found.document_id;
    finding := v_found.finding;
    v_units := v_units || v_found.unit_id;
    v_documents := v_documents || v_found.document_id;
    return next;
  end loop;
  if coalesce(p_repair, false) then
    perform iu_core.fn_vector_enqueue_now(array_remove(v_units, null));
    insert into iu_core.vector_outbox as o (document_id, operation, content_hash, earliest_run_at)
    select d.document_id, 'upsert', d.content_hash, clock_timestamp()
      from iu_core.kb_document d where d.document_id = any (v_documents) order by d.document_id
    on conflict (document_id) where document_id is not null do update
       set generation = o.generation + 1, status = 'pending', first_enqueued_at = excluded.earliest_run_at,
           earliest_run_at = excluded.earliest_run_at, retry_count = 0, last_error = null, changed_at = excluded.earliest_run_at
     -- Units enqueued meanwhile are already pending.
     where o.status = 'done';
    perform pg_notify('stagedoor', 'search ') where array_remove(v_documents, null) <> '{}';
  end if;
end $$;

grant execute on function iu_core.fn_search_audit_text(boolean, integer) to dot_executor, service_role;

-- Repairs points that PostgreSQL records as written and the store lacks or holds wrongly: a worker writes them again at once.
-- p_removed: surplus points that were deleted from the store by id; those that are wanted by now are written again too. Returns
-- how many of p_chunk_ids are repaired. Never for the legacy collection.
create or replace function iu_core.fn_search_audit_repair(p_collection text, p_chunk_ids uuid[], p_removed uuid[] default '{}') returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_units uuid[];
  v_rows uuid[];
  v_count integer;
begin
  perform iu_core.require_member(null, 'administer');
  if exists (select from iu_core.search_collection c where c.collection = p_collection and c.state = 'legacy') then
    raise exception using
      errcode = 'SD916',
      message = format('The collection %s belongs to the old knowledge base and is read-only', p_collection),
      detail = json_build_object('collection', p_collection)::text;
  end if;
  perform iu_core.fn_vector_points_confirm_removed(p_collection, p_removed);
  -- Recorded for another unit than its text is of.
  delete from iu_core.search_point p
   using iu_core.search_chunk c
   where p.collection = p_collection and p.chunk_id = any (p_chunk_ids) and c.chunk_id = p.chunk_id
     and (c.unit_id, c.row_id) is distinct from (p.unit_id, p.row_id);
  with again as (
    update iu_core.search_point p
       set state = 'writing', vector = null, generation = -1, tx = pg_current_xact_id(), changed_at = clock_timestamp() - interval '1 minute'
     where p.collection = p_collection and p.chunk_id = any (p_chunk_ids) and p.state = 'written'
    returning p.unit_id, p.row_id
  )
  select array_agg(distinct a.unit_id order by a.unit_id) filter (where a.unit_id is not null),
         array_agg(distinct a.row_id order by a.row_id) filter (where a.row_id is not null), count(*) into v_units, v_rows, v_count
    from (select unit_id, row_id from again
          union all
          select c.unit_id, c.row_id from iu_core.search_chunk c
           where c.chunk_id = any (p_chunk_ids) and c.document_id is null
             and not exists (select from iu_core.search_point p where p.collection = p_collection and p.chunk_id = c.chunk_id)) a;
  perform iu_core.fn_vector_enqueue_now(v_units);
  perform iu_core.fn_search_rows_enqueue_now(v_rows);
  return v_count;
end $$;

grant execute on function iu_core.fn_search_audit_repair(text, uuid[], uuid[]) to dot_executor, service_role;

-- Compares a page of a table in search with what search has of it, in key order from p_after on: rows of which search has no text, or
-- another one, and no pending work. It runs with the rights of vector_worker, because it reads the table. `next`: the key after which
-- the next page begins, NULL after the last.
create or replace function iu_core.fn_search_audit_table(p_table_id uuid, p_after text[] default null, p_page integer default 1000,
                                                         out next text[], out missing jsonb)
language plpgsql
set timezone = 'UTC'
set datestyle = 'ISO, YMD'
set intervalstyle = 'iso_8601'
set bytea_output = 'hex'
set extra_float_digits = 1
as $$
declare
  t iu_core.search_table;
  v_workspaces uuid[];
  v_keys jsonb;
begin
  select * into t from iu_core.search_table x where x.table_id = p_table_id and x.state = 'active';
  if not found then
    return;
  end if;
  execute t.page_sql into v_workspaces, v_keys using p_after, p_page;
  if pg_catalog.cardinality(v_workspaces) = p_page then
    next := array(select pg_catalog.jsonb_array_elements_text(v_keys -> -1));
  end if;
  select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('row_id', r.row_id, 'workspace_id', r.workspace_id, 'key', r.key)) into missing
    from (select iu_core.fn_search_row_id(p_table_id, w.workspace_id, k.key) as row_id, w.workspace_id, k.key
            from pg_catalog.unnest(v_workspaces) with ordinality as w (workspace_id, n)
            join pg_catalog.jsonb_array_elements(v_keys) with ordinality as j (value, n) on j.n = w.n
           cross join lateral (select array(select pg_catalog.jsonb_array_elements_text(j.value)) as key) as k
           where w.workspace_id is not null) as r
    left join iu_core.fn_search_rows_read(null, array(
           select iu_core.fn_search_row_id(p_table_id, w.workspace_id, array(select pg_catalog.jsonb_array_elements_text(j.value)))
             from pg_catalog.unnest(v_workspaces) with ordinality as w (workspace_id, n)
             join pg_catalog.jsonb_array_elements(v_keys) with ordinality as j (value, n) on j.n = w.n
            where w.workspace_id is not null)) as now on now.row_id = r.row_id
    left join iu_core.vector_outbox o on o.row_id = r.row_id
   where coalesce(o.status, 'done') = 'done' and now.problem is null
     -- Not one that was deleted since the page was read.
     and (now.row_id is not null or not exists (select from iu_core.search_row k where k.row_id = r.row_id))
     and not exists (select from iu_core.search_row_change c where c.table_id = p_table_id and c.key = r.key)
     and coalesce(now.body, 'x') <> ''
     and not exists (select from iu_core.search_chunk c where c.row_id = r.row_id and c.content_hash_at_embedding = now.content_hash);
end $$;

grant execute on function iu_core.fn_search_audit_table(uuid, text[], integer) to vector_worker;

-- The other direction: rows that search has and the table has no more, in the order of their ids, without pending work. For
-- vector_worker, which reads the table. `next`: the id after which the next page begins.
create or replace function iu_core.fn_search_audit_rows(p_table_id uuid, p_after uuid default null, p_page integer default 1000,
                                                        out next uuid, out leftover jsonb)
language plpgsql
as $$
declare
  v_rows uuid[];
begin
  select pg_catalog.array_agg(x.row_id order by x.row_id) into v_rows
    from (select r.row_id
            from iu_core.search_row r join iu_core.search_table t on t.table_id = r.table_id
           where r.table_id = p_table_id and t.state = 'active' and (p_after is null or r.row_id > p_after)
             and exists (select from iu_core.search_chunk c where c.row_id = r.row_id)
           order by r.row_id limit p_page) as x;
  if pg_catalog.cardinality(v_rows) = p_page then
    next := v_rows[p_page];
  end if;
  select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('row_id', r.row_id, 'workspace_id', r.workspace_id, 'key', r.key)) into leftover
    from iu_core.search_row r
    left join iu_core.vector_outbox o on o.row_id = r.row_id
   where r.row_id = any (v_rows) and coalesce(o.status, 'done') = 'done'
     and not exists (select from iu_core.search_row_change c where c.table_id = p_table_id and c.key = r.key)
     and not exists (select from iu_core.fn_search_rows_read(null, v_rows) as now where now.row_id = r.row_id);
end $$;

grant execute on function iu_core.fn_search_audit_rows(uuid, uuid, integer) to vector_worker;

-- Projects rows of a table again that the audit found missing or left over: [{row_id, workspace_id, key}]. For back-end code.
create or replace function iu_core.fn_search_audit_repair_rows(p_table_id uuid, p_rows jsonb) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rows uuid[];
begin
  perform iu_core.require_member(null, 'administer');
  with named as (
    select iu_core.fn_search_row_id(p_table_id, s.workspace_id, s.key) as row_id, s.workspace_id, s.key
      from jsonb_array_elements(p_rows) as j
     cross join lateral (select (j ->> 'workspace_id')::uuid as workspace_id, array(select jsonb_array_elements_text(j -> 'key')) as key) as s
  ), known as (
    insert into iu_core.search_row as r (row_id, table_id, workspace_id, key, seen_pass)
    select n.row_id, t.table_id, n.workspace_id, n.key, t.scan_pass
      from named n join iu_core.search_table t on t.table_id = p_table_id and t.state = 'active' order by n.row_id
    on conflict (row_id) do update set seen_pass = excluded.seen_pass
    returning r.row_id
  )
  select array_agg(k.row_id order by k.row_id) into v_rows from known k;
  perform iu_core.fn_search_rows_enqueue_now(v_rows);
  return coalesce(cardinality(v_rows), 0);
end $$;

grant execute on function iu_core.fn_search_audit_repair_rows(uuid, jsonb) to dot_executor, service_role;
