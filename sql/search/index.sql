-- The word index: chunks, postings and statistics.

-- Writes the current texts of sources into search: for each source exactly these chunks. A chunk whose text exists keeps its id
-- and its words; repeating the call changes nothing. Returns the chunks of the sources, in order. p_sources: [{unit_id,
-- document_id or row_id (with its body: nobody else may read the table), version (of a unit), hash, chunks: [{from, to}]}], in characters of the body, half-open; missing or null chunks
-- remove the source. The text is read here, so that search cannot differ from PostgreSQL. A unit of one chunk brings the words with which it
-- was found while it waited. A source returns nothing, and nothing
-- is written for it, if
--   it is deleted or retired, or a document that was only cut: its chunks are removed;
--   a newer version of the unit is in search, or the document's text has changed: that change has enqueued it again.
create or replace function iu_core.fn_search_text_put(p_sources jsonb)
returns table (unit_id uuid, document_id uuid, chunk_id uuid, "position" smallint, text_hash bytea, added boolean)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
-- By key, as fn_vector_put.
set enable_seqscan = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  v_block constant integer := 200000;
  v_analysis constant smallint := iu_core.fn_search_analysis();
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
           l.language, b.body, iu_core.fn_search_unit_title(v.unit_id, v.version_no, v.title, b.body) as title, h.path,
           case when jsonb_array_length(a.chunks) = 1 then (
             select w.words from iu_core.search_pending w
              where w.unit_id = a.unit_id and w.unit_version_id = a.unit_version_id
                and (w.language, w.path, w.analysis) = (l.language, h.path, v_analysis)) end as words,
           u.deleted_at is null and u.lifecycle_status <> 'retired' and a.chunks is not null as is_there,
           not exists (select from iu_core.search_chunk c join iu_core.unit_version n on n.unit_version_id = c.unit_version_id
                        where c.unit_id = a.unit_id and n.version_no > v.version_no) as is_newest
      from asked a
      join iu_core.information_unit u on u.unit_id = a.unit_id
      left join iu_core.unit_version v on v.unit_version_id = a.unit_version_id and v.unit_id = a.unit_id and v.content_hash = a.content_hash
     cross join lateral (select v.body || '' as body offset 0) as b
     cross join lateral (select case v.language when 'und' then iu_core.fn_text_language(b.body) else v.language end as language offset 0) as l
     cross join lateral (select iu_core.fn_search_path(u.container_id) as path offset 0) as h
     where a.document_id is null and a.row_id is null and (v.unit_id is not null or a.chunks is null)
     union all
    select a.source_id, d.workspace_id, null, a.document_id, null, null, a.content_hash, a.chunks,
           case d.language when 'und' then iu_core.fn_text_language(d.body) else d.language end, d.body || '',
           iu_core.fn_search_title(d.title, d.body), '', null, d.deleted_at is null and d.origin = 'knowledge_base' and a.chunks is not null,
           d.content_hash = a.content_hash
      from asked a
      join iu_core.kb_document d on d.document_id = a.document_id
     where a.unit_id is null and a.row_id is null
     union all
    select a.source_id, r.workspace_id, null, null, a.row_id, null, a.content_hash, a.chunks,
           case t.language when 'und' then iu_core.fn_text_language(a.body) else t.language end, a.body,
           -- The title of a row is part of its text: as a field of its own it would count twice.
           '', '', null, a.chunks is not null, true
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
    select s.source_id, s.workspace_id, s.unit_id, s.document_id, s.row_id, s.unit_version_id, s.content_hash, s.language, s.title, s.path, p.n, p.from_char, p.to_char,
           t.text, case when s.words is not null and t.text = btrim(s.body, E' \t\r\n') then s.words end as words
      from place p
      join block b on (b.source_id, b.n) = (p.source_id, p.from_char / v_block)
      join source s on s.source_id = p.source_id
     cross join lateral (select substring(b.text from p.from_char % v_block + 1 for p.to_char - p.from_char) as text offset 0) as t
  ), hashed as materialized (
    select p.*, sha256(convert_to(p.text, 'UTF8')) as text_hash from piece p
  ), named as (
    -- Equal texts of one source are told apart by their order.
    select h.*, encode(substring(sha256(convert_to(concat_ws(' ', h.source_id, encode(h.text_hash, 'hex'),
                         row_number() over (partition by h.source_id, h.text_hash order by h.n)), 'UTF8')) for 16), 'hex')::uuid as chunk_id
      from hashed h
  )
  select (select array_agg(row(null, n.chunk_id, n.workspace_id, n.unit_id, n.document_id, n.unit_version_id, n.content_hash, n.n,
                               n.from_char, n.to_char, n.text_hash, n.language, null, null, null, n.words, n.title, n.path,
                               v_analysis, n.row_id)::iu_core.search_chunk
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
    select c.chunk_no
      from unnest(v_sources) as g (source_id)
     cross join lateral (select * from iu_core.search_chunk x where x.unit_id = g.source_id
                          union all
                         select * from iu_core.search_chunk x where x.document_id = g.source_id
                          union all
                         select * from iu_core.search_chunk x where x.row_id = g.source_id) as c
     where not exists (select from unnest(v_chunks) as k
                        where (k.chunk_id, k.language, k.title, k.path, k.analysis) = (c.chunk_id, c.language, c.title, c.path, c.analysis))));

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
    returning c.chunk_no, c.workspace_id, c.language, c.lexeme_ids, c.length
  ), word as materialized (
    select g.chunk_no, w.lexeme_id from removed g cross join lateral unnest(g.lexeme_ids) as w (lexeme_id)
  ), removed_posting as (
    delete from iu_core.search_posting p using word w where (p.lexeme_id, p.chunk_no) = (w.lexeme_id, w.chunk_no)
  ), counted as (
    update iu_core.search_lexeme l set chunks = l.chunks - n.chunks
      from (select w.lexeme_id, count(*) as chunks from word w group by w.lexeme_id) as n
     where l.lexeme_id = n.lexeme_id
    returning l.lexeme_id, l.chunks
  ), spoken as (
    update iu_core.search_language s set chunks = s.chunks - n.chunks
      from (select g.workspace_id, split_part(g.language, '-', 1) as language, count(*) as chunks from removed g group by 1, 2) as n
     where (s.workspace_id, s.language) = (n.workspace_id, n.language)
  ), summed as (
    update iu_core.search_statistics s set chunks = s.chunks - n.chunks, words = s.words - n.words
      from (select g.workspace_id, count(*) as chunks, sum(g.length) as words from removed g group by g.workspace_id) as n
     where s.workspace_id = n.workspace_id
  )
  select array_agg(n.lexeme_id) into v_lexemes from counted n where n.chunks = 0;
  delete from iu_core.search_lexeme l where l.lexeme_id = any (v_lexemes);
