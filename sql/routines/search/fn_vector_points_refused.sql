-- The embedder of a collection that is being built does not take these chunks. They are not sent to it again, and people see an
-- issue of the collection. Only what whoever fills it recorded (generation 0) counts: what was edited meanwhile begins anew. Answers
-- how many were passed over.
create or replace function iu_core.fn_vector_points_refused(p_collection text, p_chunk_ids uuid[], p_error text) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
  v_all bigint;
begin
  if p_collection is null or p_chunk_ids is null then
    raise exception using errcode = 'SD001', message = 'Which points of which collection were refused?';
  end if;
  update iu_core.search_point p
     set state = 'refused', vector = null, tx = pg_current_xact_id(), changed_at = clock_timestamp()
   where p.collection = p_collection and p.chunk_id = any (p_chunk_ids) and p.generation = 0 and p.state = 'writing';
  get diagnostics v_count = row_count;
  if v_count = 0 then
    return 0;
  end if;
  select count(*) into v_all from iu_core.search_point p where p.collection = p_collection and p.state = 'refused';
  perform iu_core.fn_system_issue_open(
    'search_refused', 'warning', p_collection,
    format('The embedder of the new collection %s does not take %s of the texts', p_collection, v_all),
    jsonb_strip_nulls(jsonb_build_object('collection', p_collection, 'chunks', v_all, 'error', left(p_error, 500))),
    p_occurrences => v_count);
  return v_count;
end $$;

grant execute on function iu_core.fn_vector_points_refused(text, uuid[], text) to vector_worker;
