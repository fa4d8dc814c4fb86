-- Puts the results of a loop's items together as one result, in their order, when it is read for the first time: what an item
-- gave, or where it is ({ref, bytes}); null for one that failed or was never run. The log of a loop that has ended changes no
-- more, so whoever reads first may do it; a second reader waits for the first. No work where it is done already.
--
-- How large it is comes before it is made: items of 8 KiB each are more than a server has memory for. The settings: by the
-- defaults all results go through two sorts on disk (300,000 items 3 to 6 s, now 2; a million 6 to 9).
create or replace function noetl.fn_loop_results(p_ref_id bigint) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set work_mem = '256MB'
set enable_nestloop = off
set enable_mergejoin = off
set jit = off
as $$
declare
  c_most constant bigint := 64 * 1024 * 1024;
  r noetl.result_ref;
  v_loop text;
  v_size integer;
  v_bytes bigint;
  v_body jsonb;
  v_text text;
begin
  select * into r from noetl.result_ref where ref_id = p_ref_id for update;
  if r.store_tier is distinct from 'eventlog' or r.collected_at is not null then
    return;
  end if;
  v_loop := split_part(r.physical_uri, '/', 2);
  select (s.meta ->> 'collection_size')::integer into v_size from noetl.event s
   where s.execution_id = r.execution_id and s.meta ->> 'loop_id' = v_loop and s.event_type = 'loop.started';
  if not found then
    raise exception using
      errcode = 'SD811',
      message = format('The result %s is not kept any more', p_ref_id),
      detail = json_build_object('ref', p_ref_id::text)::text;
  end if;
  with item as materialized (
    select (e.meta ->> 'iter_index')::integer as place,
           coalesce(e.result -> 'value', jsonb_build_object('ref', e.result -> 'ref', 'bytes', e.result -> 'bytes')) as result
      from noetl.event e
     where e.execution_id = r.execution_id and e.meta ->> 'loop_id' = v_loop
       and e.event_type in ('command.completed', 'loop.shard.done')
  ), sized as (
    -- As an array is written: brackets, what is between items, and a null for each that has no result.
    select 2 + 2 * greatest(v_size - 1, 0) + 4 * (v_size - count(*)) + coalesce(sum(octet_length(i.result::text)), 0) as bytes from item i
  )
  select s.bytes, case when s.bytes <= c_most then (
           select coalesce(jsonb_agg(i.result order by p.place), '[]')
             from generate_series(0, v_size - 1) as p (place) left join item i on i.place = p.place) end
    into v_bytes, v_body from sized s;
  if v_bytes > c_most then
    raise exception using
      errcode = 'SD812',
      message = format('The results of %s are %s bytes together, over the limit of %s', r.node_name, v_bytes, c_most),
      detail = json_build_object('bytes', v_bytes, 'limit', c_most)::text;
  end if;
  v_text := v_body::text;
  insert into noetl.result_body (ref_id, body) values (p_ref_id, v_body);
  update noetl.result_ref
     set store_tier = 'db', physical_uri = 'db:noetl.result_body/' || p_ref_id, bytes = octet_length(v_text),
         content_hash = sha256(convert_to(v_text, 'UTF8'))
   where ref_id = p_ref_id;
end $$;

grant execute on function noetl.fn_loop_results(bigint) to dot_executor;