end $$;

-- Adds chunks to search: their words, their postings, and all statistics. Their texts are a parallel array; a chunk that has its words is
-- not analysed again. Internal: the
-- caller holds fn_search_lock of their workspaces, and none of the chunks exists yet.
create or replace function iu_core.fn_search_chunks_add(p_chunks iu_core.search_chunk[], p_texts text[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
-- While a workspace is filled, what the planner knows of its words is always behind: they are looked up one by one.
set enable_seqscan = off
-- A plan for as many words as this batch has: the joins of its own words are hashed.
set plan_cache_mode = force_custom_plan
set enable_mergejoin = off
-- Of aggregated arrays the server counts 8 kB each, which here have a few numbers: with less it writes most of them to disk.
set work_mem = '128MB'
set hash_mem_multiplier = 16
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
               c.position, c.from_char, c.to_char, c.text_hash, c.language, null, null, null, w.words, c.title, c.path,
               c.analysis, c.row_id)::iu_core.search_chunk
      from unnest(p_chunks) with ordinality as c
      join unnest(p_texts) with ordinality as t (text, ordinality) using (ordinality)
     cross join lateral (select coalesce(c.words, iu_core.fn_search_chunk_words(t.text, c.language, c.title, c.path)) as words offset 0) as w
     order by ordinality);
  with analysed as materialized (
    select c.workspace_id, c.chunk_no, w.lexemes, w.counts, coalesce(w.length, 0)::integer as length
      from unnest(v_chunks) as c
     cross join lateral (
       select array_agg(x.lexeme collate "C") as lexemes, sum(cardinality(array_positions(x.weights, 'D'))) as length,
              -- A word of the title counts three times, as chosen in decision 0022.
              array_agg((cardinality(x.positions)
                         + case c.title when '' then 0 else 2 * cardinality(array_positions(x.weights, 'A')) end)::smallint) as counts
         from unnest(c.words) as x) as w
  ), text_word as (
    select a.workspace_id, a.chunk_no, a.length, unnest(a.lexemes) as lexeme, unnest(a.counts) as count from analysed a
  ), counted as materialized (
    -- Once for each word, with all that it needs below: joins and sorts of the words of each text took a fifth longer.
    select row_number() over () as n, t.workspace_id, t.lexeme, count(*)::integer as chunks,
           array_agg(t.chunk_no) as chunk_nos, array_agg(t.count) as counts, array_agg(t.length) as lengths
      from text_word t group by t.workspace_id, t.lexeme
  ), known as (
    -- One look at each word, in the order of the index: its number and its chunks.
    update iu_core.search_lexeme l set chunks = l.chunks + n.chunks
      from (select * from counted order by workspace_id, lexeme) as n
     where (l.workspace_id, l.lexeme) = (n.workspace_id, n.lexeme)
    returning l.lexeme_id, n.n, n.chunk_nos, n.counts, n.lengths
  ), new as (
    -- Only those that are missing: ON CONFLICT would use up an id for every word that is known.
    insert into iu_core.search_lexeme (workspace_id, lexeme, chunks)
    select n.workspace_id, n.lexeme, n.chunks from counted n
     where not exists (select from known k where k.n = n.n)
     order by n.workspace_id, n.lexeme
    returning workspace_id, lexeme, lexeme_id
  ), word as materialized (
    select o.lexeme_id, unnest(o.chunk_nos) as chunk_no, unnest(o.counts) as count, unnest(o.lengths) as length
      from (select k.lexeme_id, k.chunk_nos, k.counts, k.lengths from known k
             union all
            select w.lexeme_id, n.chunk_nos, n.counts, n.lengths
              from new w join counted n on (n.workspace_id, n.lexeme) = (w.workspace_id, w.lexeme)
             -- As the postings are stored.
             order by 1) as o
  ), chunk_words as materialized (
    select w.chunk_no, array_agg(w.lexeme_id) as ids, array_agg(w.count) as counts from word w group by w.chunk_no
  ), chunk as (
    insert into iu_core.search_chunk (chunk_no, chunk_id, workspace_id, unit_id, document_id, unit_version_id, content_hash_at_embedding,
                                      position, from_char, to_char, text_hash, language, lexeme_ids, lexeme_counts, length, words, title, path,
                                      analysis, row_id)
    overriding system value
    select c.chunk_no, c.chunk_id, c.workspace_id, c.unit_id, c.document_id, c.unit_version_id, c.content_hash_at_embedding,
           c.position, c.from_char, c.to_char, c.text_hash, c.language, coalesce(b.ids, '{}'), coalesce(b.counts, '{}'), a.length, c.words,
           c.title, c.path, c.analysis, c.row_id
      from unnest(v_chunks) as c join analysed a on a.chunk_no = c.chunk_no left join chunk_words b on b.chunk_no = c.chunk_no
     order by c.chunk_no
  ), posting as (
    insert into iu_core.search_posting (lexeme_id, chunk_no, count, length)
    select w.lexeme_id, w.chunk_no, w.count, w.length from word w
  ), spoken as (
    insert into iu_core.search_language as s (workspace_id, language, chunks)
    select c.workspace_id, split_part(c.language, '-', 1), count(*) from unnest(v_chunks) as c group by 1, 2
    on conflict (workspace_id, language) do update set chunks = s.chunks + excluded.chunks
  )
  insert into iu_core.search_statistics as s (workspace_id, chunks, words)
  select a.workspace_id, count(*), sum(a.length) from analysed a group by a.workspace_id
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

