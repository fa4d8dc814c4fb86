/**
 * Random interleavings of writers, switchings and dispatches against a model that knows who is owed what: an event
 * belongs to a consumer that was activated before it was committed. It has to get it if it stays active until the
 * dispatcher has read everything; it may if the dispatcher came by in between; nobody else may, and nobody twice.
 */
// @module-tag property
import fc from 'fast-check'
import type pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { activateConsumer, disableConsumer } from '../../../src/events/consumers.ts'
import { useDatabase } from '../../support/database.ts'
import { cases } from '../../support/length.ts'
import { SEED } from '../../support/seed.ts'
import { MIGRATOR } from '../../support/template.ts'
import { dispatch, drain, EMIT, openSwitch, reviewed } from './registered.ts'

const db = useDatabase()

const SESSIONS = 3
const RUNS = cases(10, 60)
const TYPES = ['run.applied', 'run.failed'] as const
/** The last two listen to one stream only, or to the same as another. */
const CONSUMERS = [
  { id: 'applied', type: 'run.applied', stream: null },
  { id: 'failed', type: 'run.failed', stream: null },
  { id: 'left', type: 'run.applied', stream: 'left' },
  { id: 'again', type: 'run.applied', stream: null },
] as const

type Action =
  | { readonly do: 'emit'; readonly session: number; readonly type: number; readonly left: boolean }
  | { readonly do: 'commit'; readonly session: number }
  | { readonly do: 'rollback'; readonly session: number }
  | { readonly do: 'activate'; readonly consumer: number }
  | { readonly do: 'disable'; readonly consumer: number }
  | { readonly do: 'page'; readonly limit: number }
  | { readonly do: 'drain'; readonly limit: number }

const session = fc.nat(SESSIONS - 1)
const listener = fc.nat(CONSUMERS.length - 1)
const limit = fc.integer({ min: 1, max: 4 })
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('emit' as const),
      session,
      type: fc.nat(TYPES.length - 1),
      left: fc.boolean(),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('commit' as const), session }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('rollback' as const), session }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('activate' as const), consumer: listener }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('disable' as const), consumer: listener }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('page' as const), limit }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('drain' as const), limit }) },
)

interface Event {
  readonly id: string
  readonly type: string
  readonly stream: string | null
  committed: number
}

/** From one step to another; still active: no end. */
interface Active {
  readonly from: number
  to: number
}

let writers: pg.Client[]

beforeAll(async () => {
  await openSwitch(db)
  writers = await Promise.all(Array.from({ length: SESSIONS }, () => db.session('stagedoor_worker')))
  for (const { id, type, stream } of CONSUMERS) {
    await reviewed(db, id, { event_type: type, ...(stream && { event_stream: stream }) })
  }
})
afterAll(() => Promise.all(writers.map((writer) => writer.query('rollback'))))

async function follow(actions: readonly Action[]): Promise<void> {
  const owner = db.pool(MIGRATOR)
  for (const { id } of CONSUMERS) await disableConsumer(owner, id)
  await drain(db)
  const open: (Event[] | undefined)[] = Array(SESSIONS).fill(undefined)
  const committed: Event[] = []
  const active: Active[][] = CONSUMERS.map(() => [])
  const drains: number[] = []

  const apply = async (step: Action, at: number): Promise<void> => {
    if (step.do === 'page') return void (await dispatch(db, step.limit))
    if (step.do === 'drain') {
      await drain(db, step.limit)
      return void drains.push(at)
    }
    if (step.do === 'activate' || step.do === 'disable') {
      const { id } = CONSUMERS[step.consumer]!
      const current = active[step.consumer]!.find(({ to }) => to === Infinity)
      if (step.do === 'activate') {
        await activateConsumer(owner, id)
        if (!current) active[step.consumer]!.push({ from: at, to: Infinity })
      } else {
        await disableConsumer(owner, id)
        if (current) current.to = at
      }
      return
    }
    const writer = writers[step.session]!
    const mine = open[step.session]
    if (step.do === 'emit') {
      if (!mine) await writer.query('begin')
      const [type, stream] = [TYPES[step.type]!, step.left ? 'left' : null]
      const { rows } = await writer.query(EMIT, [type, stream, null, null, null])
      open[step.session] = [...(mine ?? []), { id: rows[0].id, type, stream, committed: Infinity }]
    } else if (mine) {
      await writer.query(step.do)
      open[step.session] = undefined
      if (step.do === 'commit') for (const event of mine) committed.push({ ...event, committed: at })
    }
  }

  try {
    for (const [at, step] of actions.entries()) await apply(step, at)
    await apply({ do: 'drain', limit: 3 }, actions.length)
    await expectOwed(committed, active, drains)
  } finally {
    for (const [index, mine] of open.entries()) if (mine) await writers[index]!.query('rollback')
  }
}

async function expectOwed(events: Event[], active: Active[][], drains: number[]): Promise<void> {
  const rows = await db.owner<{ pair: string; jobs: number }>(
    `select l.consumer_id || ' ' || l.event_id as pair, count(j.job_id)::int as jobs
       from iu_core.event_dispatch_log l
       left join iu_core.job_queue j on j.idempotency_key = l.consumer_id || ':' || l.event_id
      where l.event_id = any ($1) and l.outcome = 'enqueued' group by 1`,
    [events.map((event) => event.id)],
  )
  expect(rows.filter((row) => row.jobs !== 1)).toEqual([])
  const got = new Set(rows.map((row) => row.pair))
  const must: string[] = []
  const may = new Set<string>()
  for (const event of events) {
    for (const [index, { id, type, stream }] of CONSUMERS.entries()) {
      if (type !== event.type || (stream !== null && stream !== event.stream)) continue
      for (const { from, to } of active[index]!) {
        if (from > event.committed || to < event.committed) continue
        may.add(`${id} ${event.id}`)
        if (drains.some((drained) => drained > event.committed && drained < to))
          must.push(`${id} ${event.id}`)
      }
    }
  }
  expect(must.filter((pair) => !got.has(pair))).toEqual([])
  expect([...got].filter((pair) => !may.has(pair))).toEqual([])
}

it('gives every event to every consumer that is owed it, once, whatever the order of the steps', async () => {
  const seed = SEED
  console.log(`seed ${seed} (run again with SEED=${seed})`)
  await fc.assert(fc.asyncProperty(fc.array(action, { minLength: 10, maxLength: 40 }), follow), {
    seed,
    numRuns: RUNS,
  })
})
