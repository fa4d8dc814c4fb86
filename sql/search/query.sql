-- Search by words, ranked by BM25, and hits with their freshness.

-- Searches by words: BM25 (k1 1.2, b 0.75), chunks with the highest score first; a word of the title counts as three in the text, one of
-- the titles above it as one, and a word that the query repeats as often as it does (decision 0022). Words that stand near to each other in
-- the query and in one of the best texts count more. A text should contain some words of the query,
-- the more and the rarer the better, so a query can be a question. "Words in quotes" must occur exactly, prefix* matches all
-- words that begin with it, -word must not occur. Filters: see fn_search_filter. p_limit: 1 to 1000. A query of stop words alone, or of
-- unknown words, finds nothing; fn_search_parse tells which. share: of the query's words, each by its rareness, that the chunk has, from 0 to 1; asked: how
-- many words the query asks for. terms: what fn_search_scores needs to know of the query, in the first row; NULL for sessions that are not
-- Stagedoor's own, because it says which words are known.
create or replace function iu_core.fn_search_lexical(p_workspace_id uuid, p_query text, p_limit integer default 50, p_filters jsonb default '{}')
returns table (chunk_no integer, chunk_id uuid, unit_id uuid, document_id uuid, score real, share real, asked integer, row_id uuid, terms jsonb)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
-- A plan made for one query's words is no worse for the next one's; compiling it takes longer than running it.
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
  -- How many are scored in full, and how long the lists may be that choose them. Measured at 20,000 chunks of shuffled sentences
  -- from Cranfield, with its questions: 11 ms of work instead of 30, and 0.93 of the ten best are the same.
  v_most constant integer := greatest(500, 2 * p_limit);
  v_longest constant integer := 8000;
  v_filters jsonb := iu_core.fn_search_filters_of(p_query, p_filters);
  v_rows boolean := iu_core.fn_search_session_is_ours();
  v_terms record;
  -- How many of the words, rarest first, choose; the others only score what was chosen.
  v_rare integer;
  v_allowed integer[];
  v_chosen record;
  v_asked_before boolean;
  v_chunks integer[];
  v_scores real[];
  v_shares real[];
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  if p_query is null or p_limit is null or p_limit not between 1 and 1000 then
    raise exception using errcode = 'SD001', message = 'A search needs a query, and a limit between 1 and 1000';
  end if;
  if v_filters <> '{}' then
    v_allowed := iu_core.fn_search_allowed(p_workspace_id, v_filters, 4000);
  end if;
  select * into v_terms from iu_core.fn_search_terms(p_workspace_id, p_query);
  if not found then
    return;
  end if;
  v_rare := case when v_terms.required is not null or cardinality(v_allowed) <= v_most then 0 else (
    select greatest(1, count(*))
      from (select sum(t.chunks) over (order by t.n) as read from unnest(v_terms.chunks) with ordinality as t (chunks, n)) as r
     where r.read <= v_longest) end;
  -- Nearly all chunks pass the filters, so only the best are tested; if too many of them fail, the filters are applied first.
  foreach v_asked_before in array case when v_filters = '{}' and v_rare > 0 then '{false,true}'::boolean[] else '{true}' end loop
    if not v_asked_before then
      v_chosen := iu_core.fn_search_top_chunks(v_terms.lexeme_ids[:v_rare], v_terms.weights[:v_rare], v_terms.shares[:v_rare],
                                                  v_terms.mean_length, v_most);
    elsif cardinality(v_allowed) <= v_most then
      select v_allowed as chunk_nos, array_fill(0::float8, array[cardinality(v_allowed)]) as scores,
             array_fill(0::float8, array[cardinality(v_allowed)]) as shares into v_chosen;
    else
      v_chosen := iu_core.fn_search_candidates(
        p_workspace_id, coalesce(v_terms.required, v_terms.lexeme_ids[:v_rare]),
        case when v_rare = 0 then array_fill(0::float8, array[cardinality(v_terms.required)]) else v_terms.weights[:v_rare] end,
        case when v_rare = 0 then array_fill(0::float8, array[cardinality(v_terms.required)]) else v_terms.shares[:v_rare] end,
        v_terms.mean_length, v_terms.phrases, v_filters, v_allowed, v_most);
    end if;
    select array_agg(f.chunk_no), array_agg(f.score), array_agg(f.share) into v_chunks, v_scores, v_shares from (
      select b.chunk_no, (2.2 * b.score)::real as score, least(b.share, 1)::real as share
        from (select k.chunk_no, k.score + coalesce(p.score, 0) as score, k.share + coalesce(p.share, 0) as share
                from unnest(v_chosen.chunk_nos, v_chosen.scores, v_chosen.shares) as k (chunk_no, score, share)
                -- All chosen chunks of a word in one scan of its postings.
                left join (
                 select p.chunk_no, sum(t.weight * p.count / (p.count + float8 '0.3' + float8 '0.9' * p.length / v_terms.mean_length)) as score,
                        sum(t.share) as share
                   from unnest(v_terms.lexeme_ids[v_rare + 1:], v_terms.weights[v_rare + 1:], v_terms.shares[v_rare + 1:])
                          as t (lexeme_id, weight, share)
                  cross join lateral (select x.chunk_no, x.count, x.length from iu_core.search_posting x
                                       where x.lexeme_id = t.lexeme_id and x.chunk_no = any (v_chosen.chunk_nos) offset 0) as p
                  group by p.chunk_no) as p on p.chunk_no = k.chunk_no
               order by 2 desc, 1) as b
       cross join lateral (
         select from iu_core.search_chunk x
          where x.chunk_no = b.chunk_no and b.score > 0
            and (v_terms.phrases is null or x.words @@ all (v_terms.phrases))
            and (v_asked_before
                 or exists (select from iu_core.information_unit u
                             where u.unit_id = x.unit_id and u.deleted_at is null and u.lifecycle_status in ('draft', 'enacted'))
                 or exists (select from iu_core.kb_document d
                             where d.document_id = x.document_id and d.deleted_at is null and d.origin = 'knowledge_base')
                 or v_rows and exists (select from iu_core.search_row r join iu_core.search_table t on t.table_id = r.table_id
                                        where r.row_id = x.row_id and t.state = 'active'))
         offset 0) as shown
       limit p_limit) as f;
    exit when cardinality(v_chunks) = p_limit or coalesce(cardinality(v_chosen.chunk_nos), 0) < v_most;
  end loop;
  if v_terms.near_lefts is not null then
    select array_agg((f.score + coalesce(n.score, 0))::real order by f.n) into v_scores
      from unnest(v_chunks, v_scores) with ordinality as f (chunk_no, score, n)
      left join iu_core.fn_search_nearness(v_terms.near_lefts, v_terms.near_rights, v_terms.near_places, v_terms.near_gaps, v_terms.near_weights,
                                           v_chunks) as n on n.chunk_no = f.chunk_no;
  end if;
  return query
  select c.chunk_no, c.chunk_id, c.unit_id, c.document_id, f.score, f.share, v_terms.asked, c.row_id,
         case when v_rows and row_number() over (order by f.score desc, c.chunk_id) = 1 then to_jsonb(v_terms) end
    from unnest(v_chunks, v_scores, v_shares) as f (chunk_no, score, share)
   cross join lateral (select x.chunk_no, x.chunk_id, x.unit_id, x.document_id, x.row_id from iu_core.search_chunk x
                        where x.chunk_no = f.chunk_no offset 0) as c
   order by f.score desc, c.chunk_id;
