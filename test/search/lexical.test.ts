/** Search by words: what is found, in which order, and by whom. */
import { beforeAll, describe, expect, it } from 'vitest'
import { member } from '../staging/people.ts'
import { useDatabase } from '../support/database.ts'
import { createWorkspace } from '../support/factories.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { call, create, edit, enact, useLife } from '../units/life.ts'
import { documentIn, found, lexical, project, unitIn } from './projecting.ts'

const db = useDatabase()
const life = useLife(db)
const unit: Record<string, string> = {}

beforeAll(async () => {
  const texts: Record<string, string> = {
    leave: 'Annual leave is twenty days. Ask your team lead for leave two weeks before.',
    sick: 'Sick days need a note from the third day on. Annual reports are due in May.',
    travel: 'Travel expenses are paid back within thirty days.',
    long: `${'The office opens at eight and closes at six. '.repeat(20)} Leave the keys at the desk.`,
  }
  for (const [name, body] of Object.entries(texts)) unit[name] = (await unitIn(db, life, body)).unit_id
  unit.vi = (
    await unitIn(db, life, 'Nhân viên được nghỉ phép hai mươi ngày mỗi năm.', { p_language: 'vi' })
  ).unit_id
})

describe('a question', () => {
  it('as one asks it finds texts that have some of its words, the best first', async () => {
    const hits = await lexical(life.viewer, life.workspace, 'How many days of annual leave do I have?')
    expect(hits[0]!.unit_id).toBe(unit.leave)
    expect(hits.map((hit) => hit.unit_id)).toEqual(expect.arrayContaining([unit.sick, unit.long]))
    expect(hits.map((hit) => hit.score)).toEqual(hits.map((hit) => hit.score).sort((a, b) => b - a))
  })

  it('is scored by BM25', async () => {
    const [row] = await db.owner<{ n: number; mean: number; df: number; length: number }>(
      `select s.chunks as n, s.words::float8 / s.chunks as mean, l.chunks as df, c.length
         from iu_core.search_statistics s join iu_core.search_lexeme l using (workspace_id)
         join iu_core.search_chunk c on c.unit_id = $2
        where s.workspace_id = $1 and l.lexeme = 'leav'`,
      [life.workspace, unit.leave],
    )
    const { n, mean, df, length } = row!
    const tf = 2
    const expected =
      (Math.log(1 + (n - df + 0.5) / (df + 0.5)) * tf * 2.2) / (tf + 1.2 * (0.25 + (0.75 * length) / mean))
    const hits = await lexical(life.viewer, life.workspace, 'leaves')
    expect(hits.find((hit) => hit.unit_id === unit.leave)!.score).toBeCloseTo(expected, 4)
  })

  it('looks up its own words only, however many the workspace has', async () => {
    const library = await createWorkspace(db, 'library')
    const operator = await member(db, library, 'operator')
    const { unit_id } = await call<{ unit_id: string }>(operator, 'fn_unit_create', {
      p_workspace_id: library,
      p_canonical_address: 'keys',
      p_body: 'The keys are at the desk.',
    })
    await project(db, [unit_id])
    await db.owner(
      `insert into iu_core.search_lexeme (workspace_id, lexeme, chunks) select $1, 'word' || n, 1 from generate_series(1, 5000) as n`,
      [library],
    )
    await db.owner('analyze iu_core.search_lexeme')
    const { rows } = await db.pool('stagedoor_worker').query(
      `with asked as materialized (select count(*)::integer as found from iu_core.fn_search_lexical($1, 'Where are the keys?'))
       select found, pg_stat_get_xact_tuples_returned('iu_core.search_lexeme'::regclass)::integer as read from asked`,
      [library],
    )
    expect(rows).toEqual([{ found: 1, read: 0 }])
  })

  it('in Vietnamese is answered with and without its marks', async () => {
    expect(await found(life, 'nghỉ phép')).toEqual([unit.vi])
    expect(await found(life, 'NGHI PHEP bao nhieu ngay')).toEqual([unit.vi])
  })

  it('in English does not find Vietnamese texts by its stop words', async () => {
    await unitIn(db, life, 'Thế nào là thời gian thử việc?', { p_language: 'vi' })
    expect(await found(life, 'the travel')).toEqual([unit.travel])
  })

  it('of stop words alone, of unknown words, of signs or of nothing finds nothing', async () => {
    for (const query of ['what is this and that', 'xylophones', '', '   ', '!?&|()<->:*', '""', '"the"'])
      expect(await found(life, query)).toEqual([])
  })

  it('of stop words alone finds what has them where no text is English', async () => {
    const saigon = await createWorkspace(db, 'saigon')
    const operator = await member(db, saigon, 'operator')
    const { unit_id } = await call<{ unit_id: string }>(operator, 'fn_unit_create', {
      p_workspace_id: saigon,
      p_canonical_address: 'an-toan',
      p_body: 'Nội quy an toàn.',
      p_language: 'vi',
    })
    await project(db, [unit_id])
    expect((await lexical(operator, saigon, 'an')).map((hit) => hit.unit_id)).toEqual([unit_id])
  })

  it('may hold controls, unbalanced quotes and ten thousand words', async () => {
    expect(await found(life, 'travel\u0007\u001b "expenses')).toEqual([unit.travel])
    const many = `${Array.from({ length: 10_000 }, (_, n) => `f${n}`).join(' ')} travel`
    expect(await found(life, many)).toEqual([unit.travel])
    expect(await found(life, 'travel '.repeat(10_000))).toEqual([unit.travel])
  })

  it('is answered the same way every time, equal texts in a fixed order', async () => {
    const twins = []
    for (let n = 0; n < 6; n++) twins.push((await unitIn(db, life, 'A capybara.')).unit_id)
    const first = await lexical(life.viewer, life.workspace, 'capybara')
    expect(first.map((hit) => hit.chunk_id)).toEqual(first.map((hit) => hit.chunk_id).sort())
    expect(new Set(first.map((hit) => hit.unit_id))).toEqual(new Set(twins))
    expect(await lexical(life.viewer, life.workspace, 'capybara')).toEqual(first)
    expect(await lexical(life.viewer, life.workspace, 'capybara', {}, 2)).toHaveLength(2)
  })
})

