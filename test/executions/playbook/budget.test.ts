/** No expression takes longer than its budget, whatever its author writes and whatever it is given. */
import { describe, expect, it } from 'vitest'
import { withinDecisionBudget } from '../../../src/executions/playbook/budget.ts'
import {
  ExpressionError,
  evaluate,
  render,
  type Scope,
} from '../../../src/executions/playbook/expressions.ts'

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
  'more data than it may read': ['size(rows) + size(rows[0])', { rows: numbers(300).map(() => rows(1000)) }],
}

describe('an expression', () => {
  it.each(Object.entries(EXPENSIVE))('with %s is refused soon, with what to do', (_, [expression, scope]) => {
    const began = performance.now()
    const reason = refusal(expression, scope)
    // A net under the count of steps, wide enough for a machine that is busy with something else.
    expect(performance.now() - began).toBeLessThan(3000)
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
    expect(
      evaluate('items.filter(x, x.id > 10 && x.name.matches("^row [0-9]+$")).size()', { items: list }),
    ).toBe(989)
    expect(evaluate('steps.large.result', { steps: { large: { result: rows(500_000) } } })).toHaveLength(
      500_000,
    )
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
