-- The words of these units as they are now, to be found by until their text is projected; what search has already needs none.
-- Internal: the callers hold the units' rows.
create or replace function iu_core.fn_search_pending_put(p_unit_ids uuid[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into iu_core.search_pending as p (unit_id, workspace_id, unit_version_id, language, words)
  select u.unit_id, u.workspace_id, v.unit_version_id, v.language, iu_core.fn_search_words(v.body, v.language)
    from unnest(p_unit_ids) as g (unit_id)
   cross join lateral (select x.* from iu_core.information_unit x where x.unit_id = g.unit_id offset 0) as u
   cross join lateral (select n.unit_version_id, n.language, n.body from iu_core.unit_version n
                        where n.unit_version_id = u.current_version_id offset 0) as v
   where not exists (select from iu_core.search_chunk c
                      where c.unit_id = u.unit_id and c.content_hash_at_embedding = u.content_hash)
   -- Whoever locks many of these rows locks them in this order.
   order by u.unit_id
  on conflict (unit_id) do update
     set unit_version_id = excluded.unit_version_id, language = excluded.language, words = excluded.words
   where p.unit_version_id <> excluded.unit_version_id;
  -- It says again what search has.
  perform iu_core.fn_search_pending_settle(p_unit_ids);
end $$;
