/** What a hit contains of a chunk, so that it can be shown and judged. */
import type { QueryResultRow } from 'pg'
import { expect, it } from 'vitest'
import type { Person } from '../staging/people.ts'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { create, edit, useLife } from '../units/life.ts'
import { documentIn, lexical, put, sourcesOf, unitIn } from './projecting.ts'

const db = useDatabase()
const life = useLife(db)

async function hits(query: string, who: Person = life.viewer): Promise<QueryResultRow[]> {
  const chunks = (await lexical(who, life.workspace, query)).map((hit) => hit.chunk_id)
  const { rows } = await who.session.query('select * from iu_core.fn_search_hits($1, $2)', [
    life.workspace,
    chunks,
  ])
  const texts = await textsOf(life.workspace, chunks, [], who)
  return rows.map((row) => ({ ...row, text: texts.get(row.chunk_id) ?? null }))
}

async function textsOf(
  workspace: string,
  chunks: readonly string[],
  documents: readonly string[],
  who: Person = life.viewer,
): Promise<Map<string, string>> {
  const { rows } = await who.session.query<{ id: string; text: string }>(
    'select * from iu_core.fn_search_texts($1, $2, $3)',
    [workspace, chunks, documents],
  )
  return new Map(rows.map(({ id, text }) => [id, text]))
}

it('returns a unit’s address, title, state and text', async () => {
  const { unit_id } = await unitIn(db, life, '# Otters\n\nOtters swim. Đúng vậy.', { address: 'zoo/otters' })
  expect(await hits('otters')).toMatchObject([
    {
      source: 'unit',
      unit_id,
      document_id: null,
      document_state: null,
      canonical_address: 'zoo/otters',
      title: 'Otters',
      unit_kind: 'note',
      lifecycle_status: 'draft',
      vector_state: 'pending',
      version_no: 1,
      current_version_no: 1,
      text: '# Otters\n\nOtters swim. Đúng vậy.',
    },
  ])
})

it('shows the text of the version that was projected, beside the number of the newest', async () => {
  const { unit_id } = await unitIn(db, life, 'A heron stands.')
  await edit(life.operator, unit_id, 1, { p_body: 'Another text.' })
  expect(await hits('heron')).toMatchObject([
    { version_no: 1, current_version_no: 2, text: 'A heron stands.' },
  ])
})

it('returns a document’s state, and no text that has changed since', async () => {
  const document = await documentIn(db, life, 'A stork stands.', 'Storks')
  expect(await hits('stork')).toMatchObject([
    { source: 'document', document_id: document, unit_id: null, title: 'Storks', text: 'A stork stands.' },
  ])
  await db
    .pool('stagedoor_worker')
    .query(
      `select iu_core.fn_document_put(workspace_id, source_ref, title, 'Else.') from iu_core.kb_document where document_id = $1`,
      [document],
    )
  expect(await hits('stork')).toMatchObject([{ is_as_projected: false, text: null, vector_state: 'stale' }])
  expect(await textsOf(life.workspace, [], [document])).toEqual(new Map([[document, 'Else.']]))
})

it('reads each of several chunks of one text', async () => {
  const { unit_id } = await create(life, { body: 'Đàn cò bay. A second heronry. Third.' })
  const [source] = await sourcesOf(db, [unit_id])
  const places = [
    { from: 0, to: 11 },
    { from: 12, to: 29 },
  ]
  const rows = await put(db, { ...source!, chunks: places })
  const ids = rows.map(({ chunk_id }) => chunk_id)
  expect(await textsOf(life.workspace, ids, [])).toEqual(
    new Map([
      [ids[0], 'Đàn cò bay.'],
      [ids[1], 'A second heronry.'],
    ]),
  )
})

it('returns with a unit the document of the old knowledge base that it was cut from', async () => {
  const document = await documentIn(db, life, 'Nothing to see.', 'Birds')
  const { unit_id } = await unitIn(db, life, 'A bittern booms.')
  const map = (dropped: string) =>
    db.owner(
      `insert into iu_core.kb_unit_map (document_id, unit_id, piece_address, position, title, content_hash, cut_run_id, dropped_at)
       values ($1, $2, 'x', 1, 'x', 'x', gen_random_uuid(), ${dropped})
       on conflict (document_id, unit_id) do update set dropped_at = excluded.dropped_at`,
      [document, unit_id],
    )
  await map('null')
  expect(await hits('bittern')).toMatchObject([
    { document_id: document, document_state: 'stale', document_title: 'Birds' },
  ])
  await map('now()')
  expect(await hits('bittern')).toMatchObject([{ document_id: null, document_state: null }])
})

it('returns nothing of another workspace, and nothing to who is no member', async () => {
  await unitIn(db, life, 'A crane.')
  const chunks = (await lexical(life.viewer, life.workspace, 'crane')).map((hit) => hit.chunk_id)
  const document = await documentIn(db, life, 'A crane of steel.')
  const ask = (workspace: string) =>
    life.stranger.session.query('select * from iu_core.fn_search_hits($1, $2)', [workspace, chunks])
  expect((await ask(life.elsewhere)).rows).toEqual([])
  expect(await sqlstateOf(ask(life.workspace))).toBe('SD201')
  const read = (workspace: string) => textsOf(workspace, chunks, [document], life.stranger)
  expect(await read(life.elsewhere)).toEqual(new Map())
  expect(await sqlstateOf(read(life.workspace))).toBe('SD201')
})
