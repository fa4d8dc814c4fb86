-- Search by words: BM25 (k1 1.2, b 0.75), the chunks with the highest score first. A text should have some of the words of the
-- query, the more and the rarer the better, so a question can be asked as one asks it. "Words in quotes" must be there as they
-- stand, begin* stands for all words that begin so. Filters: see fn_search_filter. p_limit: 1 to 1000.
-- A query of stop words alone, or of words that nobody has written, finds nothing; fn_search_parse tells which it is.
create or replace function iu_core.fn_search_lexical(p_workspace_id uuid, p_query text, p_limit integer default 50, p_filters jsonb default '{}')
returns table (chunk_no integer, chunk_id uuid, unit_id uuid, document_id uuid, score real)
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
  v_filters jsonb := jsonb_strip_nulls(coalesce(p_filters, '{}'));
  v_terms record;
  -- How many of the words, rarest first, choose; the others only score what was chosen.
  v_rare integer;
  v_allowed integer[];
  v_chosen record;
  v_asked_before boolean;
  v_chunks integer[];
  v_scores real[];
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
  -- Nearly all chunks may be shown, so it is asked of those that would be; if too many of them may not, it is asked before.
  foreach v_asked_before in array case when v_filters = '{}' and v_rare > 0 then '{false,true}'::boolean[] else '{true}' end loop
    if not v_asked_before then
      v_chosen := iu_core.fn_search_best(v_terms.lexeme_ids[:v_rare], v_terms.weights[:v_rare], v_terms.mean_length, v_most);
    elsif cardinality(v_allowed) <= v_most then
      select v_allowed as chunk_nos, array_fill(0::float8, array[cardinality(v_allowed)]) as scores into v_chosen;
    else
      v_chosen := iu_core.fn_search_candidates(
        p_workspace_id, coalesce(v_terms.required, v_terms.lexeme_ids[:v_rare]),
        case when v_rare = 0 then array_fill(0::float8, array[cardinality(v_terms.required)]) else v_terms.weights[:v_rare] end,
        v_terms.mean_length, v_terms.english, v_terms.simple, v_filters, v_allowed, v_most);
    end if;
    select array_agg(f.chunk_no), array_agg(f.score) into v_chunks, v_scores from (
      select b.chunk_no, (2.2 * b.score)::real as score
        from (select k.chunk_no, k.score + coalesce(p.score, 0) as score
                from unnest(v_chosen.chunk_nos, v_chosen.scores) as k (chunk_no, score)
               cross join lateral (
                 select sum(t.weight * p.count / (p.count + float8 '0.3' + float8 '0.9' * p.length / v_terms.mean_length)) as score
                   from unnest(v_terms.lexeme_ids[v_rare + 1:], v_terms.weights[v_rare + 1:]) as t (lexeme_id, weight)
                  cross join lateral (select x.count, x.length from iu_core.search_posting x
                                       where x.lexeme_id = t.lexeme_id and x.chunk_no = k.chunk_no offset 0) as p
                 offset 0) as p
               order by 2 desc, 1) as b
       cross join lateral (
         select from iu_core.search_chunk x
          where x.chunk_no = b.chunk_no and b.score > 0
            and (v_terms.english is null or iu_core.fn_search_phrases_match(x.words, x.language, v_terms.english, v_terms.simple))
            and (v_asked_before
                 or exists (select from iu_core.information_unit u
                             where u.unit_id = x.unit_id and u.deleted_at is null and u.lifecycle_status in ('draft', 'enacted'))
                 or exists (select from iu_core.kb_document d
                             where d.document_id = x.document_id and d.deleted_at is null and d.origin = 'knowledge_base'))
         offset 0) as shown
       limit p_limit) as f;
    exit when cardinality(v_chunks) = p_limit or coalesce(cardinality(v_chosen.chunk_nos), 0) < v_most;
  end loop;
  return query
  select c.chunk_no, c.chunk_id, c.unit_id, c.document_id, f.score
    from unnest(v_chunks, v_scores) as f (chunk_no, score)
   cross join lateral (select x.chunk_no, x.chunk_id, x.unit_id, x.document_id from iu_core.search_chunk x
                        where x.chunk_no = f.chunk_no offset 0) as c
   order by f.score desc, c.chunk_id;
end $$;

grant execute on function iu_core.fn_search_lexical(uuid, text, integer, jsonb) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;
