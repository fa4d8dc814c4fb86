import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { nearestPassing } from '../../src/search/stores/store.ts'
import { fastestMs } from '../support/cpu.ts'
import { useDatabase } from '../support/database.ts'
import { createKnowledge, type Knowledge } from './knowledge.ts'

const db = useDatabase()
let know: Knowledge
let leave: string
let remote: string
let travel: string

beforeAll(async () => {
  know = await createKnowledge(db)
  await db.owner(
    `insert into iu_core.topic_vocabulary (topic_label, registered_by) values ('absence', 'test')`,
  )
  leave = await know.unit(
    'handbook/leave',
    '# Leave\n\nEvery employee has 28 days of paid leave a year. Days that are left over expire in March.',
    { profile: { topic_labels: ['absence'], audience: 'staff' } },
  )
  remote = await know.unit('handbook/remote', '# Remote work\n\nWork from home on two days a week.')
  travel = await know.unit(
    'handbook/travel',
    '# Travel\n\nTrains before planes; the company pays for second class.',
  )
  await know.unit('so-tay/nghi-phep', '# Nghỉ phép\n\nMỗi nhân viên có 28 ngày nghỉ phép.', {
    language: 'vi',
  })
})

describe('a question', () => {
  it('is answered by the unit that says it, with the words marked and its freshness', async () => {
    const { hits, warnings } = await know.ask('how many days of leave do employees have?')
    expect(hits[0]).toMatchObject({
      source: 'unit',
      unit_id: leave,
      canonical_address: 'handbook/leave',
      title: 'Leave',
      freshness: 'current',
      lifecycle_status: 'draft',
      version_no: 1,
      current_version_no: 1,
      warnings: [],
      legs: { lexical: 1 },
    })
    const marked = hits[0]!.highlights.map(([from, to]) => [...hits[0]!.snippet].slice(from, to).join(''))
    expect(marked).toEqual(['employee', 'days', 'leave', 'Days'])
    expect(warnings).toEqual([])
  })

  it('finds Vietnamese as it is typed without marks, and marks it', async () => {
    const { hits } = await know.ask('nghi phep')
    expect(hits[0]).toMatchObject({ canonical_address: 'so-tay/nghi-phep' })
    expect(hits[0]!.highlights.length).toBeGreaterThan(1)
  })

  it('finds by meaning what shares no word, and puts what both found first', async () => {
    const [home] = await know.chunks(remote)
    const [train] = await know.chunks(travel)
    const { hits, legs } = await know.ask('planes', { dense: [home!, train!] })
    expect(hits.map(({ unit_id, legs }) => [unit_id, legs])).toEqual([
      [travel, { lexical: 1, dense: 2 }],
      [remote, { dense: 1 }],
    ])
    expect(legs).toEqual({ lexical: 1, dense: 2 })
  })

  it('of words in quotes is answered by words alone: what must be there is there', async () => {
    const [home] = await know.chunks(remote)
    const { hits, legs } = await know.ask('"before planes"', { dense: [home!] })
    expect(hits.map(({ unit_id }) => unit_id)).toEqual([travel])
    expect(legs.dense).toBe('off')
    for (const nowhere of ['"purple elephants"', '“purple elephants”'])
      expect((await know.ask(nowhere, { dense: [home!] })).hits).toEqual([])
    const {
      hits: without,
      warnings,
      legs: asked,
    } = await know.ask('leave "purple elephants"', { dense: [home!] })
    expect(without.map(({ unit_id }) => unit_id)).toContain(leave)
    expect(warnings).toEqual([expect.stringMatching(/without the quotes/)])
    expect(asked.dense).toBe('off')
  })

  it('of nothing but beginnings is answered by words alone; beside other words they are some of them', async () => {
    const [home] = await know.chunks(remote)
    expect((await know.ask('zzzqqq* yyy*', { dense: [home!] })).hits).toEqual([])
    expect((await know.ask('plan*', { dense: [home!] })).hits.map(({ unit_id }) => unit_id)).toEqual([travel])
    expect((await know.ask('zzzqqq* planes', { dense: [home!] })).hits).toHaveLength(2)
  })

  it('leaves out what has an excluded word anywhere, in both legs, and does not look for that word', async () => {
    const chunks = (await Promise.all([remote, travel, leave].map(know.chunks))).flat()
    const ask = async (text: string) => (await know.ask(text, { dense: chunks })).hits
    expect((await ask('days')).map(({ unit_id }) => unit_id)).toEqual(
      expect.arrayContaining([leave, remote, travel]),
    )
    for (const without of ['-march', '-MARCH', '-"left over"', '-expir*', '-marching']) {
      const hits = await ask(`days ${without}`)
      expect(hits.map(({ unit_id }) => unit_id).sort()).toEqual([remote, travel].sort())
      expect(hits.flatMap(({ highlights }) => highlights)).toHaveLength(1)
    }
    expect(await ask('days -"march expire"')).toHaveLength(3)
    const { hits, warnings } = await know.ask('-leave', { dense: chunks })
    expect(hits).toEqual([])
    expect(warnings).toEqual([expect.stringMatching(/only excludes/)])
    const many = await know.ask(`days ${Array.from({ length: 65 }, (_, n) => `-w${n}`).join(' ')}`)
    expect(many.warnings).toEqual([expect.stringMatching(/first 64 exclusions/)])
  })

  it('leaves out a unit whose newest text has an excluded word, before it is indexed', async () => {
    const ferry = await know.unit('handbook/ferry', 'Ferries cross at noon.')
    expect((await know.ask('ferries -storm')).hits).toHaveLength(1)
    await know.edit(ferry, 'Ferries cross at noon, unless a storm comes.')
    expect((await know.ask('ferries -storm')).hits).toEqual([])
    expect((await know.ask('ferries -stor*')).hits).toEqual([])
  })

  it('shows each unit once, however many of its chunks were found', async () => {
    const [chunk] = await know.chunks(leave)
    const { hits } = await know.ask('leave', { dense: [chunk!, chunk!] })
    expect(hits.filter(({ unit_id }) => unit_id === leave)).toHaveLength(1)
  })

  it('says nothing of what a store holds and Postgres does not', async () => {
    const { hits } = await know.ask('leave', { dense: ['00000000-0000-4000-8000-000000000000'] })
    expect(hits.map(({ unit_id }) => unit_id)).toEqual([leave])
  })

  it('explains on request why a hit is there', async () => {
    const { hits } = await know.ask('leave', { explain: true })
    expect(hits[0]!.explain).toEqual({
      shares: { words: hits[0]!.score, meaning: 0 },
      unit: 'current',
      document: 'absent',
      chunk_id: (await know.chunks(leave))[0],
      words: [{ word: 'leave', fields: ['text', 'title', 'address'], share: 1 }],
    })
  })

  it('is answered for agents as well, and never for others', async () => {
    expect((await know.ask('leave', { as: know.people.agent })).hits).toHaveLength(1)
    await expect(know.ask('leave', { as: know.people.stranger })).rejects.toMatchObject({
      code: 'not_member',
    })
  })
})

