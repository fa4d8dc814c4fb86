-- The next chunks that have no vector in a collection, with what is to be embedded, and recorded as being written: two who fill
-- take different ones. What somebody began a minute ago and did not end is taken again, what was refused is not. Nothing unless the
-- gate that keeps staging out is open.
create or replace function iu_core.fn_search_collection_fill(p_collection text, p_limit integer default 100)
returns table (chunk_id uuid, unit_id uuid, unit_version_id uuid, canonical_address text, content_hash text, workspace_id uuid,
               "position" smallint, text text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  if p_limit is null or p_limit not between 1 and 10000 then
    raise exception using errcode = 'SD001', message = 'The limit must be from 1 to 10000';
  end if;
  if not exists (select from iu_core.search_collection c
                  where c.collection = p_collection and c.source_kind = 'information_unit' and c.state in ('building', 'active')) then
    raise exception using
      errcode = 'SD915',
      message = format('There is no collection %s that can be filled', coalesce(p_collection, 'NULL')),
      detail = json_build_object('collection', p_collection)::text;
  end if;
  if not exists (select from iu_core.dot_config where key = 'iu_core.no_vector_staging_excluded' and value = 'true') then
    return;
  end if;
  return query
    with picked as materialized (
      select c.* from iu_core.search_chunk c
       where c.unit_id is not null
         and not exists (select from iu_core.search_point p
                          where p.collection = p_collection and p.chunk_id = c.chunk_id
                            and (p.state in ('written', 'refused') or p.state = 'writing' and p.changed_at > clock_timestamp() - interval '1 minute'))
       order by c.chunk_no limit p_limit
         -- Whoever takes a chunk out meanwhile sees the point that we record, or we do not see the chunk.
         for key share skip locked
    ), writing as (
      insert into iu_core.search_point as p (collection, chunk_id, unit_id, text_hash, generation, state)
      select p_collection, c.chunk_id, c.unit_id, c.text_hash, 0, 'writing' from picked c order by c.chunk_id
      on conflict (collection, chunk_id) do update
         set state = 'writing', vector = null, generation = 0, tx = pg_current_xact_id(), changed_at = clock_timestamp()
       where p.state <> 'written'
      returning p.chunk_id
    )
    select c.chunk_id, c.unit_id, c.unit_version_id, u.canonical_address, c.content_hash_at_embedding, c.workspace_id, c.position,
           substring(v.body from c.from_char + 1 for c.to_char - c.from_char)
      from writing w
      join picked c on c.chunk_id = w.chunk_id
      join iu_core.information_unit u on u.unit_id = c.unit_id
      join iu_core.unit_version v on v.unit_version_id = c.unit_version_id;
end $$;

grant execute on function iu_core.fn_search_collection_fill(text, integer) to vector_worker;
