-- Units for people: beside their current version, their edges, the checker's word, how usable they are (MUP tier) and how
-- fresh search is about them. One look-up for each of it, so that one unit, or a page of them, costs as much as it shows.
--
-- mup_tier: 0 born; 1 with the profile that its kind asks for, a container (a document needs none) and an edge from it;
-- 2 also with a topic, checked and embedded at its current content, and enacted. missing says what is left to tier 2.
-- vector_state is computed, never stored: a live outbox row is pending, or stale once it has waited too long;
-- one that only tells what is known about a text (it was enacted, say) makes nothing of it older.
create or replace view iu_core.v_unit with (security_invoker = true) as
select u.unit_id, u.workspace_id, u.canonical_address, u.unit_kind, u.container_id, u.position, u.source_ref, u.owner_actor, u.owner_via,
       u.born_at, u.current_version_id, u.version_no, u.content_hash, u.title, u.content_profile, u.lifecycle_status, u.apr_ref,
       u.supersedes, u.superseded_by, u.deleted_at, u.changed_at,
       v.language, v.body_bytes, p.topics, e.edges_out, i.edges_in, c.conformance, c.drift, c.findings, c.checked_at,
       (case when t.lacks_first <> '{}' then 0 when t.lacks_second <> '{}' then 1 else 2 end)::smallint as mup_tier,
       t.lacks_first || t.lacks_second as missing,
       case
         when u.deleted_at is not null or u.lifecycle_status = 'retired' then 'retired'
         when o.status = 'dead_letter' then 'error'
         -- Only what is known about it changed: search has its text.
         when o.operation = 'patch' and o.status <> 'done' and x.content_hash_at_embedding = u.content_hash then 'current'
         when o.status in ('pending', 'processing') then
           -- Not clock_timestamp(): with a volatile function in it a page would be computed of all units, then sorted.
           case when o.first_enqueued_at + (select w.longest_wait from iu_core.vector_policy w) < statement_timestamp() then 'stale'
                else 'pending' end
         when x.content_hash_at_embedding is null then 'pending'
         when x.content_hash_at_embedding <> u.content_hash then 'stale'
         else 'current'
       end as vector_state
  from iu_core.information_unit u
  -- OFFSET 0 keeps them look-ups: joined as tables, a page of fifty may read all rows of each into a hash first.
  left join lateral (select n.language, octet_length(n.body) as body_bytes
                       from iu_core.unit_version n where n.unit_version_id = u.current_version_id offset 0) as v on true
 cross join lateral (select array(select jsonb_array_elements_text(u.content_profile -> 'topic_labels')) as topics) as p
 cross join lateral (select count(*)::integer as edges_out from iu_core.universal_edges n where n.from_unit_id = u.unit_id) as e
 cross join lateral (select count(*)::integer as edges_in from iu_core.universal_edges n where n.to_unit_id = u.unit_id) as i
  left join lateral (select n.conformance, n.drift, n.findings, n.checked_version_no, n.checked_at
                       from iu_core.unit_check n where n.unit_id = u.unit_id offset 0) as c on true
  left join lateral (select n.content_hash_at_embedding from iu_core.unit_vector n where n.unit_id = u.unit_id offset 0) as x on true
  left join lateral (select n.status, n.operation, n.first_enqueued_at from iu_core.vector_outbox n where n.unit_id = u.unit_id offset 0) as o on true
 cross join lateral (
   select array(select 'profile.' || k.key
                  from iu_core.unit_kind d, unnest(d.required_profile) as k (key)
                 where d.unit_kind = u.unit_kind and coalesce(u.content_profile -> k.key, 'null') = 'null')
          || case when u.container_id is null and u.unit_kind <> 'document' then array['container'] else '{}' end
          || case when e.edges_out = 0 then array['edge'] else '{}' end as lacks_first,
          case when p.topics = '{}' then array['topic'] else '{}' end
          || case when c.checked_version_no is distinct from u.version_no then array['check'] else '{}' end
          || case when x.content_hash_at_embedding is distinct from u.content_hash then array['vector'] else '{}' end
          || case when u.lifecycle_status <> 'enacted' or u.deleted_at is not null then array['enacted'] else '{}' end as lacks_second
   offset 0) as t;

grant select on iu_core.v_unit to authenticated, stagedoor_agent, stagedoor_reviewer, service_role, dot_executor;