describe('filters', () => {
  it('hold for both legs before anything is chosen', async () => {
    const chunks = (await Promise.all([remote, travel, leave].map(know.chunks))).flat()
    const asked = { dense: chunks, filters: { topic: 'absence' } }
    expect((await know.ask('days work', asked)).hits.map(({ unit_id }) => unit_id)).toEqual([leave])
    const under = { dense: chunks, filters: { profile: { audience: 'staff' } } }
    expect((await know.ask('trains', under)).hits.map(({ unit_id }) => unit_id)).toEqual([leave])
  })

  it.each([
    [{ colour: 'red' }, /no filter colour; there are topic, lifecycle/],
    [{ lifecycle: 'retired' }, /draft, enacted, superseded/],
    [{ source: 'web' }, /unit or document/],
    [{ edge: {} }, /edge takes/],
    [{ edge: { target: 1 } }, /edge takes/],
    [{ profile: 'staff' }, /takes an object/],
    [{ container: 4 }, /address or id/],
    [{ topic: [1] }, /one word or a list of words/],
  ])('%j is refused in words', async (filters, words) => {
    await expect(know.ask('leave', { filters: filters as never })).rejects.toMatchObject({
      code: 'argument_invalid',
      message: expect.stringMatching(words),
    })
  })

  it('on a profile nested deeper than a profile can be are refused, not a crash', async () => {
    let profile: object = {}
    for (let depth = 0; depth < 5000; depth++) profile = { deeper: profile }
    await expect(know.ask('leave', { filters: { profile: { profile } } })).rejects.toMatchObject({
      code: 'argument_invalid',
      message: expect.stringMatching(/nested more than 100 deep/),
    })
  })

  it('that leave too much over to be listed are checked on what the store answers, asked for more until enough pass', async () => {
    const [chunk] = await know.chunks(leave)
    const others = Array.from({ length: 500 }, () => randomUUID())
    const ids = [...others, ...(await know.chunks(travel)), chunk!]
    const asked: number[] = []
    const nearest = async (limit: number) => {
      asked.push(limit)
      const found = ids.slice(0, limit)
      return { found, isLast: found.length < limit }
    }
    const passing = (given: readonly string[]) =>
      db.as(know.people.viewer, async (client) => {
        const { rows } = await client.query<{ passing: string[] }>(
          `select iu_core.fn_search_filter_chunks($1, '{"topic": "absence"}', $2) as passing`,
          [know.workspace, given],
        )
        return rows[0]!.passing
      })
    const near = await nearestPassing({ limit: 20, maxAsked: 20_000, keyOf: (id) => id, nearest, passing })
    expect(near).toEqual([chunk])
    expect(asked).toEqual([80, 640])
  })

  it('of a unit that is not there says so', async () => {
    await expect(know.ask('leave', { filters: { container: 'handbook/nowhere' } })).rejects.toMatchObject({
      code: 'unit_unknown',
    })
  })
})

