/** What engines tell each other after their commits, and what happens when it is not heard. */
import pino from 'pino'
import { afterEach, expect, it } from 'vitest'
import { openWakeups, type Wakeups } from '../../../src/runtime/wakeups.ts'
import { until } from '../../support/until.ts'
import { playbook, useEngines } from './engines.ts'

const engines = useEngines()
const handles: Wakeups[] = []
afterEach(async () => {
  await Promise.all(handles.splice(0).map((handle) => handle.close()))
})

/** Another address is another bus, as in another process. */
const OTHER = () => `${engines.db.url('stagedoor_worker')}?fallback_application_name=other`

function handle(url: string): Wakeups {
  const opened = openWakeups(url, pino({ level: 'silent' }))
  handles.push(opened)
  return opened
}

const fan = playbook('fan', [
  { step: 'each', args: { n: '$' + '{item}' }, loop: { in: [1, 2, 3, 4, 5, 6, 7, 8], mode: 'parallel' } },
])

it('a driver and an engine that only runs, in two processes, wake each other without a poll of their own', async () => {
  const ran: unknown[] = []
  await engines.start({}, { runs: false })
  await engines.start({ each: ({ n }) => ran.push(n) }, { drives: false, listenUrl: OTHER() })
  await engines.register(fan)
  for (let n = 0; n < 3; n++)
    expect(await engines.ended(await engines.run('fan'))).toMatchObject({ status: 'COMPLETED' })
  expect(ran).toHaveLength(24)
})

it('with half of all wake-ups lost everything still ends, each item once', async () => {
  const ran: unknown[] = []
  for (const url of [engines.db.url('stagedoor_worker'), OTHER()]) handle(url).injectLoss(0.5)
  await engines.start({}, { runs: false })
  await engines.start({ each: ({ n }) => ran.push(n) }, { drives: false, listenUrl: OTHER() })
  await engines.register(fan)
  for (let n = 0; n < 3; n++)
    expect(await engines.ended(await engines.run('fan'))).toMatchObject({ status: 'COMPLETED' })
  expect(ran).toHaveLength(24)
})

it('a timer, a retry and an event come in time though the engines do not poll', async () => {
  let attempts = 0
  await engines.start({
    a: () => {
      attempts += 1
      if (attempts < 3) throw new Error('not yet')
      return attempts
    },
  })
  await engines.register(
    playbook('timed', [
      { step: 'pause', wait: { kind: 'timer', for_ms: 300 }, next: 'a' },
      { step: 'a', retry: { attempts: 3, backoff_ms: 200 } },
    ]),
  )
  const id = await engines.run('timed')
  expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
  expect(attempts).toBe(3)
})

it('a driver that stops gives its executions to another one at once', async () => {
  const first = await engines.start({ a: () => 1 })
  await engines.start({ a: () => 2 }, { listenUrl: OTHER() })
  await until('both drive', async () => {
    const rows = await engines.db.owner(
      'select distinct owner from noetl.execution_shard where owner is not null',
    )
    return rows.length === 2
  })
  await first.stop()
  await until('one owns all', async () => {
    const rows = await engines.db.owner<{ count: string }>(
      'select count(*) from noetl.execution_shard s join noetl.engine e on e.engine_id = s.owner group by s.owner',
    )
    return rows.length === 1 && rows[0]!.count === '16'
  })
})
