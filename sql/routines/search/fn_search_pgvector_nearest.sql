-- The nearest points of a workspace in pgvector, by cosine. The index is approximate and knows no workspace: since pgvector 0.8
-- it goes on until enough are found. With p_only it is not asked: the points are few, and are compared one by one.
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
    raise exception using errcode = 'SD001', message = 'The nearest need a workspace, a vector and a limit from 0';
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
