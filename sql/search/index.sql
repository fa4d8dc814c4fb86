-- The word index: chunks, postings and statistics.

-- Writes the current texts of sources into search: for each source exactly these chunks. A chunk whose text exists keeps its id
-- and its words; repeating the call changes nothing. Returns the chunks of the sources, in order. p_sources: [{unit_id,
-- document_id or row_id (with its body: nobody else may read the table), version (of a unit), hash, chunks: [{from, to}]}], in characters of the body, half-open; missing or null chunks
-- remove the source. The text is read here, so that search cannot differ from PostgreSQL. A source returns nothing, and nothing
-- is written for it, if
--   it is deleted or retired, or a document that was only cut: its chunks are removed;
--   a newer version of the unit is in search, or the document's text has changed: that change has enqueued it again.
create or replace function iu_core.fn_search_text_put(p_sources jsonb)
returns table (unit_id uuid, document_id uuid, chunk_id uuid, "position" smallint, text_hash bytea, added boolean)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_block constant integer := 200000;
  v_chunks iu_core.search_chunk[];
  v_texts text[];
  v_sources uuid[];
  v_unknown uuid[];
  v_missing integer[];
begin
  if jsonb_typeof(p_sources) is distinct from 'array' then
    raise exception using errcode = 'SD001', message = 'The sources must be an array';
  end if;
  -- Always in this order, so that two batches cannot deadlock.
  perform iu_core.fn_search_lock(w.workspace_id)
     from (select u.workspace_id from jsonb_to_recordset(p_sources) as s (unit_id uuid)
             join iu_core.information_unit u on u.unit_id = s.unit_id
            union
           select d.workspace_id from jsonb_to_recordset(p_sources) as s (document_id uuid)
             join iu_core.kb_document d on d.document_id = s.document_id
            union
           select r.workspace_id from jsonb_to_recordset(p_sources) as s (row_id uuid)
             join iu_core.search_row r on r.row_id = s.row_id
            order by 1) as w;

  with asked as materialized (
    select s.unit_id, s.document_id, s.row_id, coalesce(s.unit_id, s.document_id, s.row_id) as source_id, s.version as unit_version_id,
           s.hash as content_hash, s.body, case jsonb_typeof(s.chunks) when 'array' then s.chunks end as chunks
      from jsonb_to_recordset(p_sources) as s (unit_id uuid, document_id uuid, row_id uuid, version uuid, hash text, body text, chunks jsonb)
  ), source as materialized (
    -- The empty string takes the body out of its compressed form once, not for every chunk.
    select a.source_id, u.workspace_id, a.unit_id, null::uuid as document_id, null::uuid as row_id, a.unit_version_id, a.content_hash, a.chunks,
           v.language, v.body || '' as body,
           u.deleted_at is null and u.lifecycle_status <> 'retired' and a.chunks is not null as is_there,
           not exists (select from iu_core.search_chunk c join iu_core.unit_version n on n.unit_version_id = c.unit_version_id
                        where c.unit_id = a.unit_id and n.version_no > v.version_no) as is_newest
      from asked a
      join iu_core.information_unit u on u.unit_id = a.unit_id
      left join iu_core.unit_version v on v.unit_version_id = a.unit_version_id and v.unit_id = a.unit_id and v.content_hash = a.content_hash
     where a.document_id is null and a.row_id is null and (v.unit_id is not null or a.chunks is null)
     union all
    select a.source_id, d.workspace_id, null, a.document_id, null, null, a.content_hash, a.chunks,
           d.language, d.body || '', d.deleted_at is null and d.origin = 'knowledge_base' and a.chunks is not null,
           d.content_hash = a.content_hash
      from asked a
      join iu_core.kb_document d on d.document_id = a.document_id
     where a.unit_id is null and a.row_id is null
     union all
    select a.source_id, r.workspace_id, null, null, a.row_id, null, a.content_hash, a.chunks, t.language, a.body, a.chunks is not null, true
      from asked a
      join iu_core.search_row r on r.row_id = a.row_id
      join iu_core.search_table t on t.table_id = r.table_id
     where a.chunks is null or a.content_hash = encode(sha256(convert_to(a.body, 'UTF8')), 'hex')
  ), place as materialized (
    select s.source_id, k.ordinality as n, (k.value ->> 'from')::integer as from_char, (k.value ->> 'to')::integer as to_char
      from source s cross join lateral jsonb_array_elements(s.chunks) with ordinality as k
     where s.is_there and s.is_newest
  ), block as materialized (
    -- Where a character begins is only found by counting from the start: counted for each chunk, 10 MB took a minute.
    select s.source_id, b.n, substring(s.body from b.n * v_block + 1 for v_block + p.longest) as text
      from source s
      join (select p.source_id, max(p.to_char - p.from_char) as longest, max(p.from_char) as last from place p group by p.source_id) as p
        on p.source_id = s.source_id
     cross join lateral generate_series(0, p.last / v_block) as b (n)
  ), piece as materialized (
    select s.source_id, s.workspace_id, s.unit_id, s.document_id, s.row_id, s.unit_version_id, s.content_hash, s.language, p.n, p.from_char, p.to_char,
           substring(b.text from p.from_char % v_block + 1 for p.to_char - p.from_char) as text
      from place p
      join block b on (b.source_id, b.n) = (p.source_id, p.from_char / v_block)
      join source s on s.source_id = p.source_id
  ), hashed as materialized (
    select p.*, sha256(convert_to(p.text, 'UTF8')) as text_hash from piece p
  ), named as (
    -- Equal texts of one source are told apart by their order.
    select h.*, encode(substring(sha256(convert_to(concat_ws(' ', h.source_id, encode(h.text_hash, 'hex'),
                         row_number() over (partition by h.source_id, h.text_hash order by h.n)), 'UTF8')) for 16), 'hex')::uuid as chunk_id
      from hashed h
  )
  select (select array_agg(row(null, n.chunk_id, n.workspace_id, n.unit_id, n.document_id, n.unit_version_id, n.content_hash, n.n,
                               n.from_char, n.to_char, n.text_hash, n.language, null, null, null, null, n.row_id)::iu_core.search_chunk
                           order by n.source_id, n.n) from named n),
         (select array_agg(n.text order by n.source_id, n.n) from named n),
         -- Whose chunks are replaced: not those that stay as they are.
         (select array_agg(s.source_id) from source s where s.is_newest or not s.is_there),
         (select array_agg(a.source_id) from asked a where not exists (select from source s where s.source_id = a.source_id))
    into v_chunks, v_texts, v_sources, v_unknown;
  if v_unknown is not null then
    raise exception using errcode = 'SD001',
      message = format('%s is not a source with this version and this hash', v_unknown[1]), detail = json_build_object('sources', v_unknown)::text;
  end if;

  perform iu_core.fn_search_chunks_drop(array(
    select c.chunk_no from iu_core.search_chunk c
     where (c.unit_id = any (v_sources) or c.document_id = any (v_sources) or c.row_id = any (v_sources))
       and not exists (select from unnest(v_chunks) as k where (k.chunk_id, k.language) = (c.chunk_id, c.language))));

  update iu_core.search_chunk c
     set unit_version_id = k.unit_version_id, content_hash_at_embedding = k.content_hash_at_embedding, position = k.position,
         from_char = k.from_char, to_char = k.to_char
    from unnest(v_chunks) as k
   where c.chunk_id = k.chunk_id
     and (c.unit_version_id, c.content_hash_at_embedding, c.position, c.from_char, c.to_char)
         is distinct from (k.unit_version_id, k.content_hash_at_embedding, k.position, k.from_char, k.to_char);

  v_missing := array(select k.ordinality from unnest(v_chunks) with ordinality as k
                      where not exists (select from iu_core.search_chunk c where c.chunk_id = k.chunk_id) order by k.ordinality);
  perform iu_core.fn_search_chunks_add(array(select v_chunks[m.n] from unnest(v_missing) as m (n)),
                                       array(select v_texts[m.n] from unnest(v_missing) as m (n)));
  -- From here on these texts are found in the index. A version written meanwhile stays pending.
  perform iu_core.fn_search_pending_delete(v_sources);
  return query
  select k.unit_id, k.document_id, k.chunk_id, k.position, k.text_hash, k.ordinality = any (v_missing)
    from unnest(v_chunks) with ordinality as k order by k.ordinality;