end $$;

grant execute on function iu_core.fn_search_lexical(uuid, text, integer, jsonb) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- Everything needed to show chunks and their reliability, in one query. A chunk that does not exist any more, or belongs to
-- another workspace, has no row.
--   version_no, current_version_no   the version of its text, and the newest of the unit: they differ while search is behind
--   is_as_projected  whether its text can still be read (fn_search_texts): a document may have changed
--   vector_state     of the unit, or of the document
--   document_*       for a unit: the document of the old knowledge base that it was cut from, if the newest cut still has it
create or replace function iu_core.fn_search_hits(p_workspace_id uuid, p_chunk_ids uuid[])
returns table (chunk_id uuid, source text, unit_id uuid, document_id uuid, canonical_address text, title text, unit_kind text,
               lifecycle_status text, vector_state text, version_no integer, current_version_no integer, language text,
               "position" smallint, from_char integer, to_char integer, is_as_projected boolean,
               document_state text, document_title text, document_source_ref text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  return query
  select c.chunk_id, 'unit', c.unit_id, d.document_id, u.canonical_address, u.title, u.unit_kind, u.lifecycle_status, u.vector_state,
         v.version_no, u.version_no, c.language, c.position, c.from_char, c.to_char, true, d.vector_state, d.title, d.source_ref
    from iu_core.search_chunk c
   cross join lateral (select x.canonical_address, x.title, x.unit_kind, x.lifecycle_status, x.vector_state, x.version_no
                         from iu_core.v_unit x where x.unit_id = c.unit_id offset 0) as u
   cross join lateral (select n.version_no from iu_core.unit_version n where n.unit_version_id = c.unit_version_id offset 0) as v
    left join lateral (select x.document_id, x.vector_state, x.title, x.source_ref
                         from iu_core.kb_unit_map m join iu_core.v_document x on x.document_id = m.document_id
                        where m.unit_id = c.unit_id and m.dropped_at is null and x.origin = 'knowledge_base' and x.deleted_at is null
                        order by x.document_id limit 1) as d on true
   where c.chunk_id = any (p_chunk_ids) and c.workspace_id = p_workspace_id and c.unit_id is not null
   union all
  -- A text that is not projected yet is named by its version (fn_search_pending).
  select c.unit_version_id, 'unit', c.unit_id, d.document_id, u.canonical_address, u.title, u.unit_kind, u.lifecycle_status, u.vector_state,
         v.version_no, u.version_no, c.language, 0::smallint, 0, null, true, d.vector_state, d.title, d.source_ref
    from iu_core.search_pending c
   cross join lateral (select x.canonical_address, x.title, x.unit_kind, x.lifecycle_status, x.vector_state, x.version_no
                         from iu_core.v_unit x where x.unit_id = c.unit_id offset 0) as u
   cross join lateral (select n.version_no from iu_core.unit_version n where n.unit_version_id = c.unit_version_id offset 0) as v
    left join lateral (select x.document_id, x.vector_state, x.title, x.source_ref
                         from iu_core.kb_unit_map m join iu_core.v_document x on x.document_id = m.document_id
                        where m.unit_id = c.unit_id and m.dropped_at is null and x.origin = 'knowledge_base' and x.deleted_at is null
                        order by x.document_id limit 1) as d on true
   where c.unit_version_id = any (p_chunk_ids) and c.workspace_id = p_workspace_id
   union all
  select c.chunk_id, 'document', null, c.document_id, null, d.title, null, null, d.vector_state, null, null, c.language, c.position,
         c.from_char, c.to_char, d.content_hash = c.content_hash_at_embedding, d.vector_state, d.title, d.source_ref
    from iu_core.search_chunk c
   cross join lateral (select x.title, x.vector_state, x.content_hash, x.source_ref
                         from iu_core.v_document x where x.document_id = c.document_id offset 0) as d
   where c.chunk_id = any (p_chunk_ids) and c.workspace_id = p_workspace_id and c.document_id is not null;
end $$;

grant execute on function iu_core.fn_search_hits(uuid, uuid[]) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- Documents of the old knowledge base that are shown instead of their units, or were found by the vectors of the old
-- collection: by id, or by source, which may be all that its payload has. Documents that are not searched are left out. Without
-- texts: hundreds may be found, and few are shown.
create or replace function iu_core.fn_search_documents(p_workspace_id uuid, p_names text[])
returns table (name text, document_id uuid, title text, source_ref text, language text, vector_state text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  return query
  select n.name, v.document_id, v.title, v.source_ref, v.language, v.vector_state
    from unnest(p_names) as n (name)
    join iu_core.kb_document d on d.workspace_id = p_workspace_id
     and (d.source_ref = n.name
          or n.name ~* '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$'
             and d.document_id = case when n.name ~* '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$' then n.name::uuid end)
   cross join lateral (select * from iu_core.v_document i where i.document_id = d.document_id offset 0) as v
   where v.vector_state <> 'absent';
end $$;

grant execute on function iu_core.fn_search_documents(uuid, text[]) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- The texts of shown hits: texts of chunks as projected, and the beginnings of documents. Only what is shown is requested,
-- because a text may have 10 MiB; each is read once, and only as far as needed. A chunk whose document has changed has no row,
-- and neither has a chunk of another workspace.
create or replace function iu_core.fn_search_texts(p_workspace_id uuid, p_chunk_ids uuid[], p_document_ids uuid[])
returns table (id uuid, text text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
  -- Enough to find a passage in; a whole document kept the server busy for seconds.
  v_beginning constant integer := 20000;
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  return query
  with chunk as materialized (
    select c.chunk_id, c.unit_version_id, c.document_id, c.content_hash_at_embedding, c.from_char, c.to_char
      from iu_core.search_chunk c where c.chunk_id = any (p_chunk_ids) and c.workspace_id = p_workspace_id
  ), source as (
    select c.unit_version_id, c.document_id, c.content_hash_at_embedding, max(c.to_char) as needed,
           array_agg(c.chunk_id) as ids, array_agg(c.from_char) as froms, array_agg(c.to_char) as tos
      from chunk c group by 1, 2, 3
  ), body as materialized (
    select s.ids, s.froms, s.tos, left(v.body, s.needed) as text
      from source s
     cross join lateral (select n.body from iu_core.unit_version n where n.unit_version_id = s.unit_version_id
                          union all
                         select n.body from iu_core.kb_document n
                          where n.document_id = s.document_id and n.content_hash = s.content_hash_at_embedding) as v
  )
  select k.chunk_id, substring(b.text from k.from_char + 1 for k.to_char - k.from_char)
    from body b cross join lateral unnest(b.ids, b.froms, b.tos) as k (chunk_id, from_char, to_char)
   union all
  -- Not projected yet: as far as its words are looked for.
  select p.unit_version_id, left(v.body, 100000)
    from iu_core.search_pending p join iu_core.unit_version v on v.unit_version_id = p.unit_version_id
   where p.unit_version_id = any (p_chunk_ids) and p.workspace_id = p_workspace_id
   union all
  select d.document_id, left(d.body, v_beginning)
    from iu_core.kb_document d
   where d.document_id = any (p_document_ids) and d.workspace_id = p_workspace_id and d.deleted_at is null and d.origin = 'knowledge_base';
end $$;

grant execute on function iu_core.fn_search_texts(uuid, uuid[], uuid[]) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- First phase of fn_search_lexical: which chunks are worth scoring in full, and their score by the selecting words. Filters and
-- phrases are applied before. Internal. If few chunks pass the filters, these are scored; if many, chunks are tested in order
-- of score until there are enough.
create or replace function iu_core.fn_search_candidates(p_workspace_id uuid, p_lexemes integer[], p_weights float8[], p_shares float8[],
                                                        p_mean_length float8, p_phrases tsquery[], p_filters jsonb, p_allowed integer[],
                                                        p_most integer, out chunk_nos integer[], out scores float8[], out shares float8[])
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_condition record := iu_core.fn_search_filter(p_filters);
begin
  execute format($q$
    select array_agg(k.chunk_no), array_agg(k.score), array_agg(k.share)
      from (select s.chunk_no, s.score, s.share
              from (select p.chunk_no, sum(t.weight * p.count / (p.count + float8 '0.3' + float8 '0.9' * p.length / $6)) as score,
                           sum(t.share) as share
                      from unnest($3, $4, $5) as t (lexeme_id, weight, share)
                     cross join lateral (select * from iu_core.search_posting x where x.lexeme_id = t.lexeme_id offset 0) as p
                     %s
                     group by p.chunk_no order by score desc, p.chunk_no) as s
             cross join lateral (
               select from iu_core.search_chunk c
                where c.chunk_no = s.chunk_no %s and %s
               offset 0) as shown
             limit $8) as k
    $q$,
    case when p_allowed is not null then 'join unnest($9) as a (chunk_no) on a.chunk_no = p.chunk_no' end,
    case when p_phrases is not null then 'and c.words @@ all ($7)' end,
    case when p_allowed is null then
      format($q$ %s and (exists (select from iu_core.information_unit u where u.unit_id = c.unit_id and %s)
                         or exists (select from iu_core.kb_document d where d.document_id = c.document_id and %s)
                         or exists (select from iu_core.search_row r join iu_core.search_table t on t.table_id = r.table_id
                                     where r.row_id = c.row_id and %s)) $q$,
             v_condition.chunks, v_condition.units, v_condition.documents, v_condition.rows)
      else 'true' end)
    into chunk_nos, scores, shares
    using p_workspace_id, p_filters, p_lexemes, p_weights, p_shares, p_mean_length, p_phrases, p_most, p_allowed;
end $$;

-- The chunks with the highest scores for words (BM25 without its constant factor), best first: fn_search_candidates without
-- filters. Internal.
create or replace function iu_core.fn_search_top_chunks(p_lexemes integer[], p_weights float8[], p_shares float8[], p_mean_length float8,
                                                  p_most integer, out chunk_nos integer[], out scores float8[], out shares float8[])
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  select array_agg(k.chunk_no), array_agg(k.score), array_agg(k.share) into chunk_nos, scores, shares
    from (select p.chunk_no, sum(t.weight * p.count / (p.count + float8 '0.3' + float8 '0.9' * p.length / p_mean_length)) as score,
                 sum(t.share) as share
            from unnest(p_lexemes, p_weights, p_shares) as t (lexeme_id, weight, share)
           cross join lateral (select * from iu_core.search_posting x where x.lexeme_id = t.lexeme_id offset 0) as p
           group by p.chunk_no order by score desc, p.chunk_no limit p_most) as k;
end $$;

-- What is added to the scores of chunks, of which the best come first, for words that stand near to each other in the query and there: of
-- two words that follow each other a fifth of the weight of the commoner one, if they are as near as in the query, less up to eight words
-- (decision 0022). Only the 20 best get it: of further ones it hardly changes which are shown. near_*: as of fn_search_terms. Internal.
create or replace function iu_core.fn_search_nearness(p_lefts text[], p_rights text[], p_places integer[], p_gaps integer[], p_weights float8[],
                                                      p_chunk_nos integer[])
returns table (chunk_no integer, score float8)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  with spot as materialized (
    -- Where a text repeats a word, the first places say enough.
    select k.chunk_no, w.lexeme, w.positions[:16] as positions
      from unnest(p_chunk_nos[:20]) as k (chunk_no)
     -- All words of a text one by one took ten times as long: the weight A marks those of the query.
     cross join lateral (select ts_filter(setweight(ts_filter(x.words, '{d}'), 'A', p_lefts || p_rights), '{a}') as words
                           from iu_core.search_chunk x where x.chunk_no = k.chunk_no offset 0) as c
     cross join lateral unnest(c.words) as w
  ), near as (
    -- Of several readings of the two words the nearest counts.
    select a.chunk_no, max(p.weight / (1 + greatest(abs(x.at - y.at) - p.gap, 0))) as weight
      from unnest(p_lefts, p_rights, p_places, p_gaps, p_weights) as p (left_word, right_word, place, gap, weight)
      join spot a on a.lexeme = p.left_word
      join spot b on b.lexeme = p.right_word and b.chunk_no = a.chunk_no
     cross join lateral unnest(a.positions) as x (at)
     cross join lateral unnest(b.positions) as y (at)
     where abs(x.at - y.at) <= 8
     group by a.chunk_no, p.place
  )
  select n.chunk_no, 2.2 * 0.2 * sum(n.weight) from near n group by n.chunk_no;
end $$;

-- Scores chunks of the caller's choice for a query, as fn_search_lexical does, whatever else would be found: hits of the vectors are
-- compared with hits of the words. A chunk without a word of the query, or of another workspace, has no row; phrases and filters are
-- not asked. Chunks of rows of tables are scored only for sessions that read each row under the rights of the caller. p_terms: as
-- fn_search_lexical gave them for this query, so that its words are analysed and looked up once; NULL, or from other sessions: here.
create or replace function iu_core.fn_search_scores(p_workspace_id uuid, p_query text, p_chunk_ids uuid[], p_terms jsonb default null)
returns table (chunk_id uuid, score real, share real, asked integer)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
  v_rows boolean := iu_core.fn_search_session_is_ours();
  v_chunks integer[];
  v_terms record;
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  if p_query is null or p_chunk_ids is null or cardinality(p_chunk_ids) > 5000 then
    raise exception using errcode = 'SD001', message = 'Scores need a query, and at most 5000 chunks';
  end if;
  if v_rows and p_terms is not null then
    select * into v_terms
      from jsonb_to_record(p_terms) as t (lexeme_ids integer[], weights float8[], shares float8[], mean_length float8, asked integer,
                                          near_lefts text[], near_rights text[], near_places integer[], near_gaps integer[], near_weights float8[]);
  else
    select * into v_terms from iu_core.fn_search_terms(p_workspace_id, p_query);
    if not found then
      return;
    end if;
  end if;
  v_chunks := array(select x.chunk_no from unnest(p_chunk_ids) as g (chunk_id)
                     cross join lateral (select c.chunk_no from iu_core.search_chunk c
                                          where c.chunk_id = g.chunk_id and c.workspace_id = p_workspace_id and (v_rows or c.row_id is null)
                                         offset 0) as x);
  return query
  with scored as materialized (
    select p.chunk_no, sum(t.weight * p.count / (p.count + float8 '0.3' + float8 '0.9' * p.length / v_terms.mean_length)) as score,
                 sum(t.share) as share
            from unnest(v_terms.lexeme_ids, v_terms.weights, v_terms.shares) as t (lexeme_id, weight, share)
           cross join lateral (select x.chunk_no, x.count, x.length from iu_core.search_posting x
                                where x.lexeme_id = t.lexeme_id and x.chunk_no = any (v_chunks) offset 0) as p
           group by p.chunk_no
  )
  select c.chunk_id, ((2.2 * s.score)::real + coalesce(n.score, 0))::real, least(s.share, 1)::real, v_terms.asked
    from scored s
   cross join lateral (select x.chunk_id from iu_core.search_chunk x where x.chunk_no = s.chunk_no offset 0) as c
    left join iu_core.fn_search_nearness(v_terms.near_lefts, v_terms.near_rights, v_terms.near_places, v_terms.near_gaps, v_terms.near_weights,
                                         array(select k.chunk_no from scored k order by k.score desc, k.chunk_no limit 20)) as n
      on n.chunk_no = s.chunk_no
   where s.score > 0;
end $$;

grant execute on function iu_core.fn_search_scores(uuid, text, uuid[], jsonb) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;
