import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { Cores, Heap, Simulation, Thread, Timers } from '../../bench/src/model/events.ts'
import {
  coldFactor,
  contentionUs,
  fitLine,
  flatten,
  type Parameters,
  readParameters,
  unflatten,
} from '../../bench/src/model/parameters.ts'
import { predict, type World } from '../../bench/src/model/queue-model.ts'
import {
  HOSTS,
  MODES,
  SIZING_DOC,
  sizingBlock,
  sizingRows,
  sizingText,
  withSizing,
} from '../../bench/src/model/sizing.ts'
import { CELLS, errorOf } from '../../bench/src/model/validate.ts'

const PARAMETERS: Parameters = {
  measured_at: '2026-11-18T00:00:00.000Z',
  machine: { cores: 2, memory_gb: 24, cpu: 'a CPU', system: 'Linux' },
  versions: { postgres: '18.4', node: '20.20.2' },
  postgres: {
    enqueue: { base_us: 500, row_us: 10 },
    claim: { base_us: 300, row_us: 7 },
    empty_claim_us: 280,
    claim_by_id: { hit_us: 200, miss_us: 100 },
    begin: { base_us: 190, row_us: 4 },
    complete: { base_us: 220, row_us: 5 },
    session_us: 4000,
    contention: [{ others: 1, base_us: 20, row_us: 0.5 }],
    cold: [
      { idle_ms: 0.5, factor: 1 },
      { idle_ms: 50, factor: 2 },
    ],
    cold_behind: [{ idle_ms: 0.5, factor: 1 }],
    vacuum_us: 1,
    background_factor: 1,
    commit_ms: 0.13,
    commit_times_ms: [0.12, 0.13, 0.14],
    flush_ms_per_mb: 1,
    notify_us: 45,
    listener_us: 16,
    wal: { job_bytes: 650, statement_bytes: 95 },
    idle: { commits_per_s: 1.7, cpu_percent: 0.1, connections: 3 },
  },
  node: {
    statement_us: 140,
    job_us: 13,
    call_us: 60,
    wait_ms: 20,
    cold: [
      { idle_ms: 0.5, factor: 1 },
      { idle_ms: 50, factor: 2 },
    ],
    timer_late_ms: 0.1,
  },
  round_trip_ms: 0.05,
  idle_round_trip_ms: [0.1, 0.2],
  nats: {
    hop_ms: 0.09,
    idle_hop_ms: [0.1, 0.2],
    request: [{ jobs: 1, server_us: 5, node_us: 38 }],
    wake_up: { server_us: 2, node_us: 5 },
    relay: {
      gateway: { base_us: 150, row_us: 40 },
      worker: { base_us: 120, row_us: 20 },
      server: { base_us: 30, row_us: 1 },
    },
    relay_alone_us: { gateway: 400, worker: 300, server: 100 },
  },
  tables: { claims: [], notify: [] },
}
const WORLD: World = {
  mode: 'direct',
  processes: 1,
  slots: 10,
  handlerMs: 50,
  cores: 2,
  sameMachine: true,
  load: { jobs: 1000 },
}

it('lets events happen in the order of their times, and of their making where those are equal', () => {
  const sim = new Simulation()
  const happened: string[] = []
  sim.after(2, () => happened.push('later'))
  sim.after(1, () => {
    happened.push('first')
    sim.after(0, () => happened.push('at once'))
  })
  sim.after(1, () => happened.push('second'))
  sim.run()
  expect(happened).toEqual(['first', 'second', 'at once', 'later'])
  expect(sim.now).toBe(2)
})

it('takes the same chances from the same seed', () => {
  const draw = (seed: number): number[] => {
    const sim = new Simulation(seed)
    return Array.from({ length: 5 }, () => sim.random())
  }
  expect(draw(7)).toEqual(draw(7))
  expect(draw(7)).not.toEqual(draw(8))
})

it('shares cores equally, and gives no task more than one', () => {
  const sim = new Simulation()
  const cores = new Cores(sim, 2)
  const ends: number[] = []
  for (const ms of [10, 10, 10, 10]) cores.use(ms, () => ends.push(sim.now))
  sim.run()
  expect(ends.map(Math.round)).toEqual([20, 20, 20, 20])
  expect(cores.usedMs).toBe(40)

  const alone = new Simulation()
  let end = 0
  new Cores(alone, 8).use(10, () => {
    end = alone.now
  })
  alone.run()
  expect(end).toBe(10)
})

