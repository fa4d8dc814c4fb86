-- Keeps a fitted model. It belongs to no collection yet: one that is built with it names it.
create or replace function iu_core.fn_search_generation_add(
  p_embedder text, p_dimension integer, p_documents integer, p_terms integer, p_model bytea
) returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_generation_id uuid;
begin
  if p_embedder is null or p_dimension is null or p_documents is null or p_documents < 0 or p_terms is null or p_terms < 0
     or p_model is null then
    raise exception using errcode = 'SD001', message = 'A generation has an embedder, a dimension, counts from 0 and a model';
  end if;
  insert into iu_core.search_generation (embedder, dimension, documents, terms, model)
  values (p_embedder, p_dimension, p_documents, p_terms, p_model)
  returning generation_id into v_generation_id;
  return v_generation_id;
end $$;

grant execute on function iu_core.fn_search_generation_add(text, integer, integer, integer, bytea) to vector_worker;
