import { describe, expect, it } from 'vitest'
import { problemText } from '../../../src/executions/playbook/findings.ts'
import { parsePlaybook, requirePlaybook } from '../../../src/executions/playbook/parse.ts'
import { HELLO, REPAIR_ORDERS, RIGHT, SEQUENTIAL } from './written-playbooks.ts'

function problems(text: string): string[] {
  const { playbook, problems } = parsePlaybook(text)
  if (problems.some(({ severity }) => severity === 'error')) expect(playbook).toBeUndefined()
  return problems.map(problemText)
}

describe('a playbook that is right', () => {
  it('is brought to the one form in which it is run', () => {
    const { playbook, problems } = parsePlaybook(REPAIR_ORDERS)
    expect(problems).toEqual([])
    expect(playbook).toMatchObject({
      name: 'repair-orders',
      args: { n: 10, source: 'https://example.com' },
      start: 'fetch',
    })
    const step = (name: string) => playbook!.steps.find(({ step }) => step === name)
    expect(step('fetch')).toEqual({
      step: 'fetch',
      tools: [
        {
          tool: 'http',
          args: {
            url: `\${args.source}/orders?n=\${args.n}`,
            headers: { authorization: `Bearer \${secret.SHOP}` },
          },
        },
      ],
      retry: { attempts: 3, backoff_ms: 1_000, max_backoff_ms: 300_000 },
      timeout_ms: 30_000,
      on_error: 'fail',
      next: { mode: 'exclusive', arcs: [{ step: 'load' }] },
    })
    expect(step('load')).toMatchObject({
      loop: { as: 'order', mode: 'fanout', max_in_flight: 2_000, fail_fast: false, allow_partial: true },
      tools: [{ tool: 'handler', call: 'normalise' }, { tool: 'sql' }],
      retry: { attempts: 5, backoff_ms: 500, max_backoff_ms: 60_000 },
      next: { arcs: [{ when: 'fanin.status == "partial"', step: 'repair' }, { step: 'approve' }] },
    })
    expect(step('approve')).toMatchObject({
      tools: [],
      wait: { kind: 'approval', record: `\${steps.load.results[0].id}`, timeout_ms: 172_800_000 },
      next: { mode: 'inclusive' },
    })
    expect(step('later')).toMatchObject({
      wait: { kind: 'event', domain: 'staging', type: 'record_approved', timeout_ms: 5_400_000 },
    })
    expect(step('pause')).toMatchObject({ wait: { kind: 'timer', for_ms: 90_000 } })
    expect(step('tomorrow')).toMatchObject({ wait: { kind: 'timer', until: '2030-01-01T00:00:00Z' } })
  })

  it('begins with its first step, loops one after the other and tries once, unless it says otherwise', () => {
    expect(parsePlaybook(HELLO).playbook).toMatchObject({ start: 'hello', args: {} })
    expect(parsePlaybook(SEQUENTIAL).playbook?.steps[0]).toMatchObject({
      loop: { in: [1, 2, 3], as: 'item', mode: 'sequential', max_in_flight: 1 },
      retry: { attempts: 1 },
      next: { mode: 'exclusive', arcs: [] },
    })
  })

  it('is the same in JSON, and as it is run', () => {
    for (const text of RIGHT) {
      const { playbook } = parsePlaybook(text)
      for (const again of [JSON.stringify(playbook), JSON.stringify(playbook, null, '\t')]) {
        expect(parsePlaybook(again)).toEqual({ playbook, problems: [] })
      }
    }
  })

  it('may repeat itself by anchors', () => {
    const text = `name: twice
steps:
  - { step: a, tool: handler, call: work, args: &args { n: 1 }, next: b }
  - { step: b, tool: handler, call: work, args: *args }
`
    expect(parsePlaybook(text).playbook?.steps[1]?.tools[0]?.args).toEqual({ n: 1 })
  })

  it(`may have the \${} of templates around a condition`, () => {
    const text = `name: braces
steps:
  - { step: a, tool: handler, call: work, next: [{ when: "\${ result == 1 }", step: a }] }
`
    expect(parsePlaybook(text).playbook?.steps[0]?.next.arcs).toEqual([{ when: 'result == 1', step: 'a' }])
  })
})

