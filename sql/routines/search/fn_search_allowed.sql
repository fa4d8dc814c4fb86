-- The chunks that filters let through, by their numbers; NULL where there are more than p_most. Internal.
create or replace function iu_core.fn_search_allowed(p_workspace_id uuid, p_filters jsonb, p_most integer) returns integer[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_condition record := iu_core.fn_search_filter(p_filters);
  v_sources uuid[];
  v_chunks integer[];
begin
  -- Sources first: that there are too many is soon known, before a single chunk is read.
  execute format('select array(select u.unit_id from iu_core.information_unit u where %s limit $3)
                         || array(select d.document_id from iu_core.kb_document d where %s limit $3)',
                 v_condition.units, v_condition.documents)
    into v_sources using p_workspace_id, p_filters, p_most + 1;
  if cardinality(v_sources) > p_most then
    return null;
  end if;
  execute format('select array(select c.chunk_no from unnest($1) as s (source_id)
                                cross join lateral (select * from iu_core.search_chunk x where x.unit_id = s.source_id
                                                     union all
                                                    select * from iu_core.search_chunk x where x.document_id = s.source_id offset 0) as c
                                where %s limit $3)', v_condition.chunks)
    into v_chunks using v_sources, p_filters, p_most + 1;
  return case when cardinality(v_chunks) <= p_most then v_chunks end;
end $$;
