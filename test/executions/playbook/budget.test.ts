/** No expression takes longer than its budget, whatever its author writes and whatever it is given. */
import { describe, expect, it } from 'vitest'
import { withinDecisionBudget } from '../../../src/executions/playbook/budget.ts'
import { ExpressionError, type Scope } from '../../../src/executions/playbook/cel.ts'
import { evaluate, render } from '../../../src/executions/playbook/expressions.ts'
import { cpuClock } from '../../support/cpu.ts'

const numbers = (n: number, from = 0) => Array.from({ length: n }, (_, index) => from + index)
const rows = (n: number) => numbers(n).map((id) => ({ id, name: `row ${id}` }))

function refusal(expression: string, scope: Scope): string {
  try {
    evaluate(expression, scope)
  } catch (error) {
    expect(error).toBeInstanceOf(ExpressionError)
    return (error as ExpressionError).reason
  }
  throw new Error(`${expression} was computed`)
}

const a = numbers(4000)
const b = numbers(4000, 100_000)
const nested = (levels: number, whole: (name: string) => string) =>
  numbers(levels).reduceRight(
    (inner, level) => `cel.bind(x${level + 1}, ${whole(`x${level}`)}, ${inner})`,
    `x${levels}`,
  )

/** Its keys are listed by whatever asks for its type, its size or its keys. */
const m = Object.fromEntries(numbers(20_000).map((n) => [`k${n}`, n]))
const maps = numbers(100).map(() => ({ ...m }))
const time = 'timestamp("2026-01-01T00:00:00Z")'

const EXPENSIVE: Record<string, [string, Scope]> = {
  'a search for each item': ['a.filter(x, x in b)', { a, b }],
  'loops in loops': ['a.map(x, b.exists(y, y == x))', { a, b }],
  'loops whose errors are passed over': ['a.exists(x, b.exists(y, y.nothing == 1))', { a, b }],
  'conditions whose errors are passed over': ['a.exists(x, b.all(y, x.n == y || y.n == x))', { a, b }],
  'comparison of large values': ['a.filter(x, rows == rows2)', { a, rows: rows(3000), rows2: rows(3000) }],
  'a large value in a list of them': [
    'many.filter(x, rows in many)',
    { many: numbers(300).map(() => rows(100)), rows: rows(100) },
  ],
  'a list that doubles': [`cel.bind(x0, [1], ${nested(24, (x) => `[${x}, ${x}]`)})`, {}],
  'a text that doubles': [`cel.bind(x0, "0123456789", ${nested(24, (x) => `${x} + ${x}`)})`, {}],
  'lists put together': [`cel.bind(x0, a, ${nested(24, (x) => `${x} + ${x}`)})`, { a }],
  'the same list in each item': ['a.map(x, a)', { a }],
  'a search in a long text': ['text.contains(part)', { text: 'a'.repeat(2e6), part: `${'a'.repeat(1e6)}b` }],
  'a pattern on a long text': ['text.matches("(a?){20}b$")', { text: 'a'.repeat(1e6) }],
  'a long list of texts joined for each item': ['a.map(x, t.join(",").size())', { a, t: a.map(String) }],
  'the size of a large map for each item': ['a.map(x, m.size())', { a, m }],
  'a loop over a large map for each item': ['a.map(x, m.exists(k, true))', { a, m }],
  'a small map compared with a large one': ['a.map(x, {"a": 1} == m)', { a, m }],
  'a small map compared with a large one inside': ['a.map(x, {"a": {}} == outer)', { a, outer: { a: m } }],
  'a small map in a list of large ones': ['a.map(x, {"a": 1} in maps)', { a, maps }],
  'errors about a large map': ['a.exists(x, (m - 1) == 0)', { a, m }],
  'digits that are no duration': ['duration(text)', { text: '1'.repeat(20_000) }],
  'durations with a fraction': ['a.map(x, duration("1.5s"))', { a }],
  'times in a time zone': [`a.map(x, ${time}.getHours("Europe/Berlin"))`, { a }],
  'a day of the year in a time zone': [`a.map(x, ${time}.getDayOfYear("Asia/Tokyo"))`, { a }],
  'the size of a long text for each item': ['a.map(x, text.size())', { a, text: 'é'.repeat(10_000) }],
  'a long text in single characters': ['a.map(x, text.split("").size())', { a, text: 'x'.repeat(10_000) }],
  'long texts that are alike': [
    'a.map(x, text in texts)',
    { a, text: `${'x'.repeat(1e5)}y`, texts: numbers(100).map((n) => 'x'.repeat(1e5) + n) },
  ],
  'JSON that is parsed': ['bytes(text).json().size()', { text: `{"a":[${'[],'.repeat(400_000)}[]]}` }],
  'more data than it may read': ['size(rows) + size(rows[0])', { rows: numbers(300).map(() => rows(1000)) }],
}

