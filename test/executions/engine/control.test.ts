import { describe, expect, it } from 'vitest'
import { until } from '../../support/until.ts'
import { playbook, useEngines } from './engines.ts'

const engines = useEngines()
const ask = (sql: string, ...values: unknown[]) => engines.db.pool('stagedoor_worker').query(sql, values)

/** A handler that runs until the test lets it go. */
function held() {
  let open: () => void = () => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  let running = 0
  const aborted: unknown[] = []
  return {
    get running() {
      return running
    },
    aborted,
    open: () => open(),
    handler: async (_: unknown, { signal }: { signal: AbortSignal }) => {
      running++
      signal.addEventListener('abort', () => aborted.push(signal.reason))
      await gate
      return 'held'
    },
  }
}

describe('an execution', () => {
  it('that is cancelled ends at once, and what runs is aborted', async () => {
    const hold = held()
    await engines.start({ a: hold.handler, b: () => null })
    await engines.register(playbook('cancelled', [{ step: 'a', next: 'b' }, { step: 'b' }]))
    const id = await engines.run('cancelled')
    await until('it runs', () => hold.running > 0)
    await ask('select noetl.fn_execution_cancel($1, $2)', id, 'no need')

    expect(await engines.ended(id)).toMatchObject({ status: 'CANCELLED' })
    await until('the handler was told', () => hold.aborted.length > 0)
    hold.open()
    const log = await engines.log(id)
    expect(log.at(-1)).toMatchObject({ event_type: 'execution.cancelled', meta: { reason: 'no need' } })
  })

  it('that is cancelled takes its items from whoever runs them', async () => {
    const hold = held()
    await engines.start({ each: hold.handler }, { leaseMs: 3000 })
    await engines.register(
      playbook('wide', [{ step: 'each', loop: { in: [1, 2, 3, 4], mode: 'fanout', max_in_flight: 4 } }]),
    )
    const id = await engines.run('wide')
    await until('its items run', () => hold.running === 4)
    await ask('select noetl.fn_execution_cancel($1)', id)

    expect(await engines.ended(id)).toMatchObject({ status: 'CANCELLED' })
    await until('they were told', () => hold.aborted.length === 4)
    hold.open()
  })

  it('that is paused lets what runs end and begins nothing, until it is resumed', async () => {
    const hold = held()
    let after = 0
    await engines.start({ a: hold.handler, b: () => ++after })
    await engines.register(playbook('paused', [{ step: 'a', next: 'b' }, { step: 'b' }]))
    const id = await engines.run('paused')
    await until('it runs', () => hold.running > 0)
    await ask('select noetl.fn_execution_pause($1)', id)
    await until('it is paused', async () => (await engines.status(id)) === 'PAUSED')
    hold.open()
    await until('what ran has ended', async () =>
      (await engines.log(id)).some(({ event_type }) => event_type === 'command.completed'),
    )
    expect(await engines.status(id)).toBe('PAUSED')
    expect(after).toBe(0)
    await ask('select noetl.fn_execution_resume($1)', id)

    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
    expect(after).toBe(1)
  })

  it('that is paused in a fan-out begins no item more than those it has claimed, though hundreds are issued', async () => {
    const hold = held()
    await engines.start({ a: hold.handler }, { concurrency: 4 })
    await engines.register(
      playbook('wide', [
        { step: 'a', loop: { in: Array.from({ length: 300 }, (_, n) => n), mode: 'fanout' } },
      ]),
    )
    const id = await engines.run('wide')
    await until('four run', () => hold.running === 4)
    await ask('select noetl.fn_execution_pause($1)', id)
    await until('it is paused', async () => (await engines.status(id)) === 'PAUSED')
    hold.open()
    await until(
      'what ran has ended',
      async () =>
        (await engines.log(id)).filter(({ event_type }) => event_type === 'loop.shard.done').length >= 4,
    )
    // Another engine, with nothing else to do, finds nothing either.
    const second = await engines.start({ a: hold.handler })
    await until('it has asked for work', async () => {
      const { rows } = await ask('select count(*)::int as n from noetl.fn_command_claim($1, 100)', second.id)
      return rows[0].n === 0
    })
    const ends = (await engines.log(id)).filter(({ event_type }) => event_type === 'loop.shard.done')
    expect(ends).toHaveLength(4)
    await ask('select noetl.fn_execution_resume($1)', id)
    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
  })

  it('is run again from a step with what the steps before it gave', async () => {
    const ran: string[] = []
    let isBroken = true
    await engines.start({
      a: () => {
        ran.push('a')
        return 7
      },
      b: ({ of }) => {
        ran.push(`b of ${of}`)
        if (isBroken) throw new Error('broken')
        return of
      },
    })
    await engines.register(
      playbook('rerun', [
        { step: 'a', next: 'b' },
        { step: 'b', args: { of: '${steps.a.result}' } },
      ]),
    )
    const first = await engines.run('rerun')
    expect(await engines.ended(first)).toMatchObject({ status: 'FAILED' })
    isBroken = false
    const { rows } = await ask('select noetl.fn_execution_rerun($1, $2)::text as id', first, 'b')

    expect(await engines.ended(rows[0].id)).toMatchObject({ status: 'COMPLETED' })
    expect(ran).toEqual(['a', 'b of 7', 'b of 7'])
    expect((await engines.log(rows[0].id))[0]!.meta).toMatchObject({ rerun_of: first, from_step: 'b' })
  })

  it('that is cancelled the moment it was started is cancelled, also while an engine takes its shards', async () => {
    await engines.register(playbook('brief', [{ step: 'hang' }]))
    const ids: string[] = []
    const starting = engines.start({ hang: () => new Promise(() => {}) }, { shutdownMs: 10 })
    for (let n = 0; n < 60; n++) {
      const id = await engines.run('brief')
      await ask('select noetl.fn_execution_cancel($1)', id)
      ids.push(id)
    }
    await starting
    for (const id of ids) expect(await engines.ended(id)).toMatchObject({ status: 'CANCELLED' })
  })
})
