/** The clock of a host may be wrong or be set: executions follow that of the database. */
import { setTimeout as delay } from 'node:timers/promises'
import pino from 'pino'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { DatabaseClock } from '../../../src/executions/engine/database-clock.ts'
import { until } from '../../support/until.ts'
import { playbook, useEngines } from './engines.ts'

const engines = useEngines()

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** Only what time it is: timers and the monotonic clock go on. It stands still until it is set again. */
function setHostClock(offMs: number): void {
  const now = Date.now() + offMs
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.setSystemTime(now)
}

describe('the clock of the database', () => {
  it('is what the first answer says, and goes on by itself', async () => {
    const clock = new DatabaseClock()
    const at = performance.now()
    clock.observe(1_000_000, at - 4, at)
    expect(clock.now()).toBeGreaterThanOrEqual(1_000_000)
    const before = clock.now()
    await delay(20)
    expect(clock.now()).toBeGreaterThan(before + 10)
  })

  it('does not jump with a slow answer, and follows one that cannot be explained otherwise', () => {
    const clock = new DatabaseClock()
    const ahead = (): number => clock.now() - performance.now()
    clock.observe(1_000_000, 0, 0)
    // Answered after 500 ms: it may have been said at any moment of these.
    clock.observe(1_000_100, 0, 500)
    expect(ahead()).toBeCloseTo(1_000_000)
    clock.observe(1_002_010, 1000, 1004)
    expect(ahead()).toBeCloseTo(1_001_006)
    clock.observe(995_000, 2000, 2004)
    expect(ahead()).toBeCloseTo(993_000)
  })
})

it.each([-60_000, 60_000])(
  'a timer is due when it should be on a host whose clock is off by %i ms',
  async (offMs) => {
    setHostClock(offMs)
    const name = `timer_${offMs < 0 ? 'behind' : 'ahead'}`
    await engines.register(
      playbook(name, [{ step: 'wait', wait: { kind: 'timer', for_ms: 1500 }, next: 'a' }, { step: 'a' }]),
    )
    let began = 0
    await engines.start({
      a: () => {
        began = performance.now()
        return 1
      },
    })
    const at = performance.now()
    const execution = await engines.run(name)
    expect((await engines.ended(execution, 20_000)).status).toBe('COMPLETED')
    expect(began - at).toBeGreaterThanOrEqual(1500)
  },
)

it('a clock that is set back by a minute while steps run delays nothing, and ids rise', async () => {
  await engines.register(
    playbook('set_back', [
      {
        step: 'each',
        call: 'each',
        loop: { in: Array.from({ length: 30 }, (_, n) => n) },
        retry: { attempts: 3 },
      },
    ]),
  )
  let runs = 0
  const engine = await engines.start({
    each: (): number => {
      if (++runs === 10) setHostClock(-60_000)
      if (runs === 15) throw new Error('once')
      return runs
    },
  })
  const execution = await engines.run('set_back')
  expect((await engines.ended(execution, 20_000)).status).toBe('COMPLETED')
  expect(engine.health().ok).toBe(true)
  const [ids] = await engines.db.owner<{ rise: boolean; events: number }>(
    `select bool_and(rises) as rise, count(*)::integer as events
       from (select event_id > lag(event_id, 1, 0::bigint) over (order by seq) as rises
               from noetl.event where execution_id = $1) e`,
    [execution],
  )
  expect(ids!.rise).toBe(true)
  expect(ids!.events).toBeGreaterThan(30)
})

it('where the clock of the database itself was set back executions wait for it, and health and log say so', async () => {
  const warnings: string[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(line) })
  await engines.register(playbook('database_set_back', [{ step: 'a', next: 'b' }, { step: 'b' }]))
  let back = 0
  const real = DatabaseClock.prototype.now
  vi.spyOn(DatabaseClock.prototype, 'now').mockImplementation(function (this: DatabaseClock) {
    return real.call(this) - back
  })
  const engine = await engines.start({ a: () => 1, b: () => 2 }, { log })
  // An id was made, by which it is noticed.
  expect((await engines.ended(await engines.run('database_set_back'))).status).toBe('COMPLETED')
  back = 3000
  const execution = await engines.run('database_set_back')
  await until('health says it', () => /clock went back/.test(engine.health().detail))
  expect(engine.health().ok).toBe(false)
  expect((await engines.ended(execution, 20_000)).status).toBe('COMPLETED')
  expect(warnings.filter((line) => line.includes('clock of the database'))).toHaveLength(1)
  await until('health is well again', () => engine.health().ok)
})