-- The version of the analysis of words: chunks of another one are analysed again (fn_search_reanalyse). With the server's major version,
-- because its stemmers change with it.
create or replace function iu_core.fn_search_analysis() returns smallint
language sql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select (current_setting('server_version_num')::integer / 10000 * 100 + 1)::smallint
$$;

grant execute on function iu_core.fn_search_analysis() to
  dot_executor, service_role, vector_worker, authenticated, stagedoor_agent, stagedoor_reviewer;

-- The title as search counts it: none if it only repeats the beginning of the text, because nobody gave one. Internal.
create or replace function iu_core.fn_search_title(p_title text, p_body text) returns text
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Enough to see whether something follows the title.
  v_start text := ltrim(left(p_body, 4000), E' \t\r\n');
begin
  return case when starts_with(v_start, p_title)
                   and substr(v_start, length(p_title) + 1) !~ '^[ \t\r]*\n\s*\S' then '' else coalesce(left(p_title, 500), '') end;
end $$;

-- The title of a version of a unit as search counts it: none either if it was taken from the beginning of an earlier text. Internal.
create or replace function iu_core.fn_search_unit_title(p_unit_id uuid, p_version_no integer, p_title text, p_body text) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_version_no > 1
     and exists (select from iu_core.unit_version n
                  where n.unit_id = p_unit_id and n.version_no < p_version_no and n.title = p_title
                    and iu_core.fn_search_title(n.title, n.body) = '') then
    return '';
  end if;
  return iu_core.fn_search_title(p_title, p_body);
end $$;

