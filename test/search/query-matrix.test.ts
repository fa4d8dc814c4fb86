/** The seed's six rows from end to end: a unit and the document that it was cut from, both found, one shown. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { intruder } from '../staging/people.ts'
import { useDatabase } from '../support/database.ts'
import { createKnowledge, type Knowledge } from './knowledge.ts'

const db = useDatabase()
let know: Knowledge
let unit: string
let document: string

beforeEach(async () => {
  know = await createKnowledge(db)
  document = await know.document(
    'wiki/leave',
    'Every employee has 28 days of leave. Said the old wiki.',
    'Leave (wiki)',
  )
  unit = await know.unit('wiki/leave', 'Every employee has 28 days of leave. Said the unit.')
  await know.cutFrom(unit, document)
})

const shown = async () =>
  (await know.ask('days of leave')).hits.map(({ source, warnings }) => [source, ...warnings])

describe('unit and document are both found', () => {
  it('current and in force beside current: the unit', async () => {
    await know.setUnit(unit, 'current+enacted')
    expect(await shown()).toEqual([['unit']])
  })

  it('pending beside current: the document', async () => {
    await know.setUnit(unit, 'pending')
    expect(await shown()).toEqual([['document']])
  })

  it.each(['stale', 'error'] as const)(
    '%s beside current: the document, and a word about the unit',
    async (state) => {
      await know.setUnit(unit, state)
      expect(await shown()).toEqual([
        ['document', expect.stringMatching(/A part of it, the unit wiki\/leave, .*`stagedoor/)],
      ])
    },
  )

  it.each(['stale', 'error'] as const)('current and in force beside %s: the unit', async (state) => {
    await know.setUnit(unit, 'current+enacted')
    await know.setDocument(document, state)
    expect(await shown()).toEqual([['unit']])
  })

  it('retired beside current: the document', async () => {
    await know.setUnit(unit, 'retired')
    expect(await shown()).toEqual([['document']])
  })

  it('not there beside current: the document', async () => {
    const alone = await know.document('wiki/parking', 'Parking is free for a platypus.')
    const { hits } = await know.ask('platypus parking')
    expect(hits).toMatchObject([
      {
        source: 'document',
        document_id: alone,
        source_ref: 'wiki/parking',
        freshness: 'current',
        warnings: [],
      },
    ])
  })
})

describe('the document', () => {
  it('has the better place of both, once', async () => {
    const other = await know.unit(
      'wiki/holidays',
      'Leave on public holidays: every employee, days of leave, leave days.',
    )
    await know.cutFrom(other, document)
    const { hits } = await know.ask('days of leave')
    expect(hits).toMatchObject([{ source: 'document', document_id: document, legs: { lexical: 1 } }])
  })

  it('stands in with its own text where only its unit was found', async () => {
    const wombat = await know.unit('wiki/wombat', 'A wombat is not a colleague.')
    await know.cutFrom(wombat, document)
    const { hits } = await know.ask('wombat')
    expect(hits).toMatchObject([
      { source: 'document', title: 'Leave (wiki)', snippet: expect.stringContaining('Said the old wiki') },
    ])
  })

  it('that has changed since search read it shows what it says now, and says so', async () => {
    await know.setUnit(unit, 'retired')
    await db
      .pool('stagedoor_worker')
      .query('select iu_core.fn_document_put($1, $2, $3, $4)', [
        know.workspace,
        'wiki/leave',
        'Leave (wiki)',
        'Thirty days of leave now.',
      ])
    const { hits } = await know.ask('days of leave')
    expect(hits).toMatchObject([
      {
        source: 'document',
        freshness: 'stale',
        snippet: 'Thirty days of leave now.',
        warnings: [expect.stringMatching(/has changed/)],
      },
    ])
  })

  it('is searched by keywords only where its own vectors cannot be asked, and the answer says so', async () => {
    const { warnings } = await know.ask('leave')
    expect(warnings).toEqual([expect.stringMatching(/^The old knowledge base is searched by keywords only/)])
  })

  it('is no hit of a question about units alone, nor the unit of one about documents', async () => {
    const of = async (source: 'unit' | 'document') => (await know.ask('leave', { filters: { source } })).hits
    expect(await of('unit')).toMatchObject([{ source: 'unit', unit_id: unit }])
    expect(await of('document')).toMatchObject([{ source: 'document', document_id: document }])
  })

  it('that was only cut is not searched itself', async () => {
    // Nobody can make one of it that is there already: past the guard.
    const past = await intruder(db)
    await past.query(`update iu_core.kb_document set origin = 'cut' where document_id = $1`, [document])
    expect(await shown()).toEqual([['unit']])
  })
})

describe('phase 2', () => {
  beforeAll(async () => {
    await db.owner(`select iu_core.fn_gate_set('search.phase_3.enabled', false)`)
    await db.owner(`select iu_core.fn_gate_set('search.phase_2.enabled', false)`)
    return async () => {
      await db.owner(`select iu_core.fn_gate_set('search.phase_2.enabled', true)`)
      await db.owner(`select iu_core.fn_gate_set('search.phase_3.enabled', true)`)
    }
  })

  it('closed: units alone are asked, and the answer says what is left out', async () => {
    const { hits, warnings } = await know.ask('leave')
    expect(hits).toMatchObject([{ source: 'unit', unit_id: unit }])
    expect(warnings).toEqual([expect.stringMatching(/phase 2 is closed/)])
  })

  it('closed: the old knowledge base alone still answers', async () => {
    const { hits } = await know.ask('leave', { filters: { source: 'document' } })
    expect(hits).toMatchObject([{ source: 'document', document_id: document }])
  })
})
