import { describe, expect, it } from 'vitest'
import { ToolError } from '../../../src/executions/tools/tool.ts'
import { until } from '../../support/until.ts'
import { playbook, useEngines } from './engines.ts'

const engines = useEngines()
const template = (expression: string) => `\${${expression}}`

const kid = playbook('kid', [{ step: 'work', args: { n: template('args.n') } }], {
  args: { n: 0 },
  output: template('steps.work.result'),
})
const call = (n: string | number) => [{ tool: 'playbook' as const, call: 'kid', args: { n } }]

describe('a playbook that calls another', () => {
  it('goes on with what that one gives back', async () => {
    await engines.start({ work: ({ n }) => (n as number) + 1 })
    await engines.register(kid)
    await engines.register(
      playbook('parent', [{ step: 'call', tools: call(41) }], { output: template('steps.call.result') }),
    )
    const id = await engines.run('parent')

    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
    expect((await engines.log(id)).at(-1)!.result).toEqual({ status: 'ok', value: 42 })
    const children = await engines.db.owner<{ status: string }>(
      'select status from noetl.execution where parent_execution_id = $1',
      [id],
    )
    expect(children).toEqual([{ status: 'COMPLETED' }])
  })

  it('calls it for every item of a loop', async () => {
    const seen: number[] = []
    await engines.start({ work: ({ n }) => seen.push(n as number) })
    await engines.register(kid)
    await engines.register(
      playbook(
        'parents',
        [
          {
            step: 'call',
            tools: call(template('item')),
            loop: { in: template('args.items'), mode: 'parallel', max_in_flight: 3 },
          },
        ],
        {
          args: { items: [] },
        },
      ),
    )
    const id = await engines.run('parents', { items: [1, 2, 3, 4, 5, 6, 7] })

    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
    expect(seen.sort()).toEqual([1, 2, 3, 4, 5, 6, 7])
  })

  it('fails with it', async () => {
    await engines.start({
      work: () => {
        throw new ToolError('the child is broken')
      },
    })
    await engines.register(kid)
    await engines.register(playbook('unlucky', [{ step: 'call', tools: call(1) }]))
    const id = await engines.run('unlucky')

    const ended = await engines.ended(id)
    expect(ended.status).toBe('FAILED')
    expect(ended.error).toContain('the child is broken')
  })

  it('fails where there is no such playbook, instead of waiting for it', async () => {
    await engines.start({})
    await engines.register(
      playbook('lost', [{ step: 'call', tools: [{ tool: 'playbook', call: 'nowhere', args: {} }] }]),
    )
    const id = await engines.run('lost')

    const ended = await engines.ended(id)
    expect(ended.status).toBe('FAILED')
    expect(ended.error).toContain('nowhere')
  })

  it('takes its children with it when it is cancelled', async () => {
    let aborted = false
    await engines.start({
      work: (_, { signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            aborted = true
            reject(signal.reason)
          })
        }),
    })
    await engines.register(kid)
    await engines.register(playbook('stopped', [{ step: 'call', tools: call(1) }]))
    const id = await engines.run('stopped')
    const child = await until('the child runs', async () => {
      const rows = await engines.db.owner<{ id: string }>(
        `select x.execution_id::text as id from noetl.execution x join noetl.event e using (execution_id)
          where x.parent_execution_id = $1 and e.event_type = 'command.issued'`,
        [id],
      )
      return rows[0]?.id
    })
    await engines.db
      .pool('stagedoor_worker')
      .query('select noetl.fn_execution_cancel($1, $2)', [id, 'enough'])

    expect(await engines.ended(id)).toMatchObject({ status: 'CANCELLED' })
    expect(await engines.ended(child)).toMatchObject({ status: 'CANCELLED' })
    await until('its command was told', () => aborted)
  })
})
