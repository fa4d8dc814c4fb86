-- What the checker has to say of units as they are now: references only, one object for each finding. Internal.
create or replace function iu_core.fn_unit_findings(p_unit_ids uuid[])
returns table (unit_id uuid, version_no integer, findings jsonb)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select u.unit_id, u.version_no,
         (select coalesce(jsonb_agg(f.finding order by f.rank, f.finding), '[]')
            from (
              select 1 as rank, jsonb_build_object('code', 'edge_unverified', 'edge_id', e.edge_id, 'edge_type', e.edge_type,
                                                   'target_ref', e.target_ref) as finding
                from iu_core.universal_edges e
               where e.from_unit_id = u.unit_id and e.edge_status = 'unverified'
              union all
              select 2, jsonb_build_object('code', 'profile_incomplete', 'keys', jsonb_agg(k.key order by k.key))
                from iu_core.unit_kind d, unnest(d.required_profile) as k (key)
               where d.unit_kind = u.unit_kind and coalesce(u.content_profile -> k.key, 'null') = 'null'
              having count(*) > 0
              union all
              select 3, jsonb_build_object('code', 'topic_retired', 'topic', l.topic)
                from jsonb_array_elements_text(u.content_profile -> 'topic_labels') as l (topic)
               where not exists (select from iu_core.topic_vocabulary t
                                  where t.topic_label = l.topic and t.retired_at is null
                                    and (t.workspace_id is null or t.workspace_id = u.workspace_id))
              union all
              select 4, jsonb_build_object('code', 'container_gone', 'container_id', c.unit_id)
                from iu_core.information_unit c
               where c.unit_id = u.container_id and (c.deleted_at is not null or c.lifecycle_status = 'retired')
              union all
              -- The map of every unit that ever held a piece says what the piece is now (fn_cut_map).
              select 5, jsonb_build_object('code', 'drifted', 'document_id', m.document_id, 'source_ref', d.source_ref,
                                           'document_hash', case when not gone.is_gone then m.content_hash end)
                from iu_core.kb_unit_map m
                join iu_core.kb_document d on d.document_id = m.document_id
               cross join lateral (
                 -- A document of the old knowledge base that was removed there may have been cut since.
                 select m.dropped_at is not null
                        or d.deleted_at is not null
                           and not exists (select from iu_core.kb_document_cut c
                                            where c.document_id = d.document_id and c.cut_at > d.deleted_at) as is_gone) as gone
               where m.unit_id = u.unit_id and u.lifecycle_status in ('draft', 'enacted')
                 and (gone.is_gone or m.content_hash <> u.content_hash)
            ) as f)
    from iu_core.information_unit u
   where u.unit_id = any (p_unit_ids)
$$;
