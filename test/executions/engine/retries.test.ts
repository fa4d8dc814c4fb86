import { describe, expect, it } from 'vitest'
import { ToolError } from '../../../src/executions/tools/tool.ts'
import { playbook, useEngines } from './engines.ts'

const engines = useEngines()

describe('a step that fails', () => {
  it('is tried again under another command id, and its attempts are in the log', async () => {
    const attempts: string[] = []
    await engines.start({
      shaky: (_, { command_id, attempt }) => {
        attempts.push(command_id)
        if (attempt < 3) throw new Error(`not yet ${attempt}`)
        return 'well'
      },
    })
    await engines.register(playbook('retried', [{ step: 'shaky', retry: { attempts: 3 } }]))
    const id = await engines.run('retried')

    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
    expect(attempts).toEqual([1, 2, 3].map((attempt) => `${id}:shaky#1:${attempt}`))
    const failed = (await engines.log(id)).filter(({ event_type }) => event_type === 'command.failed')
    expect(failed.map(({ error, meta }) => [error, meta!.final])).toEqual([
      ['not yet 1', false],
      ['not yet 2', false],
    ])
    expect(failed[0]!.meta!.retry_at).toBeDefined()
  })

  it('fails the execution after its last attempt, and at once when it cannot be retried', async () => {
    let runs = 0
    await engines.start({
      bad: () => {
        runs++
        throw new ToolError('hopeless')
      },
    })
    await engines.register(playbook('hopeless', [{ step: 'bad', retry: { attempts: 5 } }]))
    const id = await engines.run('hopeless')

    const ended = await engines.ended(id)
    expect(ended).toMatchObject({ status: 'FAILED' })
    expect(ended.error).toContain('hopeless')
    expect(runs).toBe(1)
  })

  it('goes on along its arcs where on_error says so', async () => {
    await engines.start({
      bad: () => {
        throw new ToolError('broken')
      },
      repair: (args) => args,
    })
    const arcs = [{ when: 'error != null', step: 'repair' }]
    await engines.register(
      playbook('repaired', [
        { step: 'bad', on_error: 'continue', next: { mode: 'exclusive', arcs } },
        { step: 'repair', args: { was: '${steps.bad.error}' } },
      ]),
    )
    const id = await engines.run('repaired')

    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
    const log = await engines.log(id)
    const repaired = log.find(
      ({ node_name, event_type }) => node_name === 'repair' && event_type === 'command.completed',
    )
    expect(repaired!.result).toEqual({ status: 'ok', value: { was: 'broken' } })
  })
})