it('lets a process do one thing at a time', () => {
  const sim = new Simulation()
  const thread = new Thread(sim, new Cores(sim, 2), (idleMs) => (idleMs >= 10 ? 2 : 1))
  const ends: number[] = []
  for (const ms of [3, 4]) thread.use(ms, () => ends.push(sim.now))
  sim.run()
  expect(ends).toEqual([3, 7])
  // After it was idle all that it does for a moment takes longer.
  sim.after(10, () => {
    for (const ms of [3, 4]) thread.use(ms, () => ends.push(sim.now))
  })
  sim.run()
  expect(ends.slice(2)).toEqual([23, 27])
})

it('does what arrived meanwhile after the end of the turn', () => {
  const sim = new Simulation()
  const thread = new Thread(sim, new Cores(sim, 2))
  const happened: string[] = []
  const note = (what: string) => () => void happened.push(what)
  thread.use(1, () => {
    note('first')()
    thread.endOfTurn(0, note('end of the turn'))
    thread.continue(1, note('at once'))
    sim.after(0.5, () => thread.use(1, note('arrived meanwhile')))
  })
  thread.use(1, note('together with the first'))
  sim.run()
  expect(happened).toEqual([
    'first',
    'at once',
    'together with the first',
    'end of the turn',
    'arrived meanwhile',
  ])
})

it('lets timers of one millisecond happen together, and others a millisecond apart', () => {
  const sim = new Simulation()
  const timers = new Timers(sim, 0)
  const turns: number[] = []
  let wakes = 0
  for (const beganAt of [0, 0.01, 0.02, 3])
    sim.after(beganAt, () =>
      timers.after(
        50,
        () => wakes++,
        () => turns.push(sim.now),
      ),
    )
  sim.run()
  expect(turns[0]).toBe(turns[2])
  expect(turns[3]! - turns[0]!).toBeGreaterThan(1)
  expect(wakes).toBe(2)
  expect(turns[0]!).toBeGreaterThan(49)
  expect(turns[0]!).toBeLessThan(51.1)
})

it('finds between what was measured how much sessions that claim cost each other', () => {
  const measured = [
    { others: 1, base_us: 10, row_us: 0.1 },
    { others: 5, base_us: 50, row_us: 1.1 },
  ]
  expect(contentionUs(measured, 0, 100)).toBe(0)
  expect(contentionUs(measured, 0.5, 100)).toBeCloseTo(10)
  expect(contentionUs(measured, 3, 100)).toBeCloseTo(90)
  expect(contentionUs(measured, 10, 100)).toBeCloseTo(320)
  expect(contentionUs([], 3, 100)).toBe(0)
})

it('claims ahead where the jobs of a claim have begun before it is answered', () => {
  const far = { ...PARAMETERS, round_trip_ms: 5 }
  const { jobs_per_s, claims_per_job } = predict(far, {
    ...WORLD,
    handlerMs: 0,
    load: { jobs: 20_000, warmUpJobs: 2000 },
  })
  expect(claims_per_job).toBeLessThan(0.011)
  // With one claim of 100 at a time there would be fewer than 100 in each round trip.
  expect(jobs_per_s).toBeGreaterThan(20_000)
})

it('keeps the least at the top', () => {
  const heap = new Heap<number>((a, b) => a - b)
  for (const value of [5, 1, 4, 1, 3]) heap.push(value)
  expect(Array.from({ length: 6 }, () => heap.pop())).toEqual([1, 1, 3, 4, 5, undefined])
})

it('finds what a statement and what a row costs', () => {
  const { base_us, row_us } = fitLine([1, 10, 100, 400].map((rows) => ({ rows, us: 300 + 7 * rows })))
  expect(base_us).toBeCloseTo(300, 6)
  expect(row_us).toBeCloseTo(7, 6)
  expect(() => fitLine([{ rows: 1, us: 1 }])).toThrow('two points')
})

it('makes statements of sessions that were idle dearer, up to what was measured', () => {
  const { cold } = PARAMETERS.postgres
  expect(coldFactor(cold, 0)).toBe(1)
  expect(coldFactor(cold, 5)).toBeCloseTo(1.5, 6)
  expect(coldFactor(cold, 10_000)).toBe(2)
  expect(coldFactor([], 5)).toBe(1)
})

it('keeps nested parameters through flat figures', () => {
  const nested = { a: { b: 1, list: [{ c: 2 }, { c: 3 }] }, d: 4 }
  expect(flatten(nested)).toEqual({ 'a.b': 1, 'a.list.0.c': 2, 'a.list.1.c': 3, d: 4 })
  expect(unflatten(flatten(nested))).toEqual(nested)
})

