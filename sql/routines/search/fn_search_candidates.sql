-- First of the two phases of fn_search_lexical: which chunks are worth scoring in full, and their score by the words that choose
-- them. Filters and phrases come before the choice. Internal.
-- Where filters let through few chunks, these are looked for; where many, chunks are asked one after the other, the best first,
-- until there are enough.
create or replace function iu_core.fn_search_candidates(p_workspace_id uuid, p_lexemes integer[], p_weights float8[], p_mean_length float8,
                                                        p_english tsquery[], p_simple tsquery[], p_filters jsonb, p_allowed integer[],
                                                        p_most integer, out chunk_nos integer[], out scores float8[])
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_condition record := iu_core.fn_search_filter(p_filters);
begin
  execute format($q$
    select array_agg(k.chunk_no), array_agg(k.score)
      from (select s.chunk_no, s.score
              from (select p.chunk_no, sum(t.weight * p.count / (p.count + float8 '0.3' + float8 '0.9' * p.length / $5)) as score
                      from unnest($3, $4) as t (lexeme_id, weight)
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
    case when p_english is not null then 'and iu_core.fn_search_phrases_match(c.words, c.language, $6, $7)' end,
    case when p_allowed is null then
      format($q$ %s and (exists (select from iu_core.information_unit u where u.unit_id = c.unit_id and %s)
                         or exists (select from iu_core.kb_document d where d.document_id = c.document_id and %s)) $q$,
             v_condition.chunks, v_condition.units, v_condition.documents)
      else 'true' end)
    into chunk_nos, scores
    using p_workspace_id, p_filters, p_lexemes, p_weights, p_mean_length, p_english, p_simple, p_most, p_allowed;
end $$;
