/** Random interleavings of a few sessions against a model that knows what each read must bring. */
// @module-tag property
import fc from 'fast-check'
import type pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { cases } from '../support/length.ts'
import { SEED } from '../support/seed.ts'

const db = useDatabase()

const SESSIONS = 3
const RUNS = cases(20, 100)

type Action =
  | { readonly do: 'emit' | 'commit' | 'rollback' | 'savepoint' | 'undo'; readonly session: number }
  | { readonly do: 'read'; readonly limit: number }

const session = fc.nat(SESSIONS - 1)
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 5, arbitrary: session.map((n) => ({ do: 'emit', session: n }) as const) },
  { weight: 3, arbitrary: session.map((n) => ({ do: 'commit', session: n }) as const) },
  { weight: 1, arbitrary: session.map((n) => ({ do: 'rollback', session: n }) as const) },
  { weight: 1, arbitrary: session.map((n) => ({ do: 'savepoint', session: n }) as const) },
  { weight: 1, arbitrary: session.map((n) => ({ do: 'undo', session: n }) as const) },
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 4 }).map((limit) => ({ do: 'read', limit }) as const) },
)

/** One open transaction of the model: what it wrote, and what of it a rolled-back savepoint would take away. */
interface Open {
  events: string[]
  savepoint: number | undefined
}

let writers: pg.Client[]
let reader: pg.Client
let run = 0

beforeAll(async () => {
  writers = await Promise.all(Array.from({ length: SESSIONS }, () => db.session('stagedoor_worker')))
  reader = await db.session('stagedoor_worker')
})
afterAll(() => Promise.all(writers.map((writer) => writer.query('rollback'))))

async function follow(actions: readonly Action[]): Promise<void> {
  const name = `run-${run++}`
  await reader.query('select iu_core.fn_event_reader_register($1)', [name])
  const open: (Open | undefined)[] = Array(SESSIONS).fill(undefined)
  const due = new Set<string>()
  const delivered: string[] = []
  let number = 0

  const read = async (limit: number): Promise<number> => {
    const { rows } = await reader.query<{ ref: string }>(
      'select event_subject_ref as ref from iu_core.fn_event_read($1, $2)',
      [name, limit],
    )
    expect(rows.length).toBeLessThanOrEqual(limit)
    for (const { ref } of rows) {
      // Neither twice, nor before its commit, nor of a transaction that rolled back.
      expect(due.delete(ref), ref).toBe(true)
      delivered.push(ref)
    }
    return rows.length
  }

  const apply = async (step: Action): Promise<void> => {
    if (step.do === 'read') return void (await read(step.limit))
    const writer = writers[step.session]!
    const transaction = open[step.session]
    if (step.do === 'emit') {
      if (!transaction) await writer.query('begin')
      const current = transaction ?? { events: [], savepoint: undefined }
      open[step.session] = current
      const ref = `${name}/${step.session}/${number++}`
      await writer.query(
        `select iu_core.fn_event_emit('system', 'gate_changed', p_event_subject_ref => $1)`,
        [ref],
      )
      current.events.push(ref)
    } else if (transaction) {
      await end(step.do, writer, transaction)
      if (step.do === 'commit') for (const ref of transaction.events) due.add(ref)
      if (step.do === 'commit' || step.do === 'rollback') open[step.session] = undefined
    }
  }

  const end = async (what: Action['do'], writer: pg.Client, transaction: Open): Promise<void> => {
    if (what === 'savepoint') {
      await writer.query('savepoint here')
      transaction.savepoint = transaction.events.length
    } else if (what === 'undo') {
      if (transaction.savepoint === undefined) return
      await writer.query('rollback to savepoint here')
      transaction.events.length = transaction.savepoint
    } else {
      await writer.query(what)
    }
  }

  try {
    for (const step of actions) await apply(step)
    // Whatever is still open must not hold up what is committed: two empty reads end every window.
    for (let empty = 0; empty < 2; ) empty = (await read(3)) === 0 ? empty + 1 : 0
    expect([...due]).toEqual([])
    expectOrderKept(delivered)
  } finally {
    for (const [index, transaction] of open.entries())
      if (transaction) await writers[index]!.query('rollback')
  }
}

/** The events of one session come in the order in which it wrote them, over all of its transactions. */
function expectOrderKept(delivered: readonly string[]): void {
  for (let writer = 0; writer < SESSIONS; writer++) {
    const numbers = delivered
      .filter((ref) => ref.split('/')[1] === String(writer))
      .map((ref) => Number(ref.split('/')[2]))
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b))
  }
}

it('brings every committed event once, after its commit, whatever the order of the steps', async () => {
  const seed = SEED
  console.log(`seed ${seed} (run again with SEED=${seed})`)
  await fc.assert(fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 25 }), follow), {
    seed,
    numRuns: RUNS,
  })
})
