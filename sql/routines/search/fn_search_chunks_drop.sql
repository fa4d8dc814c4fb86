-- Takes chunks out of search, with their postings, and out of every sum that they were in. A word that nobody has any more goes
-- with them. Internal: the caller holds fn_search_lock of their workspaces.
create or replace function iu_core.fn_search_chunks_drop(p_chunk_nos integer[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
-- Each is looked up by its key, whatever the planner knows of tables that are being filled.
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_lexemes integer[];
begin
  if p_chunk_nos is null or p_chunk_nos = '{}' then
    return;
  end if;
  with gone as (
    delete from iu_core.search_chunk c where c.chunk_no = any (p_chunk_nos)
    returning c.chunk_no, c.workspace_id, c.lexeme_ids, c.length
  ), word as materialized (
    select g.chunk_no, w.lexeme_id from gone g cross join lateral unnest(g.lexeme_ids) as w (lexeme_id)
  ), unposted as (
    delete from iu_core.search_posting p using word w where (p.lexeme_id, p.chunk_no) = (w.lexeme_id, w.chunk_no)
  ), counted as (
    update iu_core.search_lexeme l set chunks = l.chunks - n.chunks
      from (select w.lexeme_id, count(*) as chunks from word w group by w.lexeme_id) as n
     where l.lexeme_id = n.lexeme_id
    returning l.lexeme_id, l.chunks
  ), summed as (
    update iu_core.search_statistics s set chunks = s.chunks - n.chunks, words = s.words - n.words
      from (select g.workspace_id, count(*) as chunks, sum(g.length) as words from gone g group by g.workspace_id) as n
     where s.workspace_id = n.workspace_id
  )
  select array_agg(n.lexeme_id) into v_lexemes from counted n where n.chunks = 0;
  delete from iu_core.search_lexeme l where l.lexeme_id = any (v_lexemes);
end $$;
