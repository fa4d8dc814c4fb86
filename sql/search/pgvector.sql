-- Vectors in pgvector.

-- Creates the table of a collection in pgvector with its HNSW index (for at most 2,000 dimensions; longer vectors are compared
-- one by one). The worker has no right to create tables, but may call this. If the table exists, only the dimension is
-- compared.
create or replace function iu_core.fn_search_pgvector_ensure(p_collection text, p_dimension integer) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  t record := iu_core.fn_search_pgvector_table(p_collection);
  v_dimension integer;
begin
  if p_dimension is null or p_dimension not between 1 and 4096 then
    raise exception using errcode = 'SD001', message = 'A vector has from 1 to 4096 numbers';
  end if;
  perform pg_advisory_xact_lock(hashtextextended('stagedoor.pgvector', 0));
  select a.atttypmod into v_dimension from pg_attribute a where a.attrelid = to_regclass(t.relation) and a.attname = 'embedding';
  if v_dimension = p_dimension then
    return;
  elsif v_dimension is not null then
    raise exception using
      errcode = 'SD001', message = format('%s exists with vectors of %s numbers, not %s', p_collection, v_dimension, p_dimension);
  end if;
  execute format('create table %s (
                    chunk_id uuid primary key, workspace_id uuid not null, payload jsonb not null, embedding %s.vector(%s) not null)',
                 t.relation, t.extension_schema, p_dimension);
  execute format('create index on %s (workspace_id)', t.relation);
  if p_dimension <= 2000 then
    execute format('create index on %s using hnsw (embedding %s.vector_cosine_ops)', t.relation, t.extension_schema);
  end if;
  execute format('alter table %s enable row level security', t.relation);
  execute format('create policy search_vectors_service_reads on %s for select to service_role, dot_executor, vector_worker using (true)', t.relation);
  execute format('grant select on %s to service_role, dot_executor, vector_worker', t.relation);
end $$;

grant execute on function iu_core.fn_search_pgvector_ensure(text, integer) to vector_worker;

-- The table of a collection in pgvector, as text for dynamic SQL, after checking that it may be used. The name is derived from
-- the collection; the extension may be in any schema, so its type and operators are qualified. Internal.
create or replace function iu_core.fn_search_pgvector_table(
  p_collection text, out relation text, out extension_schema text, out extension_version integer[]
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  c iu_core.search_collection := iu_core.fn_search_collection_require_writable(p_collection);
begin
  if c.store <> 'pgvector' or length(p_collection) > 40 then
    raise exception using
      errcode = 'SD001', message = format('The vectors of %s are kept in %s, not in pgvector, or its name is too long', p_collection, c.store);
  end if;
  select quote_ident(n.nspname), string_to_array(substring(e.extversion from '^[0-9.]+'), '.')::integer[]
    into extension_schema, extension_version
    from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector';
  if extension_schema is null then
    raise exception using
      errcode = '0A000',
      message = 'this database has no extension vector',
      hint = 'An administrator runs CREATE EXTENSION vector in it, after installing pgvector on the server.';
  end if;
  relation := format('iu_core.%I', 'search_vectors_' || p_collection);
end $$;

-- Upserts points into pgvector: [{"id", "workspace_id", "payload", "vector": "[0.1,…]"}].
create or replace function iu_core.fn_search_pgvector_put(p_collection text, p_points jsonb) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  t record := iu_core.fn_search_pgvector_table(p_collection);
begin
  if jsonb_typeof(p_points) is distinct from 'array' then
    raise exception using errcode = 'SD001', message = 'The points must be an array';
  end if;
  execute format('insert into %1$s as v (chunk_id, workspace_id, payload, embedding)
                  select g.id, g.workspace_id, g.payload, g.vector::%2$s.vector
                    from jsonb_to_recordset($1) as g (id uuid, workspace_id uuid, payload jsonb, vector text) order by g.id
                  on conflict (chunk_id) do update
                     set workspace_id = excluded.workspace_id, payload = excluded.payload, embedding = excluded.embedding',
                 t.relation, t.extension_schema)
    using p_points;
end $$;

grant execute on function iu_core.fn_search_pgvector_put(text, jsonb) to vector_worker;

-- Deletes points from pgvector by id, or with NULL drops the table of the collection. Missing points are ignored.
create or replace function iu_core.fn_search_pgvector_delete(p_collection text, p_chunk_ids uuid[]) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  t record := iu_core.fn_search_pgvector_table(p_collection);
begin
  if p_chunk_ids is null then
    execute format('drop table if exists %s', t.relation);
  elsif to_regclass(t.relation) is not null then
    execute format('delete from %s where chunk_id = any ($1)', t.relation) using p_chunk_ids;
  end if;
end $$;

grant execute on function iu_core.fn_search_pgvector_delete(text, uuid[]) to vector_worker;

-- The nearest points of a workspace in pgvector, by cosine. The index is approximate and has no workspace: since pgvector 0.8
-- the scan continues until enough are found. With p_only the index is not used: the points are few, and are compared one by
-- one.
create or replace function iu_core.fn_search_pgvector_nearest(
  p_collection text, p_workspace_id uuid, p_vector text, p_limit integer, p_only uuid[] default null
) returns table (id uuid, score real)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  t record := iu_core.fn_search_pgvector_table(p_collection);
begin
  if p_workspace_id is null or p_vector is null or p_limit is null or p_limit < 0 then
    raise exception using errcode = 'SD001', message = 'A nearest search needs a workspace, a vector and a limit of at least 0';
  end if;
  perform set_config('hnsw.ef_search', least(greatest(p_limit, 40), 1000)::text, true);
  if t.extension_version >= '{0,8}' then
    perform set_config('hnsw.iterative_scan', 'strict_order', true);
  end if;
  return query execute format(
    case when p_only is null then
      'select v.chunk_id, (1 - (v.embedding operator(%2$s.<=>) $1::%2$s.vector))::real
         from %1$s as v where v.workspace_id = $2
        order by v.embedding operator(%2$s.<=>) $1::%2$s.vector, v.chunk_id limit $3'
    else
      'with allowed as materialized (select v.* from %1$s as v where v.workspace_id = $2 and v.chunk_id = any ($4))
       select v.chunk_id, (1 - (v.embedding operator(%2$s.<=>) $1::%2$s.vector))::real
         from allowed as v order by 2 desc, v.chunk_id limit $3'
    end, t.relation, t.extension_schema)
    using p_vector, p_workspace_id, p_limit, p_only;
end $$;

grant execute on function iu_core.fn_search_pgvector_nearest(text, uuid, text, integer, uuid[])
  to vector_worker, dot_executor, service_role;
