-- Units that are not projected yet, found by their words.

-- Searches by words among units whose newest text is not projected yet: a unit is found from the moment of its commit. Scores
-- as in fn_search_lexical (BM25), so that both can be merged; filters, quotes and stars as there. A unit whose old text is in
-- search may be found by both. Embeds nothing.
create or replace function iu_core.fn_search_pending(p_workspace_id uuid, p_query text, p_limit integer default 50, p_filters jsonb default '{}')
returns table (unit_version_id uuid, unit_id uuid, score real, share real, asked integer)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_filters jsonb := iu_core.fn_search_filters_of(p_query, p_filters);
  v_query record;
  v_condition record;
  v_words text[];
  v_weights float8[];
  v_shares float8[];
  v_prefixes text[];
  v_any tsquery;
  v_phrases tsquery[];
  v_chunks float8;
  v_mean float8;
  v_asked integer;
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  if p_query is null or p_limit is null or p_limit not between 1 and 1000 then
    raise exception using errcode = 'SD001', message = 'A search needs a query, and a limit between 1 and 1000';
  end if;
  if not exists (select from iu_core.search_pending p where p.workspace_id = p_workspace_id) then
    return;
  end if;
  v_query := iu_core.fn_search_parse(p_query);
  v_prefixes := v_query.prefixes || iu_core.fn_search_short_runs(v_query.free);
  select s.chunks, s.words::float8 / nullif(s.chunks, 0) into v_chunks, v_mean
    from iu_core.search_statistics s where s.workspace_id = p_workspace_id;
  v_chunks := greatest(coalesce(v_chunks, 0), 1);
  -- A word that only these units have is as rare as one can be.
  with word as materialized (
    select w.lexeme, w.times, w.places, w.is_further,
           ln(1 + (greatest(v_chunks - coalesce(l.chunks, 0), 0) + 0.5) / (coalesce(l.chunks, 0) + 0.5)) as rareness
      from (select * from iu_core.fn_search_question_words(p_workspace_id, v_query.free)
             union all select p, 1, '{}', false from unnest(v_prefixes) as p) as w
      left join lateral (select x.chunks from iu_core.search_lexeme x
                          where x.workspace_id = p_workspace_id and x.lexeme = w.lexeme collate "C" offset 0) as l on true
     order by rareness desc, w.lexeme limit 64
  ), whole as (
    select sum(p.rareness) as mass, count(*) + cardinality(v_prefixes) as asked
      from (select p.place, max(w.rareness) as rareness from word w cross join unnest(w.places) as p (place) group by 1) as p
  )
  select array_agg(w.lexeme), array_agg(w.times * w.rareness * case when w.is_further then 0.5 else 1 end),
         array_agg(cardinality(w.places) * w.rareness / greatest(h.mass, 1e-9)),
         string_agg(case when w.lexeme = any (v_prefixes) then format('%s:*', w.quoted) else w.quoted end, ' | ')::tsquery,
         max(h.asked)
    into v_words, v_weights, v_shares, v_any, v_asked
    from (select w.*, '''' || replace(replace(w.lexeme, '\', '\\'), '''', '''''') || '''' as quoted from word w) as w cross join whole h;
  if v_any is null then
    return;
  end if;
  select array_agg(p.phrase) into v_phrases from iu_core.fn_search_phrases(p_workspace_id, v_query.phrases) as p;
  v_condition := iu_core.fn_search_filter(v_filters);
  return query execute format($q$
    with best as materialized (
      select c.unit_version_id, c.unit_id, c.words
        from iu_core.search_pending c
       cross join lateral (select x.* from iu_core.information_unit x where x.unit_id = c.unit_id offset 0) as u
       where c.workspace_id = $1 and c.words @@ $3 and %s and %s
         and ($4 is null or c.words @@ all ($4))
       order by ts_rank(c.words, $3) desc, c.unit_id
       limit $9)
    select b.unit_version_id, b.unit_id, (2.2 * s.score)::real as score, least(s.share, 1)::real, $11
      from best b
     cross join lateral (
       select sum(t.weight * w.count / (w.count + float8 '0.3' + float8 '0.9' * w.length / greatest(coalesce($8, w.length), 1))) as score,
              sum(t.share) as share
         from (select n.lexeme, (cardinality(n.positions) + 2 * cardinality(array_positions(n.weights, 'A')))::float8 as count,
                      sum(cardinality(array_positions(n.weights, 'D'))) over ()::float8 as length
                 from unnest(b.words) as n) as w
         join unnest($5, $6, $7) as t (word, weight, share)
           on t.word = w.lexeme or t.word = any ($10) and starts_with(w.lexeme, t.word)) as s
     order by score desc nulls last, b.unit_id
    $q$, v_condition.units, v_condition.chunks)
    using p_workspace_id, v_filters, v_any, v_phrases, v_words, v_weights, v_shares, v_mean, p_limit, v_prefixes, v_asked;
end $$;

grant execute on function iu_core.fn_search_pending(uuid, text, integer, jsonb) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- Stores the words of these units until their text is projected; units that search already has need none. Internal: the callers
-- hold the units' rows.
create or replace function iu_core.fn_search_pending_put(p_unit_ids uuid[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into iu_core.search_pending as p (unit_id, workspace_id, unit_version_id, language, words, path, analysis)
  select u.unit_id, u.workspace_id, v.unit_version_id, l.language,
         iu_core.fn_search_chunk_words(v.body, l.language, iu_core.fn_search_unit_title(u.unit_id, v.version_no, v.title, v.body), h.path),
         h.path, iu_core.fn_search_analysis()
    from unnest(p_unit_ids) as g (unit_id)
   cross join lateral (select x.* from iu_core.information_unit x where x.unit_id = g.unit_id offset 0) as u
   cross join lateral (select n.unit_version_id, n.version_no, n.language, n.title, n.body from iu_core.unit_version n
                        where n.unit_version_id = u.current_version_id offset 0) as v
   cross join lateral (select case v.language when 'und' then iu_core.fn_text_language(v.body) else v.language end as language offset 0) as l
   cross join lateral (select iu_core.fn_search_path(u.container_id) as path offset 0) as h
   where not exists (select from iu_core.search_chunk c
                      where c.unit_id = u.unit_id and c.content_hash_at_embedding = u.content_hash)
   -- Every session that locks many of these rows uses this order.
   order by u.unit_id
  on conflict (unit_id) do update
     set unit_version_id = excluded.unit_version_id, language = excluded.language, words = excluded.words, path = excluded.path,
         analysis = excluded.analysis
   where p.unit_version_id <> excluded.unit_version_id;
  -- Questions are analysed in its language from now on.
  insert into iu_core.search_language (workspace_id, language, chunks)
  select distinct p.workspace_id, split_part(p.language, '-', 1), 0 from iu_core.search_pending p
   where p.unit_id = any (p_unit_ids)
     and not exists (select from iu_core.search_language l
                      where (l.workspace_id, l.language) = (p.workspace_id, split_part(p.language, '-', 1)))
   order by 1, 2
  on conflict do nothing;
  -- The text equals what search has.
  perform iu_core.fn_search_pending_delete(p_unit_ids);
end $$;

-- Removes the stored words of those of these units that search has now, or that must not be found any more. Words written
-- meanwhile stay. Internal.
create or replace function iu_core.fn_search_pending_delete(p_unit_ids uuid[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  -- In the common order, so that two sessions cannot deadlock; the condition is checked after the wait.
  perform from iu_core.search_pending p where p.unit_id = any (p_unit_ids) order by p.unit_id for update;
  if not found then
    return;
  end if;
  delete from iu_core.search_pending p
   using iu_core.information_unit u
   where p.unit_id = any (p_unit_ids) and u.unit_id = p.unit_id
     and (u.deleted_at is not null or u.lifecycle_status = 'retired'
          or exists (select from iu_core.search_chunk c
                      where c.unit_id = u.unit_id and c.content_hash_at_embedding = u.content_hash
                     -- By key: without it all chunks may be read, to be hashed.
                     offset 0));
end $$;
