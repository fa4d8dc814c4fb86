// @module-tag property
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ExpressionError } from '../../../src/executions/playbook/cel.ts'
import { TOOLS, type WrittenPlaybook } from '../../../src/executions/playbook/definition.ts'
import { evaluate, render } from '../../../src/executions/playbook/expressions.ts'
import { problemText } from '../../../src/executions/playbook/findings.ts'
import { definePlaybook, parsePlaybook } from '../../../src/executions/playbook/parse.ts'
import type { Json } from '../../../src/kernel/json.ts'
import { cases } from '../../support/length.ts'
import { REPAIR_ORDERS, RIGHT } from './written-playbooks.ts'

const NAMES = ['fetch', 'load', 'check', 'repair', 'done']
const name = fc.constantFrom(...NAMES)
const duration = fc
  .tuple(fc.integer({ min: 1, max: 300 }), fc.constantFrom('ms', 's', 'm', 'h', 'd'))
  .map(([count, unit]) => `${count}${unit}` as const)
const plainText = fc.string().filter((text) => !text.includes('${') && text.trim() !== '')
const data = fc
  .jsonValue({ maxDepth: 3 })
  .filter((value) => !/\$\{|__proto__|token|secret|pass|key|:\/\//i.test(JSON.stringify(value)))
const condition = fc.constantFrom('result == 1', 'error != null', 'args.n > 3', 'true')
const arc = fc.oneof(name, fc.record({ when: condition, step: name }, { requiredKeys: ['step'] }))
const next = fc.oneof(
  name,
  fc.array(arc, { maxLength: 3 }),
  fc.record(
    { mode: fc.constantFrom('exclusive', 'inclusive'), arcs: fc.array(arc, { maxLength: 3 }) },
    { requiredKeys: ['arcs'] },
  ),
)
const wait = fc.oneof(
  fc.record({ for: duration }),
  fc.record(
    { event: fc.constant('staging.record_approved'), subject: plainText, timeout: duration },
    { requiredKeys: ['event'] },
  ),
  fc.record({ approval: fc.constant(`\${args.n}`), timeout: duration }, { requiredKeys: ['approval'] }),
)
const runs = fc.record(
  {
    tool: fc.constant('handler'),
    call: fc.constant('work'),
    args: fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.oneof(data, fc.constant(`\${args.n} $\${x}`))),
    loop: fc.record(
      {
        in: fc.oneof(fc.array(data, { maxLength: 3 }), fc.constant(`\${args.n}`)),
        mode: fc.constantFrom('parallel', 'fanout'),
        max_in_flight: fc.integer({ min: 1, max: 10_000 }),
        fail_fast: fc.boolean(),
      },
      { requiredKeys: ['in', 'mode'] },
    ),
    retry: fc.oneof(
      fc.integer({ min: 1, max: 100 }),
      fc.record({ attempts: fc.integer({ min: 1, max: 100 }), backoff: duration }),
    ),
    timeout: duration,
    on_error: fc.constantFrom('fail', 'continue'),
    next,
  },
  { requiredKeys: ['tool', 'call'] },
)
const playbook = fc
  .array(fc.oneof(runs, fc.record({ wait, next }, { requiredKeys: ['wait'] })), {
    minLength: NAMES.length,
    maxLength: NAMES.length,
  })
  .chain((steps) =>
    fc.record(
      {
        name: fc.constant('random'),
        description: plainText,
        args: fc.constant({ n: 1 }),
        steps: fc.constant(steps.map((step, index) => ({ step: NAMES[index]!, ...step }))),
        output: data,
      },
      { requiredKeys: ['name', 'args', 'steps'] },
    ),
  )

describe('the language', () => {
  it('is stable: what a playbook was brought to is brought to itself', () => {
    fc.assert(
      fc.property(playbook, (written) => {
        const normal = definePlaybook(written as unknown as WrittenPlaybook)
        const { playbook: again, problems } = parsePlaybook(JSON.stringify(normal))
        expect(problems.filter(({ severity }) => severity === 'error').map(problemText)).toEqual([])
        expect(again).toEqual(normal)
        expect(parsePlaybook(JSON.stringify(written)).playbook).toEqual(normal)
      }),
      { numRuns: cases(20, 100) },
    )
  })

  it('answers every text with a playbook or with problems that have a place', () => {
    const keys = [
      'name',
      'args',
      'steps',
      'start',
      'output',
      'step',
      'tool',
      'tools',
      'call',
      'loop',
      'wait',
      'retry',
      'next',
      'arcs',
      'when',
      'in',
      'as',
      'for',
      'event',
      'kind',
      'timeout',
    ]
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 6, withCrossShrink: true },
        fc.constantFrom<unknown>(
          null,
          0,
          -1,
          1.5,
          '',
          'a',
          `\${`,
          `\${args.n}`,
          `\${steps.a.result}`,
          '1d',
          true,
          ...TOOLS,
        ),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(fc.constantFrom(...keys), tie('value'), { maxKeys: 6 }),
      ),
    }))
    const mutated = fc
      .tuple(fc.constantFrom(...RIGHT), fc.nat(), fc.nat(20), fc.string({ maxLength: 8 }))
      .map(
        ([text, at, length, other]) =>
          text.slice(0, at % text.length) + other + text.slice((at % text.length) + length),
      )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string({ unit: 'binary' }),
          value.map((one) => JSON.stringify(one)),
          mutated,
        ),
        (text) => {
          const { playbook: found, problems } = parsePlaybook(text)
          if (found === undefined) expect(problems.some(({ severity }) => severity === 'error')).toBe(true)
          for (const { line, column, message } of problems) {
            expect(line).toBeGreaterThan(0)
            expect(column).toBeGreaterThan(0)
            expect(message).not.toBe('')
          }
        },
      ),
      { numRuns: cases(100, 600) },
    )
  })

  it('survives letters left out', () => {
    for (let at = 0; at < REPAIR_ORDERS.length; at += 7) {
      parsePlaybook(REPAIR_ORDERS.slice(0, at) + REPAIR_ORDERS.slice(at + 1))
    }
  })

  it('throws nothing but ExpressionError, whatever is computed over whatever data', () => {
    const pieces = fc.constantFrom(
      'args',
      '.n',
      '[0]',
      '["a"]',
      ' + ',
      ' == ',
      '(',
      ')',
      '"x"',
      '1',
      '1.5',
      '.map(x, x)',
      ' in ',
      'size(',
      '{',
      '}',
      '?',
      ':',
      '!',
      '-',
      '&&',
      'null',
      '.?a',
      ' ',
    )
    const text = fc.oneof(
      fc.string(),
      fc.array(pieces, { maxLength: 8 }).map((all) => all.join('')),
    )
    const onlyExpressionErrors = (compute: () => unknown): void => {
      try {
        compute()
      } catch (error) {
        expect(error).toBeInstanceOf(ExpressionError)
      }
    }
    fc.assert(
      fc.property(text, fc.jsonValue(), (expression, args) => {
        onlyExpressionErrors(() => evaluate(expression, { args: args as Json }))
        onlyExpressionErrors(() => render(`\${${expression}}`, { args: args as Json }))
        onlyExpressionErrors(() => render(`a\${${expression}}b`, { args: args as Json }))
      }),
      { numRuns: cases(200, 1_000) },
    )
  })

  it('gives any data back as it was, through a path and through CEL', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const args = value as Json
        const zero = JSON.stringify(args)
        expect(JSON.stringify(evaluate('args', { args }))).toBe(zero)
        expect(JSON.stringify(evaluate('[args]', { args }))).toBe(`[${zero}]`)
        expect(JSON.stringify(evaluate('{"a": {"b": args}}', { args }))).toBe(`{"a":{"b":${zero}}}`)
      }),
      { numRuns: cases(100, 500) },
    )
  })
})