describe('bad input', () => {
  it.each([
    ['', 'nothing'],
    ['  \n\t', 'blanks'],
    ['\u0000\u0007', 'controls'],
  ])('%j (%s) asks nothing', async (text) => {
    await expect(know.ask(text)).rejects.toMatchObject({
      code: 'argument_invalid',
      message: expect.stringMatching(/The question is empty/),
    })
  })

  it('of common words alone finds nothing and says why', async () => {
    const { hits, warnings } = await know.ask('the of and', { dense: await know.chunks(leave) })
    expect(hits).toEqual([])
    expect(warnings).toEqual([expect.stringMatching(/^The question has only common words/)])
  })

  it.each(['& | !', '""', '💩', '*'])('of %s has no word that could be looked for', async (text) => {
    const { hits, warnings } = await know.ask(text, { dense: await know.chunks(leave) })
    expect(hits).toEqual([])
    expect(warnings).toEqual([expect.stringMatching(/^The question has no searchable word/)])
  })

  it('of a quote that nothing closes costs no more than its length', async () => {
    const text = `"${'a '.repeat(49_000)}`
    expect(await fastestMs(() => know.ask(text), 1000)).toBeLessThan(1000)
  })

  it('of 10,000 words is answered by its rarest ones, within a second, and says so', async () => {
    const text = `${Array.from({ length: 10_000 }, (_, n) => `word${n}`).join(' ')} leave`
    const { hits, warnings } = await know.ask(text)
    expect(hits[0]).toMatchObject({ unit_id: leave })
    expect(warnings).toEqual([expect.stringMatching(/64 rarest/)])
    expect(await fastestMs(() => know.ask(text), 1000)).toBeLessThan(1000)
  })

  it('longer than any question is refused', async () => {
    await expect(know.ask('a'.repeat(100_001))).rejects.toMatchObject({ code: 'argument_invalid' })
  })

  it('with controls and half characters among the words is read past them', async () => {
    expect((await know.ask('lea\u0000ve \ud800 leave\u001b[31m')).hits[0]).toMatchObject({ unit_id: leave })
  })

  it.each([0, 101, 1.5, Number.NaN])('a limit of %s is refused', async (limit) => {
    await expect(know.ask('leave', { limit })).rejects.toMatchObject({ code: 'argument_invalid' })
  })

  it('nothing that looks like SQL or a tsquery does anything but search', async () => {
    for (const text of ["'; drop table x; --", 'a & | ! <-> ( :*', '"unclosed', '***', '%_\\', '" "'])
      await expect(know.ask(text)).resolves.toMatchObject({ hits: expect.any(Array) })
  })
})

