-- Makes the table of a collection in pgvector with its HNSW index (of at most 2,000 numbers; vectors of more are compared one by
-- one). The worker has no right to make tables; it may call this. Made already: only the dimension is compared.
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
      errcode = 'SD001', message = format('%s is there with vectors of %s numbers, not %s', p_collection, v_dimension, p_dimension);
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
