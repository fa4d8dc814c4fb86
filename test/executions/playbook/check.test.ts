import { describe, expect, it } from 'vitest'
import { type CheckOptions, calledPlaybooks } from '../../../src/executions/playbook/check.ts'
import type { Playbook } from '../../../src/executions/playbook/definition.ts'
import { problemText } from '../../../src/executions/playbook/findings.ts'
import { parsePlaybook } from '../../../src/executions/playbook/parse.ts'

function found(text: string, options?: CheckOptions): string[] {
  return parsePlaybook(text, options).problems.map((problem) => `${problem.severity} ${problemText(problem)}`)
}

/** One step that runs a handler, with more in it. */
function withStep(inner: string, args = '{ n: 1 }'): string {
  return `name: x\nargs: ${args}\nsteps:\n  - step: a\n    tool: handler\n    call: b\n    ${inner}\n`
}

describe('steps and arcs', () => {
  it('have names of their own', () => {
    const text = `name: x
steps:
  - { step: a, tool: handler, call: b, next: a }
  - { step: a, tool: handler, call: b }
`
    expect(found(text)).toEqual([
      'error 4:13 steps[1].step: there are two steps a. Give one of them another name',
    ])
  })

  it('lead to steps that there are', () => {
    expect(found(withStep('next: [{ when: "true", step: c }]'))[0]).toMatch(
      /7:34 .*there is no step c. The steps are a/,
    )
    expect(found('name: x\nsteps:\n  - step: a\n    args: [1, 2\n  - step: b\n')).toEqual([
      'error 4:11 the [ is not closed',
    ])
    expect(found('name: x\nargs: {a: [1, 2], b: 1\nsteps: []\n')).toEqual(['error 2:7 the { is not closed'])
    expect(found('name: x\nstart: b\nsteps: [{ step: a, tool: handler, call: b }]')).toEqual([
      'error 2:8 start: there is no step b. The steps are a',
    ])
  })

  it('that nothing leads to, or that are never taken, are warnings', () => {
    const text = `name: x
steps:
  - { step: a, tool: handler, call: b, next: [b, c] }
  - { step: b, tool: handler, call: b }
  - { step: c, tool: handler, call: b }
  - { step: d, tool: handler, call: b }
`
    expect(parsePlaybook(text).playbook).toBeDefined()
    expect(found(text)).toEqual([
      expect.stringMatching(/^warning 3:50 .*never taken/),
      expect.stringMatching(/^warning 6:13 .*no arc leads to the step d/),
    ])
    expect(found(text.replace('next: [b, c]', 'next: { mode: inclusive, arcs: [b, c, d] }'))).toEqual([])
  })
})

describe('tools', () => {
  it.each([
    ['tool: sql', 'sql needs args.query'],
    ['tool: http\n    args: {}', 'http needs args.url'],
    ['tool: handler', 'handler needs call'],
    ['tool: playbook', 'playbook needs call'],
    [`tool: playbook\n    call: "\${args.n}"`, 'call is a name, not a template'],
    ['tool: staging', 'staging needs args.action'],
    ['tool: staging\n    args: { action: approve, record: a }', 'a person decides, not a playbook'],
    ['tool: staging\n    args: { action: raed, record: a }', 'Did you mean read?'],
    ['tool: staging\n    args: { action: read }', 'staging needs args.record'],
    [
      'tool: staging\n    args: { action: read, record: a, parts: [] }',
      'parts has no meaning with the action read',
    ],
    [
      'tool: staging\n    args: { action: create, staging_kind: a, payload_type: b, purpose: c }',
      'staging needs args.parts',
    ],
    ['tool: ingest\n    args: { file: a.csv, dataset: b, until: promotd }', 'Did you mean promoted?'],
    ['tool: ingest\n    args: { file: a.csv }', 'ingest needs args.dataset'],
    ['tool: duckdb', 'duckdb needs args.query'],
    ['tool: unit', 'unit needs args.action'],
    ['tool: unit\n    args: { action: enact, unit: a }', 'a person decides, not a playbook'],
    ['tool: unit\n    args: { action: edit, unit: a, body: b }', 'unit needs args.expected_version'],
    ['tool: unit\n    args: { action: cut, record: a }', 'unit needs args.digest'],
    [
      'tool: unit\n    args: { action: edge, unit: a, edge_type: b, target: c, body: d }',
      'body has no meaning with the action edge',
    ],
    ['tool: sql\n    call: x\n    args: { query: select 1 }', 'sql has no call'],
    ['tool: sql\n    args: { query: select 1, params: { a: 1 } }', 'params is a list'],
    ['tool: sql\n    args: { query: "" }', 'query is empty'],
    ['tool: http\n    args: { url: https://a.b, method: PSOT }', 'Did you mean POST?'],
    [
      'tools: [{ tool: playbook, call: b }, { tool: handler, call: c }]',
      'a playbook is the only tool of its step',
    ],
    ['tools: [{ call: b }]', 'each of tools needs tool'],
  ])('%j is refused', (tool, words) => {
    expect(found(`name: x\nargs: { n: 1 }\nsteps:\n  - step: a\n    ${tool}\n`).join('\n')).toContain(words)
  })

  it('give at most as many rows as the tool does', () => {
    const sql = (limit: string) =>
      `name: x\nsteps:\n  - { step: a, tool: sql, args: { query: q, limit: ${limit} } }\n`
    for (const limit of ['20000', '0', '1.5']) {
      expect(found(sql(limit))).toEqual([expect.stringContaining('limit is a whole number from 1 to 10000')])
    }
    expect(found(sql('10000'))).toEqual([])
    expect(found(sql('"${args.n}"'))).toHaveLength(1)
  })

  it('may be given what a template will make', () => {
    const text = `name: x\nargs: { n: [1] }\nsteps: [{ step: a, tool: sql, args: { query: select 1, params: "\${args.n}" } }]`
    expect(found(text)).toEqual([])
  })

  it('that call a handler which this process has not are a warning', () => {
    expect(found(withStep(''), { handlers: ['c'] })).toEqual([
      'warning 6:11 steps[0].call: there is no handler b here. A worker that runs this step must register it',
    ])
    expect(found(withStep(''), { handlers: ['b'] })).toEqual([])
  })
})

