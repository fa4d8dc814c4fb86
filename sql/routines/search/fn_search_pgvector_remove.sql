-- The removal of pgvector: by id, or with NULL the collection's table as a whole. What is not there is passed over.
create or replace function iu_core.fn_search_pgvector_remove(p_collection text, p_chunk_ids uuid[]) returns void
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

grant execute on function iu_core.fn_search_pgvector_remove(text, uuid[]) to vector_worker;
