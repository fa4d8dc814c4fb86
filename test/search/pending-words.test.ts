/** The words of a waiting unit are stored in search as they are, and only if a new analysis would give the same. */
import { describe, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { call, create, edit, type NewUnit, useLife } from '../units/life.ts'
import { project, put, sourcesOf } from './projecting.ts'

const db = useDatabase()
const life = useLife(db)

const PLANTED = `'planted':1`

/** Words that no analysis gives: what search has afterwards says whether it used them. */
const plant = (unit: string, change = '') =>
  db.owner(`update iu_core.search_pending set words = $2${change} where unit_id = $1`, [unit, PLANTED])
const wordsOf = (unit: string) =>
  db.owner<{ words: string; analysed: string }>(
    `select c.words::text as words,
            iu_core.fn_search_chunk_words(substring(v.body from c.from_char + 1 for c.to_char - c.from_char), c.language, c.title,
                                          c.path)::text as analysed
       from iu_core.search_chunk c join iu_core.unit_version v using (unit_version_id)
      where c.unit_id = $1 order by c.position`,
    [unit],
  )
async function expectAnalysed(unit: string, chunks = 1): Promise<void> {
  const found = await wordsOf(unit)
  expect(found).toHaveLength(chunks)
  for (const { words, analysed } of found) expect(words).toBe(analysed)
}
async function inContainer(more: NewUnit = {}): Promise<{ unit_id: string; container: string }> {
  const { unit_id: container } = await create(life, { body: '# Harbour rules' })
  const { unit_id } = await create(life, { body: 'Ropes are coiled.', p_container_id: container, ...more })
  return { unit_id, container }
}

describe('the words of a waiting unit', () => {
  it.each([
    ['en', '\n\n  Ropes are coiled, knots are checked daily.\n'],
    ['de', 'Die Urlaubstage werden im Januar vergeben.'],
    ['vi', 'Nhân viên được nghỉ phép hai mươi ngày mỗi năm.'],
    ['zh', '员工每年享有二十八天带薪年假，请安装数据库。'],
    ['th', 'พนักงานมีสิทธิลาพักร้อนได้ปีละยี่สิบวัน'],
    ['und', 'Le port est fermé pendant la nuit, sauf pour les pêcheurs.'],
  ])('are those of a new analysis: %s', async (language, body) => {
    const { unit_id } = await inContainer({ body, p_language: language, p_title: 'A title of its own' })
    await project(db, [unit_id])
    await expectAnalysed(unit_id)
  })

  it('are stored as they are', async () => {
    const { unit_id } = await inContainer()
    await plant(unit_id)
    await project(db, [unit_id])
    expect(await wordsOf(unit_id)).toMatchObject([{ words: PLANTED }])
  })

  it('are not used after the title above it has changed', async () => {
    const { unit_id, container } = await inContainer()
    await plant(unit_id)
    await edit(life.operator, container, 1, { p_title: 'Rules of the pier' })
    await project(db, [unit_id])
    await expectAnalysed(unit_id)
    expect((await wordsOf(unit_id))[0]!.words).toContain('pier')
  })

  it('are not used after it was moved', async () => {
    const { unit_id } = await inContainer()
    await plant(unit_id)
    await call(life.operator, 'fn_unit_move', { p_unit_id: unit_id, p_container_id: null })
    await project(db, [unit_id])
    await expectAnalysed(unit_id)
  })

  it('are made again when somebody corrects its language', async () => {
    const { unit_id } = await inContainer({ body: 'Die Urlaubstage sind verteilt.', p_language: 'en' })
    await plant(unit_id)
    await edit(life.operator, unit_id, 1, { p_language: 'de' })
    await project(db, [unit_id])
    await expectAnalysed(unit_id)
    expect((await wordsOf(unit_id))[0]!.words).toContain(`'urlaubstag'`)
  })

  it.each([
    ['by another language', `, language = 'de'`],
    ['by an earlier analysis', ', analysis = analysis - 1'],
    ['before analyses were recorded', ', analysis = null, path = null'],
  ])('are not used if they were made %s', async (_, change) => {
    const { unit_id } = await inContainer()
    await plant(unit_id, change)
    await project(db, [unit_id])
    await expectAnalysed(unit_id)
  })

  it('are not used for an earlier version of it', async () => {
    const { unit_id } = await inContainer()
    const earlier = await sourcesOf(db, [unit_id])
    await edit(life.operator, unit_id, 1, { p_body: 'Ropes are dried.' })
    await plant(unit_id)
    await put(db, ...earlier)
    await expectAnalysed(unit_id)
  })

  it('are not used for a text of two chunks, or for a part of it', async () => {
    const { unit_id } = await inContainer({ body: 'Ropes are coiled.\n\nKnots are checked.' })
    await plant(unit_id)
    await project(db, [unit_id], 20)
    await expectAnalysed(unit_id, 2)
    const other = await inContainer({ body: 'Ropes are coiled.\n\nKnots are checked.' })
    await plant(other.unit_id)
    const [source] = await sourcesOf(db, [other.unit_id])
    await put(db, { ...source!, chunks: [{ from: 0, to: 17 }] })
    await expectAnalysed(other.unit_id)
  })
})