describe('a phrase', () => {
  it('must be there word for word', async () => {
    expect(await found(life, '"annual leave"')).toEqual([unit.leave])
    expect(await found(life, '"leave annual"')).toEqual([])
    expect(await found(life, '"annual leave" travel expenses')).toEqual([unit.leave])
  })

  it('is read in the language of the text, stop words and marks included', async () => {
    expect(await found(life, '"note from the third day"')).toEqual([unit.sick])
    expect(await found(life, '"nghi phep hai muoi ngay"')).toEqual([unit.vi])
  })

  it('with a word that nobody has written finds nothing; of several, each must be there', async () => {
    expect(await found(life, '"annual xylophone" travel')).toEqual([])
    expect(await found(life, '"annual leave" "team lead"')).toEqual([unit.leave])
    expect(await found(life, '"annual leave" "travel expenses"')).toEqual([])
  })

  it('is found among many texts that have its words apart', async () => {
    const bodies = Array.from({ length: 700 }, (_, n) => ({
      canonical_address: `many/${n}`,
      body: n === 650 ? 'filler text about a puffin colony' : `puffin ${n} lives far from any colony`,
    }))
    const { rows } = await life.operator.session.query<{ unit_id: string; canonical_address: string }>(
      'select * from iu_core.fn_unit_create_batch($1, $2)',
      [life.workspace, JSON.stringify(bodies)],
    )
    await project(
      db,
      rows.map((row) => row.unit_id),
    )
    expect(await found(life, '"puffin colony"')).toEqual([
      rows.find((row) => row.canonical_address === 'many/650')!.unit_id,
    ])
  })
})

describe('a prefix', () => {
  it('stands for all words that begin so', async () => {
    expect(await found(life, 'expen*')).toEqual([unit.travel])
    expect(await found(life, 'expenses*')).toEqual([unit.travel])
    expect(await found(life, 'nghỉ ph*')).toEqual([unit.vi])
    expect(await found(life, 'zzz*')).toEqual([])
  })
})

