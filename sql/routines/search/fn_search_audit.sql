-- What is wrong with points that a store really holds: one page of an unfiltered scroll, as [{"id", "payload"}].
--   staging  its id or its payload names something of the staging zone, other than as part of its unit's own address
--   orphan   Postgres knows no such point or no text of it, or has taken it out, and nobody is about to remove it
--   payload  it says something else than Postgres about where it is from
-- In the legacy collection: staging, and documents that are not there. For back-end code; nothing is changed.
create or replace function iu_core.fn_search_audit(p_collection text, p_points jsonb)
returns table (id text, finding text, detail text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_legacy boolean;
  v_own_payload boolean;
begin
  perform iu_core.require_member(null, 'administer');
  if jsonb_typeof(p_points) is distinct from 'array' then
    raise exception using errcode = 'SD001', message = 'The points must be an array';
  end if;
  -- In the store postgres the payload is what the tables say.
  select c.state = 'legacy', c.store <> 'postgres' into v_legacy, v_own_payload from iu_core.search_collection c where c.collection = p_collection;
  if v_legacy is null then
    raise exception using
      errcode = 'SD915',
      message = format('There is no collection %s', coalesce(p_collection, 'NULL')),
      detail = json_build_object('collection', p_collection)::text;
  end if;
  return query
    with seen as materialized (
      select s ->> 'id' as id, coalesce(s -> 'payload', '{}') as payload,
             case when s ->> 'id' ~* '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$' then (s ->> 'id')::uuid end as chunk_id
        from jsonb_array_elements(p_points) as s
    ), named as (
      select distinct s.id, lower(m.found[1])::uuid as named
        from seen s
       -- What was staged and promoted may well be called after it: drafts/<staging id>.
       cross join lateral (select case when exists (select from iu_core.information_unit u
                                                     where u.unit_id::text = s.payload ->> 'unit_id'
                                                       and u.canonical_address = s.payload ->> 'canonical_address')
                                       then s.payload - 'canonical_address' else s.payload end as payload) as x
       cross join lateral regexp_matches(s.id || ' ' || x.payload::text,
                                         '([0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12})', 'g') as m (found)
    ), staged as (
      select n.id, min(n.named::text) as named from named n
       where exists (select from iu_core.iu_staging_record r where r.staging_record_id = n.named)
          or exists (select from iu_core.iu_staging_payload p where p.staging_payload_id = n.named)
       group by n.id
    )
    select t.id, 'staging', 'names ' || t.named from staged t
    union all
    select s.id, 'orphan',
           case when p.state is null then 'Postgres knows no such point' when p.state = 'gone' then 'it was taken out'
                else 'search has no such text' end
      from seen s
      left join iu_core.search_point p on p.collection = p_collection and p.chunk_id = s.chunk_id
      left join iu_core.vector_outbox o on o.unit_id = p.unit_id
     where not v_legacy and not exists (select from staged t where t.id = s.id)
       -- In the store postgres the record of a point is the point: the texts tell whether it should be there.
       and (p.chunk_id is null
            or (p.state = 'gone' or not exists (select from iu_core.search_chunk c where c.chunk_id = p.chunk_id))
               and coalesce(o.status in ('done', 'dead_letter'), true))
    union all
    select s.id, 'payload', 'it says to be of ' || coalesce(s.payload ->> 'unit_id', 'nothing')
      from seen s
      join iu_core.search_point p on p.collection = p_collection and p.chunk_id = s.chunk_id and p.state = 'written'
      join iu_core.information_unit u on u.unit_id = p.unit_id
     where not v_legacy and not exists (select from staged t where t.id = s.id)
       and (s.payload ->> 'unit_id' is distinct from u.unit_id::text
            or exists (select from iu_core.search_chunk c where c.chunk_id = p.chunk_id and c.unit_id is distinct from p.unit_id)
            or v_own_payload and s.payload ->> 'workspace_id' is distinct from u.workspace_id::text
            or v_own_payload and not exists (select from iu_core.unit_version v
                            where v.unit_id = u.unit_id and v.content_hash = s.payload ->> 'content_hash_at_embedding'))
    union all
    select s.id, 'orphan', 'there is no document ' || coalesce(s.payload ->> 'document_id', '(none named)')
      from seen s
     where v_legacy and not exists (select from staged t where t.id = s.id)
       and not exists (select from iu_core.kb_document d
                        where d.deleted_at is null and s.payload ->> 'document_id' in (d.document_id::text, d.source_ref));
end $$;

grant execute on function iu_core.fn_search_audit(text, jsonb) to dot_executor, service_role;