end $$;

grant execute on function iu_core.fn_search_text_put(jsonb) to service_role, dot_executor, vector_worker;

-- Removes chunks from search, with their postings, and from all statistics. A word without chunks is removed too. Internal: the
-- caller holds fn_search_lock of their workspaces.
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
  with removed as (
    delete from iu_core.search_chunk c where c.chunk_no = any (p_chunk_nos)
    returning c.chunk_no, c.workspace_id, c.lexeme_ids, c.length
  ), word as materialized (
    select g.chunk_no, w.lexeme_id from removed g cross join lateral unnest(g.lexeme_ids) as w (lexeme_id)
  ), removed_posting as (
    delete from iu_core.search_posting p using word w where (p.lexeme_id, p.chunk_no) = (w.lexeme_id, w.chunk_no)
  ), counted as (
    update iu_core.search_lexeme l set chunks = l.chunks - n.chunks
      from (select w.lexeme_id, count(*) as chunks from word w group by w.lexeme_id) as n
     where l.lexeme_id = n.lexeme_id
    returning l.lexeme_id, l.chunks
  ), summed as (
    update iu_core.search_statistics s set chunks = s.chunks - n.chunks, words = s.words - n.words
      from (select g.workspace_id, count(*) as chunks, sum(g.length) as words from removed g group by g.workspace_id) as n
     where s.workspace_id = n.workspace_id
  )
  select array_agg(n.lexeme_id) into v_lexemes from counted n where n.chunks = 0;
  delete from iu_core.search_lexeme l where l.lexeme_id = any (v_lexemes);
end $$;

