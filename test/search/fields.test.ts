/** Titles, and the titles above them, are searched as fields of their own; words of an older analysis are analysed again. */
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPool, type Pool } from '../../src/kernel/postgres/connection.ts'
import { reanalyse } from '../../src/search/outbox.ts'
import { openProviders } from '../../src/search/providers.ts'
import { searchStatus } from '../../src/search/status.ts'
import { startSearchWorker } from '../../src/search/worker.ts'
import { useDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'
import { call, create, edit, useLife } from '../units/life.ts'
import { NOTHING_CONFIGURED } from './knowledge.ts'
import { discrepancies, found, lexical, project, unitIn } from './projecting.ts'

const db = useDatabase()
const life = useLife(db)
let workers: Pool

beforeAll(() => {
  workers = createPool(db.url('stagedoor_worker'), { role: 'vector_worker', max: 6 })
})
afterAll(() => workers.end())

/** What a worker has to do for these units. */
const enqueued = async (units: readonly string[]) =>
  (
    await db.owner<{ unit_id: string; operation: string }>(
      `select unit_id, operation from iu_core.vector_outbox where unit_id = any ($1) and status = 'pending' order by first_enqueued_at`,
      [units],
    )
  ).map(({ unit_id, operation }) => [unit_id, operation])

describe('a title', () => {
  it('that the text does not have is searched, at once and after the projection', async () => {
    const zebra = await create(life, { body: 'Animals are welcome on Fridays.', p_title: 'Zebra policy' })
    const pending = await life.viewer.session.query('select unit_id from iu_core.fn_search_pending($1, $2)', [
      life.workspace,
      'zebra',
    ])
    expect(pending.rows).toEqual([{ unit_id: zebra.unit_id }])
    await project(db, [zebra.unit_id])
    expect(await found(life, 'zebra')).toEqual([zebra.unit_id])
    expect(await found(life, '"zebra policy"')).toEqual([zebra.unit_id])
  })

  it('counts for more than the same word in a text', async () => {
    const titled = await unitIn(db, life, 'Everything about walking in the rain.', { p_title: 'Umbrella' })
    const texts = []
    for (let n = 0; n < 3; n++)
      texts.push((await unitIn(db, life, `Bring an umbrella, number ${n}, please.`)).unit_id)
    const hits = await found(life, 'umbrella')
    expect(hits[0]).toBe(titled.unit_id)
    expect(new Set(hits.slice(1))).toEqual(new Set(texts))
  })

  it('counts once where it only repeats the text, because nobody gave one', async () => {
    const [a, b] = [
      await unitIn(db, life, 'A marmot sleeps.'),
      await unitIn(db, life, 'A marmot sleeps.', { p_title: 'A marmot sleeps.' }),
    ]
    const scores = (await lexical(life.viewer, life.workspace, 'marmot')).map(({ unit_id, score }) => [
      unit_id,
      score,
    ])
    expect(new Map(scores as [string, number][]).get(a.unit_id)).toBe(
      new Map(scores as [string, number][]).get(b.unit_id),
    )
  })

  it('that changes is searched after its projection, and keeps text and vectors', async () => {
    const { unit_id } = await unitIn(db, life, 'Bring your own cup.', { p_title: 'Walrus rules' })
    const [before] = await project(db, [unit_id])
    await db.owner('delete from iu_core.vector_outbox where unit_id = $1', [unit_id])
    await edit(life.operator, unit_id, 1, { p_title: 'Narwhal rules' })
    expect(await enqueued([unit_id])).toEqual([[unit_id, 'patch']])
    const [after] = await project(db, [unit_id])
    expect(after!.chunk_id).toBe(before!.chunk_id)
    expect(await found(life, 'narwhal')).toEqual([unit_id])
    expect(await found(life, 'walrus')).toEqual([])
    expect(await discrepancies(db)).toEqual([])
  })
})

describe('the words of a unit that waits', () => {
  const wordsOf = async (unit: string, table: 'search_chunk' | 'search_pending') =>
    (
      await db.owner<{ words: string }>(`select words::text from iu_core.${table} where unit_id = $1`, [unit])
    )[0]!.words

  it('are stored in search as they are', async () => {
    const { unit_id } = await create(life, { body: 'An okapi eats leaves.\n', p_title: 'Giraffes' })
    await db.owner(
      `update iu_core.search_pending set words = words || '''quagga'':9'::tsvector where unit_id = $1`,
      [unit_id],
    )
    const before = await wordsOf(unit_id, 'search_pending')
    await project(db, [unit_id])
    expect(await wordsOf(unit_id, 'search_chunk')).toBe(before)
  })

  it('are not if a title above it has changed since, or only a part of its text is a chunk', async () => {
    const chapter = await create(life, { body: 'Introduction.', p_title: 'Bonobos' })
    const piece = await create(life, { body: 'They share food.', p_container_id: chapter.unit_id })
    await edit(life.operator, chapter.unit_id, 1, { p_title: 'Gibbons' })
    const long = await create(life, {
      body: `${'Lemurs sleep. '.repeat(200)}\n\n${'Sloths do, too. '.repeat(200)}`,
    })
    await project(db, [chapter.unit_id, piece.unit_id, long.unit_id])
    expect(await found(life, 'bonobos')).toEqual([])
    expect(new Set(await found(life, 'gibbons'))).toEqual(new Set([chapter.unit_id, piece.unit_id]))
    expect((await lexical(life.viewer, life.workspace, 'lemurs')).length).toBeGreaterThan(0)
    expect(await discrepancies(db)).toEqual([])
  })
})

describe('words that stand near to each other', () => {
  it('in a question and in a text count for more than far from each other', async () => {
    const far = await unitIn(
      db,
      life,
      'The copper in the old mine lasted, but nobody ever said where its pipe went.',
    )
    const near = await unitIn(
      db,
      life,
      'Nobody ever said where the old mine was, but the copper pipe in it lasted.',
    )
    const hits = await lexical(life.viewer, life.workspace, 'copper pipe')
    expect(hits.map(({ unit_id }) => unit_id)).toEqual([near.unit_id, far.unit_id])
    expect(hits[0]!.score).toBeGreaterThan(hits[1]!.score)
  })

  it('are compared in a question of many words, and in texts that repeat them, in little time', async () => {
    for (let n = 0; n < 3; n++) await unitIn(db, life, `${n} ${'tin can '.repeat(400)}`)
    const hits = await lexical(life.viewer, life.workspace, 'tin can '.repeat(300))
    expect(hits.length).toBeGreaterThanOrEqual(3)
  })
})

describe('a piece of a document', () => {
  it('is found by the headings above it, and follows when they change', async () => {
    const chapter = await create(life, { body: 'Introduction.', p_title: 'Gardening' })
    const section = await create(life, {
      body: 'More.',
      p_title: 'Tomatoes',
      p_container_id: chapter.unit_id,
    })
    const piece = await create(life, {
      body: 'Water them twice a day.',
      p_title: 'Part 2',
      p_container_id: section.unit_id,
    })
    const units = [chapter.unit_id, section.unit_id, piece.unit_id]
    await project(db, units)
    expect(await found(life, 'tomatoes water')).toEqual([piece.unit_id, section.unit_id])
    expect(await found(life, 'gardening')).toEqual([
      chapter.unit_id,
      ...(await found(life, 'gardening')).slice(1),
    ])
    expect(new Set(await found(life, 'gardening'))).toEqual(new Set(units))
    await db.owner(`delete from iu_core.vector_outbox where unit_id = any ($1)`, [units])
    await edit(life.operator, section.unit_id, 1, { p_title: 'Cucumbers' })
    expect(new Set((await enqueued(units)).map(([unit]) => unit))).toEqual(
      new Set([section.unit_id, piece.unit_id]),
    )
    await project(db, units)
    expect(await found(life, 'tomatoes')).toEqual([])
    expect(new Set(await found(life, 'cucumbers'))).toEqual(new Set([section.unit_id, piece.unit_id]))
    await call(life.operator, 'fn_unit_move', { p_unit_id: piece.unit_id, p_container_id: chapter.unit_id })
    await project(db, units)
    expect(await found(life, 'cucumbers')).toEqual([section.unit_id])
  })
})

describe('a word that the question repeats', () => {
  it('counts as often as it is said', async () => {
    const [ibis, heron] = [
      await unitIn(db, life, 'An ibis stands here.'),
      await unitIn(db, life, 'A heron stands here.'),
    ]
    expect((await found(life, 'ibis heron ibis'))[0]).toBe(ibis.unit_id)
    expect((await found(life, 'heron ibis heron'))[0]).toBe(heron.unit_id)
  })
})

describe('scores on request', () => {
  it('are those of the search, also for what it did not list, and none for another workspace', async () => {
    const [okapi] = await project(db, [(await create(life, { body: 'An okapi hides.' })).unit_id])
    const [hit] = await lexical(life.viewer, life.workspace, 'okapi hides')
    const scores = (workspace: string, who = life.viewer) =>
      who.session.query('select chunk_id, score, share from iu_core.fn_search_scores($1, $2, $3)', [
        workspace,
        'okapi hides',
        [okapi!.chunk_id],
      ])
    expect((await scores(life.workspace)).rows).toEqual([
      { chunk_id: okapi!.chunk_id, score: hit!.score, share: 1 },
    ])
    expect((await scores(life.elsewhere, life.stranger)).rows).toEqual([])
  })

  it('take the words of the question from the search, which looked them up, and from nobody else', async () => {
    const [kudu] = await project(db, [(await create(life, { body: 'A kudu hides in the grass.' })).unit_id])
    await unitIn(db, life, 'A kudu grazes.')
    const question = 'where kudu hides in grass'
    const searched = async (client: Pick<pg.ClientBase, 'query'>) =>
      (
        await client.query<{
          chunk_id: string
          score: number
          share: number
          asked: number
          terms: object | null
        }>('select chunk_id, score, share, asked, terms from iu_core.fn_search_lexical($1, $2)', [
          life.workspace,
          question,
        ])
      ).rows
    const scored = async (client: Pick<pg.ClientBase, 'query'>, asked: string, terms: object | null) =>
      (
        await client.query(
          'select chunk_id, score, share, asked from iu_core.fn_search_scores($1, $2, $3, $4)',
          [life.workspace, asked, [kudu!.chunk_id], terms && JSON.stringify(terms)],
        )
      ).rows
    await db.as({ role: 'service_role' }, async (client) => {
      const hits = await searched(client)
      expect(hits.map(({ terms }) => terms !== null)).toEqual(hits.map((_, place) => place === 0))
      const [{ terms, ...first }] = hits as [(typeof hits)[number]]
      expect(await scored(client, question, terms)).toEqual([first])
      expect(await scored(client, question, null)).toEqual([first])
      expect(await scored(client, 'not analysed again', terms)).toEqual([first])
      await db.owner(
        `insert into public.workspace_members (workspace_id, user_id, role) values ($1, 'postgres', 'viewer')`,
        [life.workspace],
      )
      const other = await db.session('postgres')
      await other.query('set role authenticated')
      expect((await searched(other)).map((hit) => hit.terms)).toEqual(hits.map(() => null))
      expect(await scored(other, 'heron', terms)).toEqual([])
    })
  })

  it('say which share of the question a text has', async () => {
    await unitIn(db, life, 'The capital letters of a headline.')
    const [hit] = (
      await life.viewer.session.query<{ share: number; asked: number }>(
        'select share, asked from iu_core.fn_search_lexical($1, $2)',
        [life.workspace, 'capital of Ruritania'],
      )
    ).rows
    expect(hit!.asked).toBe(2)
    expect(hit!.share).toBeGreaterThan(0)
    expect(hit!.share).toBeLessThan(0.5)
  })
})

describe('words of an older analysis', () => {
  it('are analysed again by a worker, which keeps chunks, vectors and freshness; search goes on meanwhile', async () => {
    const { unit_id } = await unitIn(db, life, '员工每年享有带薪年假。', {
      p_language: 'zh',
      p_title: 'Leave',
    })
    const [before] = await project(db, [unit_id])
    // As an earlier version left it.
    await db.owner(`update iu_core.search_chunk set analysis = 0`)
    await db.owner(
      `with word as (select c.chunk_no, p.lexeme_id from iu_core.search_chunk c join iu_core.search_posting p using (chunk_no) where c.unit_id = $1),
            gone as (delete from iu_core.search_posting p using word w where (p.lexeme_id, p.chunk_no) = (w.lexeme_id, w.chunk_no)),
            shorter as (update iu_core.search_statistics s set words = s.words - c.length from iu_core.search_chunk c
                         where c.unit_id = $1 and s.workspace_id = c.workspace_id),
            fewer as (update iu_core.search_lexeme l set chunks = l.chunks - 1 from word w where l.lexeme_id = w.lexeme_id)
       update iu_core.search_chunk set lexeme_ids = '{}', lexeme_counts = '{}', length = 0, words = '' where unit_id = $1`,
      [unit_id],
    )
    expect(await found(life, '年假')).toEqual([])
    expect((await searchStatus(workers)).chunks.to_analyse).toBeGreaterThan(1)
    const providers = openProviders(workers, NOTHING_CONFIGURED)
    const worker = await startSearchWorker({
      pool: workers,
      providers,
      fitModels: false,
      collectionsPollMs: 50,
    })
    try {
      await until(
        'every chunk is analysed',
        async () => (await searchStatus(workers)).chunks.to_analyse === 0,
      )
    } finally {
      await worker.stop()
      await providers.close()
    }
    expect(await found(life, '年假')).toEqual([unit_id])
    expect(await found(life, 'leave')).toContain(unit_id)
    expect((await project(db, [unit_id]))[0]).toMatchObject({ chunk_id: before!.chunk_id, added: false })
    expect(await discrepancies(db)).toEqual([])
  })

  it('are done in batches of bounded size, each chunk once', async () => {
    await db.owner(`update iu_core.search_chunk set analysis = 0`)
    let [calls, after] = [0, 0 as number | undefined]
    for (; after !== undefined; calls++) after = await reanalyse(workers, after)
    expect(calls).toBe(2)
    expect(await reanalyse(workers, 0)).toBeUndefined()
    expect((await searchStatus(workers)).chunks.to_analyse).toBe(0)
  })
})