describe('text that cannot be read', () => {
  it.each([
    ['name: a\nsteps:\n  - step: b\n c: d\n', '4:1 all mapping items must start at the same column'],
    ['name: "a\n', '2:1 missing closing "quote'],
    ['steps: [1, 2\n', '1:8 the [ is not closed'],
    ['name: a\nname: b\n', '2:1 name: name stands here twice'],
    ['name: *other\n', '1:7 name: there is no anchor &other above'],
    ['<<: { name: a }\n', 'merge keys (<<) are not read'],
    ['name: !tag a\n', '1:7 unresolved tag: !tag'],
    ['a: 1\n---\nb: 2\n', 'a file holds one playbook'],
    ['args: { n: 12345678901234567890 }\n', '1:12 args.n: 12345678901234567890 is beyond 2^53'],
    ['args: { n: .inf }\n', '1:12 args.n: this is no value that JSON knows'],
    ['', '1:1 the playbook is empty'],
    ['# only a comment\n', 'the playbook is empty'],
    ['[]', '1:1 a playbook is written as a map'],
    ['hello', '1:1 a playbook is written as a map'],
    ['\tname: a', '1:1 tabs are not allowed as indentation'],
  ])('%j', (text, words) => {
    expect(problems(text).join('\n')).toContain(words)
  })

  it('is refused when it is too large, too deep or made endless by aliases', () => {
    expect(problems(`name: ${'a'.repeat(1024 * 1024)}`)[0]).toContain('bytes')
    for (const open of ['[', '{', '- ', '? ', '{ a: ']) {
      expect(problems(`\n${open.repeat(100_000)}`)).toEqual([
        expect.stringMatching(/^2:\d+ it is nested too deeply/),
      ])
    }
    expect(problems('a: &a [*a]')[0]).toContain('nested too deeply')
    const laughs = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]']
    for (let level = 1; level < 9; level++) {
      laughs.push(
        `a${level}: &a${level} [${Array(10)
          .fill(`*a${level - 1}`)
          .join(', ')}]`,
      )
    }
    expect(problems(laughs.join('\n'))[0]).toContain('too large')
  })

  it('takes no time that grows with the square of its keys', () => {
    const keys = Array.from({ length: 60_000 }, (_, index) => `k${index}: 1`).join('\n')
    const began = process.cpuUsage().user
    expect(problems(keys).length).toBe(100)
    expect((process.cpuUsage().user - began) / 1000).toBeLessThan(15_000)
  })
})

describe('a misspelt word', () => {
  it.each([
    [
      'nmae: x\nsteps: [{ step: a, tool: handler, call: b }]',
      '1:1 nmae: a playbook has no nmae. Did you mean name?',
    ],
    ['name: x\nsteps: [{ step: a, tool: htpp }]', '2:26 steps[0].tool: tool is one of', 'Did you mean http?'],
    ['name: x\nsteps: [{ step: a, tol: sql }]', '2:20 steps[0].tol: a step has no tol. Did you mean tool?'],
    [
      'name: x\nsteps:\n  - step: load\n    tool: handler\n    call: b\n    next: laod',
      '6:11 steps[0].next: there is no step laod. Did you mean load?',
    ],
    [
      'name: x\nsteps: [{ step: a, tool: sql, args: { qurey: select 1 } }]',
      'sql has no argument qurey. Did you mean query?',
    ],
    [
      'name: x\nsteps: [{ step: a, tool: handler, call: b, loop: { in: [], mode: fanot } }]',
      'Did you mean fanout?',
    ],
    ['name: x\nsteps: [{ step: a, tool: handler, call: b, on_error: contineu }]', 'Did you mean continue?'],
    [
      'name: x\nsteps: [{ step: a, tool: handler, call: b, retry: { atempts: 3 } }]',
      'Did you mean attempts?',
    ],
    ['name: x\nsteps: [{ step: a, wait: { fro: 2d } }]', 'Did you mean for?'],
  ])('%j is shown with its place and what was meant', (text, ...words) => {
    const found = problems(text).join('\n')
    for (const word of words) expect(found).toContain(word)
  })
})