-- Adds chunks to search: their words, their postings, and all statistics. Their texts are a parallel array. Internal: the
-- caller holds fn_search_lock of their workspaces, and none of the chunks exists yet.
create or replace function iu_core.fn_search_chunks_add(p_chunks iu_core.search_chunk[], p_texts text[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
-- While a workspace is filled, what the planner knows of its words is always behind: they are looked up one by one.
set enable_seqscan = off
as $$
declare
  v_numbers constant regclass := pg_get_serial_sequence('iu_core.search_chunk', 'chunk_no');
  v_chunks iu_core.search_chunk[];
begin
  if p_chunks is null or p_chunks = '{}' then
    return;
  end if;
  v_chunks := array(
    select row(nextval(v_numbers), c.chunk_id, c.workspace_id, c.unit_id, c.document_id, c.unit_version_id, c.content_hash_at_embedding,
               c.position, c.from_char, c.to_char, c.text_hash, c.language, null, null,
               (select coalesce(sum(cardinality(s.positions)), 0) from unnest(w.words) as s), w.words, c.row_id)::iu_core.search_chunk
      from unnest(p_chunks) with ordinality as c
      join unnest(p_texts) with ordinality as t (text, ordinality) using (ordinality)
     cross join lateral (select iu_core.fn_search_words(t.text, c.language) as words offset 0) as w
     order by ordinality);
  -- Only those that are missing: ON CONFLICT would use up an id for every word that is known.
  insert into iu_core.search_lexeme (workspace_id, lexeme)
  select w.workspace_id, w.lexeme
    from (select distinct c.workspace_id, w.lexeme collate "C" as lexeme
            from unnest(v_chunks) as c cross join lateral unnest(tsvector_to_array(c.words)) as w (lexeme)) as w
    left join lateral (select l.lexeme_id from iu_core.search_lexeme l
                        where (l.workspace_id, l.lexeme) = (w.workspace_id, w.lexeme) offset 0) as l on true
   where l.lexeme_id is null
   order by w.workspace_id, w.lexeme;
  -- No self-join: the planner cannot know the size of a document and would compare all pairs.
  with text_word as (
    select c.workspace_id, w.lexeme collate "C" as lexeme, array_agg(c.chunk_no) as chunk_nos,
           array_agg(cardinality(w.positions)::smallint) as counts, array_agg(c.length) as lengths
      from unnest(v_chunks) as c cross join lateral unnest(c.words) as w
     group by 1, 2
  ), known as materialized (
    select l.lexeme_id, s.chunk_nos, s.counts, s.lengths
      from text_word s
     cross join lateral (select l.lexeme_id from iu_core.search_lexeme l
                          where (l.workspace_id, l.lexeme) = (s.workspace_id, s.lexeme) offset 0) as l
  ), word as materialized (
    select k.lexeme_id, w.chunk_no, w.count, w.length
      from known k cross join lateral unnest(k.chunk_nos, k.counts, k.lengths) as w (chunk_no, count, length)
     order by k.lexeme_id, w.chunk_no
  ), chunk_words as materialized (
    select w.chunk_no, array_agg(w.lexeme_id order by w.lexeme_id) as ids, array_agg(w.count order by w.lexeme_id) as counts
      from word w group by w.chunk_no
  ), chunk as (
    insert into iu_core.search_chunk (chunk_no, chunk_id, workspace_id, unit_id, document_id, unit_version_id, content_hash_at_embedding,
                                      position, from_char, to_char, text_hash, language, lexeme_ids, lexeme_counts, length, words, row_id)
    overriding system value
    select c.chunk_no, c.chunk_id, c.workspace_id, c.unit_id, c.document_id, c.unit_version_id, c.content_hash_at_embedding,
           c.position, c.from_char, c.to_char, c.text_hash, c.language, coalesce(b.ids, '{}'), coalesce(b.counts, '{}'), c.length, c.words,
           c.row_id
      from unnest(v_chunks) as c left join chunk_words b on b.chunk_no = c.chunk_no
     order by c.chunk_no
  ), posting as (
    insert into iu_core.search_posting (lexeme_id, chunk_no, count, length)
    select w.lexeme_id, w.chunk_no, w.count, w.length from word w
  ), counted as (
    update iu_core.search_lexeme l set chunks = l.chunks + cardinality(k.chunk_nos)
      from known k where l.lexeme_id = k.lexeme_id
  )
  insert into iu_core.search_statistics as s (workspace_id, chunks, words)
  select c.workspace_id, count(*), sum(c.length) from unnest(v_chunks) as c group by c.workspace_id
  on conflict (workspace_id) do update set chunks = s.chunks + excluded.chunks, words = s.words + excluded.words;
end $$;

-- Serializes writers of a workspace's words until the end of the transaction: the number of chunks with a word is a sum that
-- all of them change. Internal: taken before any row lock.
create or replace function iu_core.fn_search_lock(p_workspace_id uuid) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  select pg_advisory_xact_lock(hashtextextended('stagedoor.search ' || p_workspace_id, 0))
$$;