describe('an expression', () => {
  it.each(Object.entries(EXPENSIVE))('with %s is refused soon, with what to do', (_, [expression, scope]) => {
    const workedMs = cpuClock()
    const reason = refusal(expression, scope)
    // A net under the count of steps.
    expect(workedMs()).toBeLessThan(3000)
    expect(reason).toMatch(/more than 250000 steps.*handler or in an sql step/)
  })

  it('that is refused once is refused each time, and what fits is computed each time', () => {
    const limit = numbers(100_000).find((n) => {
      try {
        evaluate('items.map(x, x + 1).size()', { items: numbers(n * 1000) })
        return false
      } catch {
        return true
      }
    })!
    expect(limit).toBeGreaterThan(20)
    for (let again = 0; again < 3; again++) {
      expect(refusal('items.map(x, x + 1).size()', { items: numbers(limit * 1000) })).toContain('steps')
      expect(evaluate('items.map(x, x + 1).size()', { items: numbers((limit - 1) * 1000) })).toBe(
        (limit - 1) * 1000,
      )
    }
  })

  it('of ordinary size is far below it', () => {
    const list = rows(1000)
    expect(evaluate('a.filter(x, ("k" + string(x)) in m).size()', { a, m })).toBe(4000)
    expect(evaluate('m != null && m.size() == 20000', { m })).toBe(true)
    expect(
      evaluate('items.filter(x, x.id > 10 && x.name.matches("^row [0-9]+$")).size()', { items: list }),
    ).toBe(989)
    expect(evaluate('steps.large.result', { steps: { large: { result: rows(500_000) } } })).toHaveLength(
      500_000,
    )
  })
})

describe('a template', () => {
  const big = rows(100_000)
  const many = (n: number, text: string) => Object.fromEntries(numbers(n).map((key) => [`k${key}`, text]))

  it('that names a large value many times is refused, in texts, maps, lists and maps in them', () => {
    for (const template of [
      `x${'${args.big}'.repeat(100)}`,
      `x${'${args.text}'.repeat(2000)}`,
      many(100, '${args.big}'),
      numbers(100).map(() => '${args.big}'),
      { a: many(60, '${args.big}'), b: [many(60, '${args.big}')] },
      many(2000, '${args.text}'),
    ]) {
      const workedMs = cpuClock()
      expect(() => render(template, { args: { big, text: 'y'.repeat(1e6) } })).toThrow(
        /more than 250000 steps.*reads or produces too much/,
      )
      expect(workedMs()).toBeLessThan(3000)
    }
  })

  it('takes a large value over whole, and a few of them', () => {
    const huge = rows(2_000_000)
    expect(render({ rows: '${args.huge}' }, { args: { huge } })).toEqual({ rows: huge })
    expect(render('${args.huge}', { args: { huge } })).toBe(huge)
    expect(render(many(5, '${args.big}'), { args: { big } })).toHaveProperty('k4', big)
  })
})

it('all expressions of a template share a budget, and all of a decision another', () => {
  const template = Object.fromEntries(numbers(40).map((n) => [`n${n}`, '${items.map(x, x + 1).size()}']))
  expect(() => render(template, { items: numbers(3000) })).toThrow(/steps/)
  expect(render({ n: '${items.map(x, x + 1).size()}' }, { items: numbers(3000) })).toEqual({ n: 3000 })
  expect(() =>
    withinDecisionBudget(() => {
      for (let n = 0; n < 200; n++) evaluate('items.map(x, x + 1).size()', { items: numbers(3000) })
    }),
  ).toThrow(/steps/)
})
