/** A few kilobytes from anybody must not keep the parser busy. */
import { describe, expect, it } from 'vitest'
import { lineNestedTooDeep, markDocument } from '../../../src/units/marking/mark.ts'
import { cpuClock } from '../../support/cpu.ts'

const marked = (source: string) => () => markDocument(source, { sourceRef: 'deep.md' })

describe('a document that is nested deeper than anybody writes', () => {
  it.each([
    ['lists', '- '.repeat(40_000)],
    ['quotes', '> '.repeat(40_000)],
    ['quotes without spaces', '>'.repeat(40_000)],
    ['numbers', '1. '.repeat(40_000)],
    ['one in the other', '> * 1) + '.repeat(10_000)],
  ])('is refused at once: %s', (_, markers) => {
    const workedMs = cpuClock()
    expect(marked(`# Deep\n\n${markers}text\n`)).toThrow(/in line 3 lists or quotes are nested deeper/)
    expect(workedMs()).toBeLessThan(500)
  })

  it.each([
    ['a rule', `Text\n\n${'- '.repeat(4_000)}\n`],
    ['a rule of stars', `Text\n\n${'* '.repeat(4_000)}\n`],
    ['dashes', `Text\n\n${'-'.repeat(4_000)}\n`],
    ['what people write', `${'> '.repeat(5)}${'- '.repeat(10)}text\n`],
    ['markers in the text', `Text ${'- '.repeat(4_000)}\n`],
  ])('is not %s', (_, text) => {
    expect(lineNestedTooDeep(text)).toBeUndefined()
    expect(marked(text)).not.toThrow()
  })

  it('is looked for in one go, however many lines there are', () => {
    const workedMs = cpuClock()
    expect(lineNestedTooDeep(`${'- '.repeat(30)}\n`.repeat(150_000))).toBeUndefined()
    expect(lineNestedTooDeep(`${' '.repeat(100)}\n`.repeat(90_000))).toBeUndefined()
    expect(workedMs()).toBeLessThan(5_000)
  })
})

it('reads no more of a heading than a title shows', () => {
  const workedMs = cpuClock()
  const { manifest } = markDocument(`# ${'*a_ '.repeat(20_000)}\n\nText.\n`, { sourceRef: 'heading.md' })
  expect(workedMs()).toBeLessThan(1_000)
  expect(manifest.document.title.length).toBeLessThanOrEqual(200)
})