describe('freshness', () => {
  it('of an edited unit is pending: the text that search has, and that there is a newer one', async () => {
    const unit = await know.unit('handbook/sick', 'Call in sick before nine, with a zebra certificate.')
    await know.edit(unit, 'Call in sick before ten; a giraffe certificate from the third day.')
    const [hit] = (await know.ask('zebra certificate')).hits
    expect(hit).toMatchObject({
      unit_id: unit,
      freshness: 'pending',
      version_no: 1,
      current_version_no: 2,
      warnings: ['Shows version 1; version 2 is not in search yet (about 2 minutes after an edit).'],
    })
    expect(hit!.snippet).toContain('before nine')
  })

  it('of what was deleted or retired since is not a hit at all', async () => {
    const gone = await know.unit('handbook/gone', 'The okapi policy.')
    const retired = await know.unit('handbook/retired', 'The okapi rule.')
    await know.setUnit(retired, 'retired')
    await db.pool('stagedoor_worker').query('select iu_core.fn_unit_delete($1)', [gone])
    const dense = [...(await know.chunks(gone)), ...(await know.chunks(retired))]
    expect((await know.ask('okapi', { dense })).hits).toEqual([])
  })

  it('of what was superseded is only for those who ask for it', async () => {
    const old = await know.unit('handbook/old', 'The quokka allowance is 10 euros.')
    const next = await know.unit('handbook/new', 'The quokka allowance is 20 euros.')
    await know.setUnit(old, 'current+enacted')
    await know.setUnit(next, 'current+enacted')
    await db.as(know.people.reviewer, (client) =>
      client.query(`select iu_core.fn_unit_supersede($1, $2, 'APR-2')`, [old, next]),
    )
    const ids = async (filters = {}) =>
      (await know.ask('quokka', { dense: await know.chunks(old), filters })).hits.map(
        ({ unit_id }) => unit_id,
      )
    expect(await ids()).toEqual([next])
    expect(await ids({ lifecycle: 'superseded' })).toEqual([old])
  })
})

describe('a question without a hit', () => {
  it('is told which word no text has, with the words that are written like it', async () => {
    const { hits, no_hits } = await know.ask('emploiee', { exact: true })
    expect(hits).toEqual([])
    expect(no_hits).toMatchObject({
      unknown_words: [{ word: 'emploiee', similar: ['employee'] }],
      without_filters: null,
    })
    expect(no_hits!.texts).toBeGreaterThan(0)
  })

  it('is told that its filters exclude what would be found', async () => {
    const { hits, no_hits } = await know.ask('planes', { filters: { topic: 'absence' } })
    expect(hits).toEqual([])
    expect(no_hits).toMatchObject({ unknown_words: [], without_filters: 1 })
  })

  it('is told that what it excludes is in all that would be found', async () => {
    const found = (await know.ask('planes')).hits.length
    expect(found).toBeGreaterThan(0)
    const { hits, no_hits } = await know.ask('planes -planes -"no such words"')
    expect(hits).toEqual([])
    expect(no_hits).toMatchObject({
      excluded: ['planes', 'no such words'],
      without_exclusions: found,
      without_filters: null,
    })
    expect((await know.ask('xylophone -planes')).no_hits).toMatchObject({ without_exclusions: 0 })
    expect((await know.ask('xylophone')).no_hits).toMatchObject({ excluded: [], without_exclusions: null })
    expect((await know.ask('-planes')).no_hits).toMatchObject({ without_exclusions: null })
  })

  it('is told which of filters and exclusions leaves out what would be found', async () => {
    expect((await know.ask('planes -planes', { filters: { topic: 'absence' } })).no_hits).toMatchObject({
      without_filters: 0,
      without_exclusions: 0,
    })
  })

  it('learns nothing of the words of another workspace', async () => {
    const ask = (who: Parameters<typeof db.as>[0]) =>
      db.as(who, (client) =>
        client.query('select iu_core.fn_search_unknown_words($1, $2)', [know.workspace, ['emploiee']]),
      )
    await expect(ask(know.people.stranger)).rejects.toThrow(/member|workspace/i)
  })
})