describe('what is shown', () => {
  it('is never superseded, unless asked for, and the first of many never hides the rest', async () => {
    const old = await create(life, { body: 'The okapi rule, old.' })
    await project(db, [old.unit_id])
    await enact(life.reviewer, old.unit_id)
    const next = await unitIn(db, life, 'The okapi rule, new.')
    await enact(life.reviewer, next.unit_id)
    await call(life.reviewer, 'fn_unit_supersede', {
      p_unit_id: old.unit_id,
      p_successor_id: next.unit_id,
      p_apr_ref: 'a',
    })
    expect(await found(life, 'okapi')).toEqual([next.unit_id])
    expect(await found(life, 'okapi', { lifecycle: 'superseded' })).toEqual([old.unit_id])
  })

  it('is found behind six hundred better ones that were deleted', async () => {
    const units = Array.from({ length: 600 }, (_, n) => ({
      canonical_address: `gone/${n}`,
      body: 'Tapir tapir tapir.',
    }))
    const { rows } = await life.operator.session.query<{ unit_id: string }>(
      'select * from iu_core.fn_unit_create_batch($1, $2)',
      [life.workspace, JSON.stringify(units)],
    )
    await project(
      db,
      rows.map((row) => row.unit_id),
    )
    const left = await unitIn(
      db,
      life,
      'Of the many animals that there once were in this long text one tapir is left.',
    )
    await life.operator.session.query('select iu_core.fn_unit_delete(u) from unnest($1::uuid[]) as u', [
      rows.map((row) => row.unit_id),
    ])
    expect(await found(life, 'tapir')).toEqual([left.unit_id])
  })

  it('is the text that was projected, until the next one is', async () => {
    const { unit_id } = await unitIn(db, life, 'A gecko on the wall.')
    await edit(life.operator, unit_id, 1, { p_body: 'A newt in the pond.', p_title: 'A newt' })
    expect(await found(life, 'gecko')).toEqual([unit_id])
    await project(db, [unit_id])
    expect(await found(life, 'gecko')).toEqual([])
    expect(await found(life, 'newt')).toEqual([unit_id])
  })

  it('is of units and of the old knowledge base', async () => {
    const document = await documentIn(db, life, 'A pangolin handbook.')
    const { unit_id } = await unitIn(db, life, 'A pangolin.')
    expect(new Set(await found(life, 'pangolin'))).toEqual(new Set([document, unit_id]))
    await db.pool('stagedoor_worker').query('select iu_core.fn_document_delete($1)', [document])
    expect(await found(life, 'pangolin')).toEqual([unit_id])
  })
})

describe('access control', () => {
  it('lets members search their workspace, agents too, and nobody another one', async () => {
    for (const who of [life.viewer, life.agent, life.reviewer, life.service])
      expect((await lexical(who, life.workspace, 'travel'))[0]!.unit_id).toBe(unit.travel)
    expect(await sqlstateOf(lexical(life.stranger, life.workspace, 'travel'))).toBe('SD201')
    expect(await lexical(life.stranger, life.elsewhere, 'travel')).toEqual([])
  })

  it('keeps words and their weights apart: a filter cannot lead out of the workspace', async () => {
    const elsewhere = await call<{ unit_id: string }>(life.stranger, 'fn_unit_create', {
      p_workspace_id: life.elsewhere,
      p_canonical_address: 'theirs',
      p_body: 'travel travel travel',
    })
    const before = await lexical(life.viewer, life.workspace, 'travel')
    await project(db, [elsewhere.unit_id])
    expect(await lexical(life.viewer, life.workspace, 'travel')).toEqual(before)
    expect(await found(life, 'travel', { profile: {} })).toEqual([unit.travel])
    expect(await sqlstateOf(found(life, 'travel', { container: elsewhere.unit_id }))).toBe('SD901')
  })

  it('refuses a search without a query or with a limit that is none', async () => {
    for (const limit of [0, -1, 1001])
      expect(await sqlstateOf(lexical(life.viewer, life.workspace, 'x', {}, limit))).toBe('SD001')
    expect(await sqlstateOf(lexical(life.viewer, life.workspace, null as never))).toBe('SD001')
    const outsider = await member(db, life.elsewhere, 'viewer')
    expect(await sqlstateOf(lexical(outsider, life.workspace, 'x'))).toBe('SD201')
  })
})
