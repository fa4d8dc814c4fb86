-- The results of a loop's items as one result, in their order: what an item gave, or where it is ({ref, bytes}); null for one
-- that failed or was never run. Internal: in the flush that ends the loop, which has just written the last of them.
create or replace function noetl.fn_loop_collect(p_execution_id bigint, p_loop_id bigint, p_ref_id bigint, p_node_name text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most constant integer := 64 * 1024 * 1024;
  v_body jsonb;
  v_text text;
begin
  with item as (
    select (e.meta ->> 'iter_index')::integer as place,
           coalesce(e.result -> 'value', jsonb_build_object('ref', e.result -> 'ref', 'bytes', e.result -> 'bytes')) as result
      from noetl.event e
     where e.execution_id = p_execution_id and e.meta ->> 'loop_id' = p_loop_id::text
       and e.event_type in ('command.completed', 'loop.shard.done')
  )
  select coalesce(jsonb_agg(i.result order by p.place), '[]') into v_body
    from generate_series(0, (select (s.meta ->> 'collection_size')::integer - 1 from noetl.event s
                              where s.execution_id = p_execution_id and s.meta ->> 'loop_id' = p_loop_id::text
                                and s.event_type = 'loop.started')) p (place)
    left join item i on i.place = p.place;
  v_text := v_body::text;
  if octet_length(v_text) > c_most then
    raise exception using
      errcode = 'SD812',
      message = format('The results of %s are %s bytes together, over the limit of %s', p_node_name, octet_length(v_text), c_most),
      detail = json_build_object('bytes', octet_length(v_text), 'limit', c_most)::text;
  end if;
  insert into noetl.result_ref (ref_id, execution_id, node_name, name, store_tier, physical_uri, content_hash, bytes)
  values (p_ref_id, p_execution_id, p_node_name, 'results', 'db', 'db:noetl.result_body/' || p_ref_id, sha256(convert_to(v_text, 'UTF8')),
          octet_length(v_text));
  insert into noetl.result_body (ref_id, body) values (p_ref_id, v_body);
end $$;
