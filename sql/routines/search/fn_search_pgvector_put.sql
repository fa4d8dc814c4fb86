-- The upsert of pgvector: [{"id", "workspace_id", "payload", "vector": "[0.1,…]"}].
create or replace function iu_core.fn_search_pgvector_put(p_collection text, p_points jsonb) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  t record := iu_core.fn_search_pgvector_table(p_collection);
begin
  if jsonb_typeof(p_points) is distinct from 'array' then
    raise exception using errcode = 'SD001', message = 'Points come as an array';
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