-- The titles of the units that contain a unit, the outermost first. Internal.
create or replace function iu_core.fn_search_path(p_container_id uuid) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_container_id is null then
    return '';
  end if;
  return (with recursive above as (
    select u.unit_id, u.container_id, u.title, 1 as depth from iu_core.information_unit u where u.unit_id = p_container_id
     union all
    -- Deeper than documents are; containers in a circle end here, too.
    select u.unit_id, u.container_id, u.title, a.depth + 1
      from above a join iu_core.information_unit u on u.unit_id = a.container_id where a.depth < 6
  )
  select coalesce(left(string_agg(a.title, E'\n' order by a.depth desc), 1000), '') from above a);
end $$;

-- Enqueues a unit whose title or container has changed, and all units in it: their words have that title. The same text keeps its vector.
create or replace function iu_core.fn_search_title_changed() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.fn_vector_enqueue(array(
    with recursive inside as (
      select new.unit_id, 1 as depth
       union all
      select u.unit_id, i.depth + 1
        from inside i join iu_core.information_unit u on u.container_id = i.unit_id where i.depth < 7
    )
    select distinct u.unit_id from inside i join iu_core.information_unit u on u.unit_id = i.unit_id
     where u.deleted_at is null and u.lifecycle_status <> 'retired'), 'patch');
  return null;
end $$;

create or replace trigger information_unit_title_is_searched
  after update of title, container_id on iu_core.information_unit
  for each row when ((old.title, old.container_id) is distinct from (new.title, new.container_id))
  execute function iu_core.fn_search_title_changed();

-- Analyses chunks of an older analysis again, up to p_limit from a number on: their words, with title and path as they are now. Texts,
-- vectors and freshness stay as they are, so search goes on meanwhile; each call is one transaction. Rows of tables are enqueued: their
-- text is in their table, which this function may not read. Returns the number after which the next call continues; NULL: there are no more.
create or replace function iu_core.fn_search_reanalyse(p_after integer default 0, p_limit integer default 200) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_numbers integer[];
  v_chunks iu_core.search_chunk[];
  v_texts text[];
begin
  if p_after is null or p_limit is null or p_limit not between 1 and 10000 then
    raise exception using errcode = 'SD001', message = 'A number to continue after is needed, and a limit from 1 to 10000';
  end if;
  v_numbers := array(select c.chunk_no from iu_core.search_chunk c
                      where c.chunk_no > p_after and c.analysis <> iu_core.fn_search_analysis() order by c.chunk_no limit p_limit);
  if v_numbers = '{}' then
    return null;
  end if;
  -- Always in this order, so that two batches cannot deadlock.
  perform iu_core.fn_search_lock(w.workspace_id)
     from (select distinct c.workspace_id from iu_core.search_chunk c where c.chunk_no = any (v_numbers) order by 1) as w;
  select array_agg(row(null, c.chunk_id, c.workspace_id, c.unit_id, c.document_id, c.unit_version_id, c.content_hash_at_embedding, c.position,
                       c.from_char, c.to_char, c.text_hash, c.language, null, null, null, null,
                       s.title, s.path, iu_core.fn_search_analysis(), c.row_id)::iu_core.search_chunk order by c.chunk_no),
         array_agg(s.text order by c.chunk_no)
    into v_chunks, v_texts
    from iu_core.search_chunk c
   cross join lateral (
     select substring(v.body from c.from_char + 1 for c.to_char - c.from_char) as text,
            iu_core.fn_search_unit_title(v.unit_id, v.version_no, v.title, v.body) as title,
            iu_core.fn_search_path(u.container_id) as path
       from iu_core.unit_version v join iu_core.information_unit u on u.unit_id = v.unit_id
      where v.unit_version_id = c.unit_version_id
      union all
     -- Of a document only its newest text is kept; if that has changed, the chunk is about to be replaced.
     select substring(d.body from c.from_char + 1 for c.to_char - c.from_char), iu_core.fn_search_title(d.title, d.body), ''
       from iu_core.kb_document d where d.document_id = c.document_id and d.content_hash = c.content_hash_at_embedding) as s
   -- Waiting for the lock, somebody may have replaced them.
   where c.chunk_no = any (v_numbers) and c.analysis <> iu_core.fn_search_analysis();
  perform iu_core.fn_search_chunks_drop(array(
    select c.chunk_no from iu_core.search_chunk c where c.chunk_id in (select k.chunk_id from unnest(v_chunks) as k)));
  perform iu_core.fn_search_chunks_add(v_chunks, v_texts);
  perform iu_core.fn_search_rows_enqueue_now(array(
    select distinct c.row_id from iu_core.search_chunk c
     where c.chunk_no = any (v_numbers) and c.row_id is not null and c.analysis <> iu_core.fn_search_analysis() order by 1));
  return v_numbers[cardinality(v_numbers)];
end $$;

grant execute on function iu_core.fn_search_reanalyse(integer, integer) to vector_worker;
