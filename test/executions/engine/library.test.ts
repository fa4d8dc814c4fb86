import { describe, expect, it } from 'vitest'
import type { Engine } from '../../../src/executions/engine/engine.ts'
import { executionsLibrary, playbooksLibrary, type WorkOptions } from '../../../src/executions/library.ts'
import { inTransaction } from '../../../src/kernel/postgres/transaction.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'
import { until } from '../../support/until.ts'
import { useEngines } from './engines.ts'

const engines = useEngines()
const pool = () => engines.db.pool('stagedoor_worker')
const started: Engine[] = []
const deps = {
  get pool() {
    return pool()
  },
  worker: <T>(work: Parameters<typeof inTransaction<T>>[1]) => inTransaction(pool(), work),
  async startEngine(options: WorkOptions) {
    const handlers = {
      greet: ({ name }: { name?: unknown }) => `hello ${name}`,
      hang: () => new Promise(() => {}),
    }
    const engine = await engines.start(handlers, options)
    started.push(engine)
    return engine
  },
  engines: () => started,
}
const playbooks = playbooksLibrary(deps)
const executions = executionsLibrary(deps)

const GREETING = `
name: greeting
args: { name: nobody }
steps:
  - step: greet
    tool: handler
    call: greet
    args: { name: "\${args.name}" }
output: { said: "\${steps.greet.result}" }
`

describe('the library', () => {
  it('registers a playbook once, starts it, and waits for what it gives back', async () => {
    const first = await playbooks.register(GREETING)
    expect(await playbooks.register(GREETING)).toEqual(first)
    await executions.work()
    const id = await executions.start('greeting', { name: 'Ada' })

    expect(await executions.wait(id)).toEqual({
      execution_id: id,
      status: 'COMPLETED',
      error: null,
      result: { value: { said: 'hello Ada' } },
    })
    const ended = await until('it is projected', async () => {
      const record = await executions.status(id)
      return record.end_time ? record : undefined
    })
    expect(ended).toMatchObject({
      playbook: 'greeting',
      version: first.version,
      status: 'COMPLETED',
      result: { status: 'ok', value: { said: 'hello Ada' } },
    })
    const events = await executions.events(id)
    expect(events.at(-1)!.event_type).toBe('playbook.completed')
    expect(await executions.events(id, { after: events.at(-2)!.seq })).toHaveLength(1)
    expect((await executions.trace(id)).map(({ event_type }) => event_type)).toEqual([
      'playbook.completed',
      'command.completed',
      'command.issued',
      'playbook.initialized',
    ])
    expect(await executions.rebuild()).toMatchObject({ differences: [] })
    expect(await executions.status(id)).toEqual(ended)
  })

  it('starts one execution for a key, and none in a transaction that is rolled back', async () => {
    await playbooks.register(GREETING)
    const id = await executions.start('greeting', {}, { idempotencyKey: 'once' })
    expect(await executions.start('greeting', {}, { idempotencyKey: 'once' })).toBe(id)
    let never = ''
    await inTransaction(pool(), async (client) => {
      never = await executions.start('greeting', {}, { client })
      throw new Error('rolled back')
    }).catch(() => {})
    await expect(executions.wait(never)).rejects.toMatchObject({ code: 'execution_unknown' })
  })

  it('refuses a playbook that calls itself through another, and one that is not there', async () => {
    const calls = (name: string, other: string) =>
      `name: ${name}\nsteps:\n  - step: a\n    tool: playbook\n    call: ${other}\n`
    await playbooks.register(calls('there', 'back'))
    await expect(playbooks.register(calls('back', 'there'))).rejects.toMatchObject({
      code: 'playbook_invalid',
    })
    expect(await sqlstateOf(executions.start('nowhere'))).toBe('SD802')
  })

  it('stops waiting when it is aborted', async () => {
    await playbooks.register('name: stuck\nsteps:\n  - step: hang\n    tool: handler\n    call: hang\n')
    await executions.work({ shutdownMs: 10 })
    const id = await executions.start('stuck')
    const patience = new AbortController()
    const waiting = executions.wait(id, { signal: patience.signal })
    patience.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow()
    await executions.cancel(id, 'no reason')
    expect(await executions.wait(id)).toMatchObject({ status: 'CANCELLED' })
  })
})
