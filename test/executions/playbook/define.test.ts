import { describe, expect, it } from 'vitest'
import { definePlaybook, parsePlaybook } from '../../../src/executions/playbook/parse.ts'

describe('definePlaybook', () => {
  it('gives the same as the same playbook in YAML', () => {
    const playbook = definePlaybook({
      name: 'orders',
      args: { n: 3 },
      steps: [
        { step: 'fetch', tool: 'handler', call: 'fetch', args: { n: `\${args.n}` }, retry: 3, next: 'load' },
        {
          step: 'load',
          tools: [{ tool: 'handler', call: 'load' }],
          loop: { in: `\${steps.fetch.result}`, mode: 'fanout' },
          timeout: '30s',
          next: [{ when: 'fanin.status == "partial"', step: 'fetch' }, 'rest'],
        },
        { step: 'rest', wait: { for: '2d' } },
      ],
    })
    expect(
      parsePlaybook(`name: orders
args: { n: 3 }
steps:
  - { step: fetch, tool: handler, call: fetch, args: { n: "\${args.n}" }, retry: 3, next: load }
  - step: load
    tools: [{ tool: handler, call: load }]
    loop: { in: "\${steps.fetch.result}", mode: fanout }
    timeout: 30s
    next: [{ when: fanin.status == "partial", step: fetch }, rest]
  - { step: rest, wait: { for: 2d } }
`),
    ).toEqual({ playbook, problems: [] })
  })

  it('takes the step since which events count', () => {
    const playbook = definePlaybook({
      name: 'orders',
      steps: [
        { step: 'ask', tool: 'handler', call: 'ask', next: 'answer' },
        { step: 'answer', wait: { event: 'orders.answered', since: 'ask' } },
      ],
    })
    expect(playbook.steps[1]!.wait).toMatchObject({ kind: 'event', since: 'ask' })
  })

  it('knows the steps by their types', () => {
    expect(() =>
      definePlaybook({
        name: 'a',
        // @ts-expect-error there is no step `laod`
        steps: [{ step: 'load', tool: 'handler', call: 'x', next: 'laod' }],
      }),
    ).toThrow('there is no step laod. Did you mean load?')
    expect(() =>
      definePlaybook({
        name: 'a',
        // @ts-expect-error nor as the beginning
        start: 'laod',
        steps: [{ step: 'load', tool: 'handler', call: 'x' }],
      }),
    ).toThrow('start: there is no step laod')
    expect(() =>
      definePlaybook({
        name: 'a',
        steps: [
          {
            step: 'load',
            tool: 'handler',
            call: 'x',
            // @ts-expect-error nor in a condition
            next: [{ when: 'true', step: 'laod' }],
          },
        ],
      }),
    ).toThrow('there is no step laod')
  })

  it('throws every problem that the text would have had, by path', () => {
    expect(() =>
      definePlaybook({
        name: 'a',
        steps: [{ step: 'b', tool: 'sql', args: { query: `\${nope}` }, retry: 0 }],
      }),
    ).toThrowError(
      expect.objectContaining({
        code: 'playbook_invalid',
        details: expect.objectContaining({
          problems: [
            'steps[0].retry: retry is a whole number from 1 to 100',
            expect.stringMatching(/^steps\[0\]\.args\.query: `nope`: there is no `nope` here/),
          ],
        }),
      }),
    )
  })

  it('keeps nothing that is not data', () => {
    const when = undefined as unknown as string
    const playbook = definePlaybook({
      name: 'a',
      steps: [
        {
          step: 'b',
          tool: 'handler',
          call: 'c',
          args: { at: new Date(0) as never },
          next: [{ when, step: 'b' }],
        },
      ],
    })
    expect(playbook.steps[0]?.tools[0]?.args).toEqual({ at: '1970-01-01T00:00:00.000Z' })
    expect(playbook.steps[0]?.next.arcs).toEqual([{ step: 'b' }])
  })
})