describe('what stands there', () => {
  const step = (inner: string) =>
    `name: x\nsteps:\n  - step: a\n    tool: handler\n    call: b\n    ${inner}\n`

  it.each([
    ['timeout: 30', '6:14 steps[0].timeout: timeout is a duration such as'],
    ['timeout: 0s', 'timeout must be longer than nothing'],
    ['timeout: 367d', 'timeout is longer than 366 days'],
    ['retry: 0', 'retry is a whole number from 1 to 100'],
    ['retry: 101', 'retry is a whole number from 1 to 100'],
    ['retry: { attempts: 2, backoff: 1m, max_backoff: 1s }', 'max_backoff is shorter than backoff'],
    [
      'loop: { in: [], max_in_flight: 10001, mode: parallel }',
      'max_in_flight is a whole number from 1 to 10000',
    ],
    ['loop: { in: [], max_in_flight: 4 }', 'a sequential loop takes one item at a time'],
    ['loop: { in: steps.a.result }', `Write in: \${steps.a.result}`],
    [`loop: { in: "\${args} \${args}" }`, 'that gives a list, and nothing else'],
    ['loop: { mode: parallel }', 'loop needs in'],
    ['loop: { in: [], as: steps }', 'steps has a meaning of its own'],
    ['loop: { in: [], as: map }', 'map cannot name an item'],
    ['loop: { in: [], fail_fast: "yes" }', 'fail_fast is true or false'],
    ['wait: { for: 1d }', 'a step waits or runs tools, not both'],
    ['next: { mode: inclusive }', 'next needs arcs'],
    ['next: [{ when: "true" }]', 'an arc needs step'],
    ['description: 3', 'description is a text'],
    ['args: [1]', 'args is a map'],
    ['tools: []', 'call must be inside one of the tools'],
  ])('%s is checked', (inner, words) => {
    expect(problems(step(inner)).join('\n')).toContain(words)
  })

  it.each([
    ['{}', 'wait does not say for what'],
    ['{ for: 1d, until: 2030-01-01T00:00:00Z }', 'wait is for one thing'],
    ['{ until: tomorrow }', 'until is a time such as'],
    ['{ until: 2030-01-01T00:00:00 }', 'until is a time such as'],
    ['{ for: 2 }', 'for is a duration such as'],
    ['{ for: 1d, timeout: 1d }', 'timeout has no meaning in this wait'],
    ['{ event: approved }', 'event is written domain.type'],
    ['{ event: a.b, match: 3 }', 'match is a map'],
    ['{ approval: 3 }', 'approval is a text'],
  ])('wait: %s is checked', (wait, words) => {
    expect(problems(`name: x\nsteps: [{ step: a, wait: ${wait} }]`).join('\n')).toContain(words)
  })

  it('does something in every step', () => {
    expect(problems('name: x\nsteps: [{ step: a }]')[0]).toContain('this step does nothing')
    expect(
      problems('name: x\nsteps: [{ step: a, wait: { for: 1d }, loop: { in: [] }, timeout: 1s }]'),
    ).toEqual([
      expect.stringContaining('a step that waits has no loop'),
      expect.stringContaining('the timeout of a wait stands in it'),
    ])
  })

  it('is called by names that expressions can hold', () => {
    expect(problems('name: x\nsteps: [{ step: fetch-all, tool: handler, call: b }]')[0]).toContain(
      'Call it fetch_all',
    )
    expect(problems('name: x\nsteps: [{ step: in, tool: handler, call: b }]')[0]).toContain('a word of CEL')
    expect(problems('name: My Playbook\nsteps: [{ step: a, tool: handler, call: b }]')[0]).toContain(
      '1:7 name:',
    )
    expect(
      problems('name: x\nargs: { "a b": 1 }\nsteps: [{ step: a, tool: handler, call: b }]')[0],
    ).toContain('2:9')
  })

  it('has at most 500 steps', () => {
    const steps = Array.from(
      { length: 501 },
      (_, n) => `  - { step: s${n}, tool: handler, call: b, next: s${n + 1} }`,
    )
    expect(problems(`name: x\nsteps:\n${steps.join('\n')}`)[0]).toContain('at most 500 steps, this has 501')
  })
})

describe('all problems', () => {
  it('are shown at once, in the order of the text', () => {
    const { problems } = parsePlaybook(`name: x
steps:
  - step: a
    tool: sql
    args: { query: "select \${args.m}" }
    timeout: soon
    next: b
  - step: c
    tool: http
`)
    expect(problems.map(({ line, severity }) => [line, severity])).toEqual([
      [5, 'error'],
      [6, 'error'],
      [7, 'error'],
      [8, 'error'],
      [8, 'warning'],
    ])
  })

  it('are in the details of the one error', () => {
    expect(() => requirePlaybook('name: orders\nsteps: [{ step: a, tool: sq }, { step: b }]')).toThrowError(
      expect.objectContaining({
        code: 'playbook_invalid',
        message: expect.stringMatching(/^orders cannot be used: 2:26 steps\[0\]\.tool: .* \(and 1 more\)$/),
        details: expect.objectContaining({
          problems: [expect.stringContaining('2:26'), expect.stringContaining('does nothing')],
        }),
      }),
    )
    expect(requirePlaybook(HELLO).name).toBe('hello')
  })
})