describe('expressions', () => {
  it.each([
    [`args: { x: "\${1 +}" }`, '7:22', 'it ends too early'],
    [`args: { x: "a \${nope} \${args.n}" }`, '7:21', 'there is no `nope` here'],
    [`args: { x: "\${args.m}" }`, '7:19', 'has no argument `m`'],
    [`args: { x: "\${steps.b.result}" }`, '7:19', 'there is no step `b`'],
    [`args: { x: "\${steps.a.reslt}" }`, '7:19', 'Did you mean result?'],
    [`args: { x: "\${steps.a.results}" }`, '7:19', 'has no loop'],
    [`args: { x: "\${execution.idd}" }`, '7:19', 'Did you mean id?'],
    [`args: { x: "\${item}" }`, '7:19', 'there is no `item` here'],
    [`args: { x: "\${result}" }`, '7:19', 'there is no `result` here'],
    [`args: { x: "\${args.n" }`, '7:17', 'has no closing }'],
    [`args: { x: { "\${args.n}": 1 } }`, '7:18', 'a key is not a template'],
    [`args: { x: "\${args.n.matches('(a{30}){30}')}" }`, '7:34', 'repeats too much'],
    [`next: [{ when: fanin.stat == "x", step: a }]`, '7:20', 'a fan-in has no `stat`'],
    [`next: [{ when: item == 1, step: a }]`, '7:20', 'there is no `item` here'],
    [`next: [{ when: "result ==", step: a }]`, '7:', 'it ends too early'],
    [`loop: { in: "\${prev}" }`, '7:20', 'there is no `prev` here'],
    [`loop: { in: [1], key: "\${result}" }`, '7:30', 'there is no `result` here'],
  ])('%s is shown at %s', (inner, at, words) => {
    const problems = found(withStep(inner))
    expect(problems).toEqual([expect.stringContaining(words)])
    expect(problems[0]).toContain(`error ${at}`)
  })

  it('know the fields of a fan-in, also by the name of its step', () => {
    const text = (field: string) => `name: x
steps:
  - { step: a, loop: { in: [1], as: n }, tool: handler, call: b }
output: "\${steps.a.fanin.${field}}"
`
    expect(found(text('failed'))).toEqual([])
    expect(found(text('fails'))).toEqual([
      'error 4:12 output: `steps.a.fanin.fails`: a fan-in has no `fails`. Did you mean failed?',
    ])
  })

  it('that name what is not there twice are one problem', () => {
    expect(
      found(withStep('next: [{ when: "steps.c.result == 1 || steps.c.result == 2", step: a }]')),
    ).toHaveLength(1)
  })

  it('without quotes, where a bracket is one of YAML, are one problem that says so', () => {
    const text = withStep(
      'next:\n      - { when: result.rows[5].x == 1, step: a }\n      - { when: error, step: a }',
    )
    expect(found(text)).toEqual([
      expect.stringMatching(/^error 8:28 .*a \[ cannot stand here. Put the expression in quotes/),
    ])
  })

  it('in a block of text are shown where they stand', () => {
    const text = withStep(`args:\n      x: |\n        select 1\n        where \${nope} = 1`)
    expect(found(text)[0]).toMatch(/^error 10:17 .*there is no `nope` here/)
  })

  it('see what is there: items in loops, results after a step, names of macros', () => {
    expect(
      found(
        withStep(`loop: { in: "\${args.n}", as: row, key: "\${row.id}-\${index}" }
    args: { x: "\${row.list.map(one, one + index)} \${prev} \${execution.workspace} \${steps.a.results}" }
    next: [{ when: 'has(result.ok) && error == null && fanin.failed > 0', step: a }]`),
      ),
    ).toEqual([])
    expect(found(`${withStep('')}output: "\${result} \${error} \${fanin.done}"\n`)).toEqual([])
  })

  it('are not computed in the defaults of args, which a warning says', () => {
    expect(found(withStep('', `{ n: "\${args.m}" }`))).toEqual([
      expect.stringMatching(/^warning 2:12 args.n: .*not computed/),
    ])
  })
})

describe('secrets', () => {
  // Put together here, so that no scanner takes this file for a leak.
  const token = ['eyJhbGciOiJIUzI1NiJ9', 'eyJzdWIiOiIxMjM0In0', 'c2lnbmF0dXJl'].join('.')
  it.each([
    ['args: { password: hunter2 }', 'a literal password'],
    ['args: { headers: { X-Api-Key: abc } }', 'a literal X-Api-Key'],
    ['args: { deep: [{ client_secret: abc }] }', 'a literal client_secret'],
    ['args: { Authorization: "abc" }', 'a literal Authorization'],
    ['args: { token: 12345 }', 'a literal token'],
    [`args: { x: "${token}" }`, 'a JSON web token'],
    [`args: { x: "-----BEGIN RSA ${'PRIVATE'} KEY-----" }`, 'a private key'],
    [`args: { x: "AKIA${'A1B2'.repeat(4)}" }`, 'an AWS access key'],
    [`args: { x: "see ghp_${'a1B2'.repeat(9)}" }`, 'a GitHub token'],
    [`args: { x: "https://ann:${'hunter'}2@example.com/" }`, 'a password in a URL'],
    [`args: { x: "\${'Bearer ${'abcdefgh'.repeat(2)}'}" }`, 'an authorization'],
  ])('%s is refused', (inner, words) => {
    const problems = found(withStep(inner))
    expect(problems).toEqual([expect.stringContaining(words)])
    expect(problems[0]).toContain(`Use \${secret.NAME}`)
    expect(problems[0]).not.toContain('hunter')
    expect(problems[0]).not.toContain(token)
  })

  it('in the defaults of args are refused too', () => {
    expect(found(withStep('', '{ api_key: abc }'))).toEqual([expect.stringContaining('a literal api_key')])
    expect(found(withStep('', '{ api_key: "", token: null }'))).toEqual([])
  })

  it('by reference are right, in the args of tools and nowhere else', () => {
    expect(
      found(withStep(`args: { password: "\${secret.DB}", h: { Authorization: "Bearer \${secret.T}" } }`)),
    ).toEqual([])
    expect(found(withStep(`args: { x: "\${secret.lower}" }`))[0]).toContain('capital letters')
    expect(found(withStep(`args: { x: "\${'a' + secret.T}" }`))[0]).toContain('cannot be computed with')
    for (const elsewhere of [`next: [{ when: secret.T == "a", step: a }]`, `loop: { in: "\${secret.T}" }`]) {
      expect(found(withStep(elsewhere))[0]).toContain('a secret can stand in the args of tools only')
    }
    expect(found(`${withStep('')}output: "\${secret.T}"\n`)[0]).toContain(
      'a secret can stand in the args of tools only',
    )
    expect(
      found(`name: x\nsteps: [{ step: a, tool: playbook, call: y, args: { t: "\${secret.T}" } }]`)[0],
    ).toContain('not in those of a playbook')
  })

  it('are not suspected in every word', () => {
    expect(
      found(
        withStep(
          `args: { tokens: 3, url: "https://a.b/c?d=e@f", page_token_count: x, note: "Basic idea: a bearer walks" }`,
        ),
      ),
    ).toEqual([])
  })
})

describe('playbooks that call playbooks', () => {
  const calling = (name: string, ...calls: string[]): string =>
    `name: ${name}\nsteps:\n${calls.map((call, n) => `  - { step: s${n}, tool: playbook, call: ${call}, next: s${n + 1} }\n`).join('')}  - { step: s${calls.length}, tool: handler, call: h }\n`
  const library = (...texts: string[]): ((name: string) => Playbook | undefined) => {
    const playbooks = texts.map((text) => parsePlaybook(text).playbook!)
    return (name) => playbooks.find((playbook) => playbook.name === name)
  }

  it('never call themselves', () => {
    expect(found(calling('a', 'a'))).toEqual([
      expect.stringMatching(/^error 3:39 .*the playbook a calls itself/),
    ])
  })

  it('never call each other in a circle, however long', () => {
    const playbooks = library(calling('b', 'd', 'c'), calling('c', 'd', 'a'), calling('d'))
    expect(found(calling('a', 'd', 'b'), { playbooks })).toEqual([
      expect.stringMatching(/^error 4:39 .*in a circle: a → b → c → a/),
    ])
    expect(found(calling('e', 'd', 'b'), { playbooks })).toEqual([])
  })

  it('ends even where others call each other in a circle', () => {
    const playbooks = library(calling('b', 'c'), calling('c', 'b'))
    expect(found(calling('a', 'b'), { playbooks })).toEqual([])
  })

  it('warn of one that is not there yet', () => {
    expect(found(calling('a', 'b'), { playbooks: library() })).toEqual([
      expect.stringMatching(/^warning .*there is no playbook b yet/),
    ])
    expect(found(calling('a', 'b'))).toEqual([])
    expect(calledPlaybooks(parsePlaybook(calling('a', 'b', 'c', 'b')).playbook!)).toEqual(['b', 'c'])
  })
})
