/** Texts in search: what is put, what stays, what goes, and that the sums are right. */
import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { intruder } from '../staging/people.ts'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { call, create, edit, useLife } from '../units/life.ts'
import { discrepancies, documentIn, found, project, put, sourcesOf, unitIn } from './projecting.ts'

const db = useDatabase()
const life = useLife(db)

const chunksOfUnit = (unit: string) =>
  db.owner<{ chunk_no: number; chunk_id: string; version: string; from_char: number; xmin: string }>(
    `select chunk_no, chunk_id, unit_version_id as version, from_char, xmin::text from iu_core.search_chunk where unit_id = $1 order by position`,
    [unit],
  )
/** As the worker does with a deleted unit: a source without chunks. */
const remove = (unit_id: string) => put(db, { unit_id, hash: '', chunks: null })
const paragraphs = (...names: string[]) =>
  names.map((name) => `${name} ${'begins and goes on. '.repeat(30)}`).join('\n\n')

describe('putting a text', () => {
  it('makes it found, and its sums right', async () => {
    const { unit_id } = await unitIn(db, life, 'Ferrets sleep eighteen hours. Ferrets play, too.')
    expect(await found(life, 'ferrets')).toEqual([unit_id])
    expect(await discrepancies(db)).toEqual([])
  })

  it('again changes nothing, not even a row', async () => {
    const { unit_id } = await create(life, { body: paragraphs('one', 'two', 'three', 'four') })
    const first = await project(db, [unit_id], 700)
    expect(first.map(({ position, added }) => [position, added])).toEqual([1, 2, 3, 4].map((n) => [n, true]))
    const before = await chunksOfUnit(unit_id)
    const again = await project(db, [unit_id], 700)
    expect(again).toEqual(first.map((row) => ({ ...row, added: false })))
    expect(await chunksOfUnit(unit_id)).toEqual(before)
  })

  it('that changed in one place keeps the chunks that did not, at their new place and version', async () => {
    const { unit_id } = await create(life, { body: paragraphs('one', 'two', 'three') })
    const before = await project(db, [unit_id], 700)
    const { unit_version_id } = await edit(life.operator, unit_id, 1, {
      p_body: paragraphs('zero', 'one', 'two', 'tree'),
    })
    const after = await project(db, [unit_id], 700)
    expect(after.map(({ added }) => added)).toEqual([true, false, false, true])
    expect(after.slice(1, 3).map(({ chunk_id }) => chunk_id)).toEqual(
      before.slice(0, 2).map(({ chunk_id }) => chunk_id),
    )
    const chunks = await chunksOfUnit(unit_id)
    expect(chunks.map(({ version }) => version)).toEqual(Array(4).fill(unit_version_id))
    expect(chunks[1]!.from_char).toBeGreaterThan(500)
    expect(await found(life, 'three')).not.toContain(unit_id)
    expect(await discrepancies(db)).toEqual([])
  })

  it('in another language is indexed again under the same id', async () => {
    const { unit_id } = await create(life, { body: 'Gerunds gathering quickly' })
    const [before] = await project(db, [unit_id])
    await edit(life.operator, unit_id, 1, { p_language: 'vi', p_title: 'x' })
    expect(await project(db, [unit_id])).toEqual([{ ...before, added: true }])
    expect(await found(life, '"gerunds gathering"')).toEqual([unit_id])
    expect(
      await db.owner(
        `select tsvector_to_array(ts_filter(words, '{d}')) as words from iu_core.search_chunk where unit_id = $1`,
        [unit_id],
      ),
    ).toEqual([{ words: ['gathering', 'gerunds', 'quickly'] }])
    expect(await discrepancies(db)).toEqual([])
  })

  it('distinguishes equal chunks of one text', async () => {
    const { unit_id } = await create(life, { body: paragraphs('same', 'same', 'same') })
    const rows = await project(db, [unit_id], 700)
    expect(new Set(rows.map(({ chunk_id }) => chunk_id)).size).toBe(3)
  })

  it('counts characters as the chunker does', async () => {
    const { unit_id } = await create(life, { body: '😀😀 đầu 😀 cuối', p_language: 'vi' })
    await put(db, {
      ...(await sourcesOf(db, [unit_id]))[0]!,
      chunks: [
        { from: 3, to: 6 },
        { from: 9, to: 13 },
      ],
    })
    expect(
      await db.owner(
        `select tsvector_to_array(ts_filter(words, '{d}')) as words from iu_core.search_chunk where unit_id = $1 order by position`,
        [unit_id],
      ),
    ).toEqual([{ words: ['dau'] }, { words: ['cuoi'] }])
  })

  it('of a version that is older than what is there changes nothing', async () => {
    const { unit_id } = await create(life, { body: 'An older lamprey.' })
    const older = await sourcesOf(db, [unit_id])
    await edit(life.operator, unit_id, 1, { p_body: 'A newer lamprey.' })
    await project(db, [unit_id])
    expect(await put(db, ...older)).toEqual([])
    expect(await found(life, 'newer lamprey')).toEqual([unit_id])
  })

  it('of a unit that was deleted or retired meanwhile takes it out, and it does not come back', async () => {
    const deleted = await unitIn(db, life, 'A wombat that goes.')
    const retired = await unitIn(db, life, 'A wombat that retires.')
    const late = await sourcesOf(db, [deleted.unit_id, retired.unit_id])
    await call(life.operator, 'fn_unit_delete', { p_unit_id: deleted.unit_id })
    await call(life.reviewer, 'fn_unit_retire', { p_unit_id: retired.unit_id })
    // Before anybody has projected it: nobody sees it any more.
    expect(await found(life, 'wombat')).toEqual([])
    expect(await put(db, ...late)).toEqual([])
    expect(await chunksOfUnit(deleted.unit_id)).toEqual([])
    expect(await chunksOfUnit(retired.unit_id)).toEqual([])
    expect(await discrepancies(db)).toEqual([])
  })

  it('of a document takes its newest text only, and none of one that was only cut', async () => {
    const document = await documentIn(db, life, 'The old quokka handbook.')
    expect(await found(life, 'quokka')).toEqual([document])
    expect(
      await put(db, { document_id: document, hash: 'of a text that was', chunks: [{ from: 0, to: 3 }] }),
    ).toEqual([])
    expect(await found(life, 'quokka')).toEqual([document])
    // Nobody can make one of it that is there already: past the guard.
    const past = await intruder(db)
    const { rows } = await past.query<{ hash: string }>(
      `update iu_core.kb_document set origin = 'cut' where document_id = $1 returning content_hash as hash`,
      [document],
    )
    const hash = rows[0]!.hash
    expect(await found(life, 'quokka')).toEqual([])
    await put(db, { document_id: document, hash, chunks: [{ from: 0, to: 3 }] })
    expect(await db.owner('select from iu_core.search_chunk where document_id = $1', [document])).toEqual([])
  })

  it('without chunks takes a source out', async () => {
    const { unit_id } = await unitIn(db, life, 'A numbat.')
    await put(db, { unit_id, hash: '', chunks: null })
    expect(await chunksOfUnit(unit_id)).toEqual([])
    expect(await discrepancies(db)).toEqual([])
  })

  it('refuses what is no source, and a version that is not the unit’s', async () => {
    const [one, other] = [await create(life), await create(life)]
    const [source] = await sourcesOf(db, [one.unit_id])
    for (const wrong of [
      { ...source, unit_id: randomUUID() },
      { ...source, version: other.unit_version_id },
      { ...source, hash: 'another' },
      { ...source, document_id: randomUUID() },
    ])
      expect(await sqlstateOf(put(db, wrong as never))).toBe('SD001')
    expect(await sqlstateOf(db.owner(`select iu_core.fn_search_text_put('{}')`))).toBe('SD001')
  })

  it('of the longest body that there can be takes seconds, not minutes', async () => {
    const body = Array.from(
      { length: 21_000 },
      (_, n) => `Sentence ${n.toString(36)} of a very long text, đúng. `,
    ).join('')
    const { unit_id } = await create(life, { body })
    const rows = await project(db, [unit_id])
    expect(rows.length).toBeGreaterThan(400)
    await remove(unit_id)
    expect(await discrepancies(db)).toEqual([])
  })
})

describe('removing a text', () => {
  it('leaves no chunk and no word behind that nobody else has, and may be done twice', async () => {
    const { unit_id } = await create(life, { body: 'A solitary axolotl.' })
    expect(await project(db, [unit_id])).toHaveLength(1)
    await remove(unit_id)
    await remove(unit_id)
    expect(await chunksOfUnit(unit_id)).toEqual([])
    expect(await db.owner(`select from iu_core.search_lexeme where lexeme like 'axolotl%'`)).toEqual([])
    expect(await discrepancies(db)).toEqual([])
  })
})

it('lets the worker of the projection put texts, and nobody else', async () => {
  const worker = await db.session('postgres')
  await worker.query('set role vector_worker')
  const { unit_id } = await create(life, { body: 'A dugong.' })
  const sources = JSON.stringify(await sourcesOf(db, [unit_id]))
  expect((await worker.query('select * from iu_core.fn_search_text_put($1)', [sources])).rowCount).toBe(1)
  for (const who of [life.operator, life.agent, life.reviewer]) {
    expect(await sqlstateOf(who.session.query('select iu_core.fn_search_text_put($1)', [sources]))).toBe(
      '42501',
    )
  }
})