it('predicts the same from the same seed', () => {
  expect(predict(PARAMETERS, WORLD)).toEqual(predict(PARAMETERS, WORLD))
})

it('predicts that handlers which wait fill their slots, in one process and in four', () => {
  for (const processes of [1, 4]) {
    const { jobs_per_s } = predict(PARAMETERS, { ...WORLD, processes, load: { jobs: 1000 * processes } })
    expect(jobs_per_s / (200 * processes)).toBeGreaterThan(0.85)
    expect(jobs_per_s / (200 * processes)).toBeLessThanOrEqual(1.03)
  }
})

it('predicts that large statements make a job cheap, and that a server with less CPU does less', () => {
  const fast = predict(PARAMETERS, { ...WORLD, handlerMs: 0, load: { jobs: 20_000 } })
  const slow = predict(PARAMETERS, { ...WORLD, handlerMs: 0, cores: 0.5, load: { jobs: 20_000 } })
  const waiting = predict(PARAMETERS, WORLD)
  expect(fast.jobs_per_claim).toBeGreaterThan(90)
  expect(fast.postgres_us_per_job).toBeLessThan(waiting.postgres_us_per_job / 5)
  expect(slow.jobs_per_s).toBeLessThan(fast.jobs_per_s / 2)
})

it('predicts that gateways need less of Postgres than workers that all ask for themselves', () => {
  const many = { ...WORLD, processes: 100, handlerMs: 1000, cores: 8, sameMachine: false }
  const load = { perSecond: 700, seconds: 6, warmUpSeconds: 3, together: 10, sessions: 16 }
  const direct = predict(PARAMETERS, { ...many, load })
  const gateway = predict(PARAMETERS, { ...many, mode: 'gateway', gateways: 4, load })
  expect(gateway.postgres_cores).toBeLessThan(direct.postgres_cores / 2)
  expect(gateway.jobs_per_s / 700).toBeGreaterThan(0.85)
  expect(gateway.messages_per_s).toBeGreaterThan(2000)
})

it('predicts that a gateway fills the slots of its workers, and hands out together what comes together', () => {
  const world = { ...WORLD, mode: 'gateway', processes: 4 } as const
  const waiting = predict(PARAMETERS, { ...world, load: { jobs: 4000 } })
  expect(waiting.jobs_per_s / 800).toBeGreaterThan(0.8)
  expect(waiting.jobs_per_s / 800).toBeLessThanOrEqual(1.03)
  const short = predict(PARAMETERS, { ...world, handlerMs: 0, load: { jobs: 4000 } })
  // A message there and one back for each job would be four.
  expect(short.messages_per_s / short.jobs_per_s).toBeLessThan(2)
})

it('says nothing of gateways where there is no NATS', () => {
  const { nats: _nats, ...without } = PARAMETERS
  expect(() => predict(without, { ...WORLD, mode: 'gateway' })).toThrow('need figures of NATS')
  expect(new Set(sizingRows(without, 0.02).map(({ mode }) => mode))).toEqual(new Set(['direct']))
})

it('compares every number of processes, every handler and every way', () => {
  expect(CELLS).toHaveLength(27)
  expect(errorOf({ real: 100, predicted: 115 })).toBeCloseTo(0.15)
  expect(errorOf({ real: 100, predicted: 85 })).toBeCloseTo(0.15)
})

it('writes the sizing table between its marks and nowhere else', () => {
  const text = readFileSync(SIZING_DOC, 'utf8')
  const changed = withSizing(text, '| other |')
  expect(sizingBlock(changed)).toBe('| other |')
  expect(withSizing(changed, sizingBlock(text))).toBe(text)
  expect(() => withSizing('no marks', 'x')).toThrow('no block')
})

it('has in the guide the table that the model makes of the recorded parameters', () => {
  const shape = (block: string): string[] =>
    block
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .map((line) =>
        line
          .split(' | ')
          .slice(0, 2)
          .join(' | ')
          .concat(` × ${line.split(' | ').length}`),
      )
  const block = sizingBlock(readFileSync(SIZING_DOC, 'utf8'))
  const parameters = readParameters()
  expect(shape(block)).toEqual(shape(sizingText(parameters, 0.02)))
  expect(shape(block)).toHaveLength(2 + HOSTS.length * MODES.length)
  expect(block).toContain(`measured on ${parameters.measured_at.slice(0, 10)}`)
})
