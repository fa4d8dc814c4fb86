-- The chunks that words speak for most (BM25, without its constant factor), best first, and how much: fn_search_candidates where
-- nothing is asked of them. Internal.
create or replace function iu_core.fn_search_best(p_lexemes integer[], p_weights float8[], p_mean_length float8, p_most integer,
                                                  out chunk_nos integer[], out scores float8[])
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  select array_agg(k.chunk_no), array_agg(k.score) into chunk_nos, scores
    from (select p.chunk_no, sum(t.weight * p.count / (p.count + float8 '0.3' + float8 '0.9' * p.length / p_mean_length)) as score
            from unnest(p_lexemes, p_weights) as t (lexeme_id, weight)
           cross join lateral (select * from iu_core.search_posting x where x.lexeme_id = t.lexeme_id offset 0) as p
           group by p.chunk_no order by score desc, p.chunk_no limit p_most) as k;
end $$;
