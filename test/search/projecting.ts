/** What the tests of the words of search need: units and documents put into it as the worker does, and what it then holds. */
import type { QueryResultRow } from 'pg'
import { chunksOf } from '../../src/search/chunks.ts'
import type { Person } from '../staging/people.ts'
import type { TestDatabase } from '../support/database.ts'
import { type CreatedUnit, create, type Life, type NewUnit } from '../units/life.ts'

export interface PutRow {
  unit_id: string | null
  document_id: string | null
  chunk_id: string
  position: number
  added: boolean
}

interface Source {
  unit_id?: string
  document_id?: string
  version?: string
  hash: string
  chunks: object[] | null
}

export async function put(db: TestDatabase, ...sources: Source[]): Promise<PutRow[]> {
  return db.owner<PutRow & QueryResultRow>(
    'select unit_id, document_id, chunk_id, position, added from iu_core.fn_search_text_put($1)',
    [JSON.stringify(sources)],
  )
}

/** What the worker would say of these units now. */
export async function sourcesOf(
  db: TestDatabase,
  units: readonly string[],
  size?: number,
): Promise<Source[]> {
  const rows = await db.owner<{ unit_id: string; version: string; hash: string; body: string }>(
    `select u.unit_id, v.unit_version_id as version, v.content_hash as hash, v.body
       from iu_core.information_unit u join iu_core.unit_version v on v.unit_version_id = u.current_version_id
      where u.unit_id = any ($1) order by u.unit_id`,
    [units],
  )
  return rows.map(({ body, ...source }) => ({
    ...source,
    chunks: chunksOf(body, size ? { size } : {}).map(({ from, to }) => ({ from, to })),
  }))
}

export const project = async (db: TestDatabase, units: readonly string[], size?: number): Promise<PutRow[]> =>
  put(db, ...(await sourcesOf(db, units, size)))

/** A unit that search knows. */
export async function unitIn(
  db: TestDatabase,
  life: Life,
  body: string,
  more: NewUnit = {},
): Promise<CreatedUnit> {
  const newUnit = await create(life, { body, ...more })
  await project(db, [newUnit.unit_id])
  return newUnit
}

export async function documentIn(
  db: TestDatabase,
  life: Life,
  body: string,
  title = 'A document',
): Promise<string> {
  const [document] = await db.owner<{ document_id: string; hash: string }>(
    `insert into iu_core.kb_document (workspace_id, source_ref, title, body, content_hash, updated_by, origin)
     values ($1, 'kb:' || gen_random_uuid(), $2, $3, encode(sha256(convert_to($3, 'UTF8')), 'hex'), 'test', 'knowledge_base')
     returning document_id, content_hash as hash`,
    [life.workspace, title, body],
  )
  const { document_id, hash } = document!
  await put(db, { document_id, hash, chunks: [{ from: 0, to: [...body].length }] })
  return document_id
}

export interface Hit {
  chunk_id: string
  unit_id: string | null
  document_id: string | null
  score: number
}

export async function lexical(
  who: Person,
  workspace: string,
  query: string,
  filters: object = {},
  limit = 50,
): Promise<Hit[]> {
  const { rows } = await who.session.query<Hit>('select * from iu_core.fn_search_lexical($1, $2, $3, $4)', [
    workspace,
    query,
    limit,
    JSON.stringify(filters),
  ])
  return rows
}

export const found = async (life: Life, query: string, filters: object = {}): Promise<(string | null)[]> =>
  (await lexical(life.viewer, life.workspace, query, filters)).map((hit) => hit.unit_id ?? hit.document_id)

/** What is kept beside the chunks and differs from what the chunks say. Nothing, if all is well. */
export async function discrepancies(db: TestDatabase): Promise<object[]> {
  return db.owner(
    `with word as (
       -- A word of the title counts three times.
       select c.workspace_id, c.chunk_no, c.length, w.lexeme,
              cardinality(w.positions) + 2 * cardinality(array_positions(w.weights, 'A')) as count
         from iu_core.search_chunk c cross join lateral unnest(c.words) as w
     ), posting as (
       select l.workspace_id, p.chunk_no, p.length, l.lexeme, p.count::integer
         from iu_core.search_posting p left join iu_core.search_lexeme l on l.lexeme_id = p.lexeme_id
     ), counted as (select workspace_id, lexeme, count(*)::integer as chunks from word group by 1, 2)
     select 'posting' as what, to_jsonb(x) as which from ((table word except all table posting) union all (table posting except all table word)) x
     union all
     select 'lexeme', to_jsonb(x) from (
       (table counted except select workspace_id, lexeme, chunks from iu_core.search_lexeme)
       union all (select workspace_id, lexeme, chunks from iu_core.search_lexeme except table counted)) x
     union all
     select 'statistics', to_jsonb(x) from (
       select coalesce(a.workspace_id, b.workspace_id) as workspace_id, a.chunks, a.words, b.chunks as counted, b.words as summed
         from iu_core.search_statistics a
         full join (select workspace_id, count(*) as chunks, sum(length) as words from iu_core.search_chunk group by 1) b using (workspace_id)
        where (coalesce(a.chunks, 0), coalesce(a.words, 0)) <> (coalesce(b.chunks, 0), coalesce(b.words, 0))) x
     union all
     -- A language whose texts are gone, or wait, stays with 0.
     select 'language', to_jsonb(x) from (
       select workspace_id, split_part(language, '-', 1) as language, count(*)::integer as chunks from iu_core.search_chunk group by 1, 2
       except select workspace_id, language, chunks from iu_core.search_language) x
     union all
     select 'bag', to_jsonb(x) from (
       select c.chunk_no from iu_core.search_chunk c
        where c.length <> (select coalesce(sum(cardinality(array_positions(w.weights, 'D'))), 0) from unnest(c.words) as w)
           or c.lexeme_ids <> array(select p.lexeme_id from iu_core.search_posting p where p.chunk_no = c.chunk_no order by 1)) x`,
  )
}
