/** Where texts are divided. */
import { describe, expect, it } from 'vitest'
import { chunksOf, legacyChunks } from '../../src/search/chunks.ts'
import { cpuClock } from '../support/cpu.ts'

const sentence = (n: number) => `Sentence number ${n} says a little more than the one before it. `
const prose = (sentences: number) => Array.from({ length: sentences }, (_, n) => sentence(n)).join('')
const characters = (text: string) => [...text]

describe('a unit', () => {
  it('that fits stays whole, without the space around it', () => {
    expect(chunksOf('\n\n Rest on Sundays. \n')).toEqual([{ from: 3, to: 19, text: 'Rest on Sundays.' }])
  })

  it('of space alone has no chunks', () => {
    expect(chunksOf(' \n\t ')).toEqual([])
    expect(chunksOf('')).toEqual([])
  })

  it('that is too long is divided between paragraphs before sentences, between sentences before words', () => {
    const paragraphs = `${prose(8).trim()}\n\n${prose(8).trim()}`
    const texts = chunksOf(paragraphs, { size: 700 }).map(({ text }) => text)
    expect(texts).toEqual([prose(8).trim(), prose(8).trim()])
    for (const { text } of chunksOf(prose(40), { size: 300 })) expect(text).toMatch(/^Sentence.*it\.$/s)
    for (const { text } of chunksOf('word '.repeat(200), { size: 99 })) expect(text).toMatch(/^word( word)*$/)
  })

  it('loses no character but space, has no chunk longer than asked, and no scrap at its end', () => {
    for (const body of [prose(100), 'x'.repeat(5003), `${prose(30)}\n\n${'y'.repeat(900)}\n${prose(5)}`]) {
      const chunks = chunksOf(body, { size: 500 })
      const kept = chunks.map(({ text }) => text).join('')
      expect(kept.replace(/\s/g, '')).toBe(body.replace(/\s/g, ''))
      for (const { from, to, text } of chunks) {
        expect(to - from).toBeLessThanOrEqual(500)
        expect(characters(body).slice(from, to).join('')).toBe(text)
      }
      expect(chunks.at(-1)!.text.length).toBeGreaterThan(60)
    }
  })

  it('is counted in characters, not in halves of them', () => {
    const body = `${'😀'.repeat(30)} ${'đ'.repeat(30)}`
    const chunks = chunksOf(body, { size: 40 })
    expect(chunks.map(({ from, to }) => [from, to])).toEqual([
      [0, 30],
      [31, 61],
    ])
    expect(chunks.every(({ text }) => !/[\uD800-\uDBFF](?![\uDC00-\uDFFF])/.test(text))).toBe(true)
  })

  it('that changes in one paragraph keeps the texts of the chunks before it', () => {
    const before = Array.from({ length: 10 }, (_, n) => `Part ${n}. ${prose(6).trim()}`)
    const after = [...before.slice(0, 9), 'Part 9 is now another.']
    const texts = (parts: string[]) => chunksOf(parts.join('\n\n'), { size: 500 }).map(({ text }) => text)
    expect(texts(after).slice(0, 8)).toEqual(texts(before).slice(0, 8))
  })
})

it('divides into windows that overlap where the text is not asked', () => {
  const body = 'abcdefghij'
  expect(chunksOf(body, { size: 4, overlap: 1, aware: false }).map(({ text }) => text)).toEqual([
    'abcd',
    'defg',
    'ghij',
  ])
  expect(legacyChunks('z'.repeat(8000)).map(({ from, to }) => [from, to])).toEqual([
    [0, 4000],
    [3600, 7600],
    [7200, 8000],
  ])
})

it('refuses windows that would never come to an end', () => {
  expect(() => chunksOf('a', { size: 4, overlap: 4 })).toThrow(RangeError)
  expect(() => chunksOf('a', { size: 0 })).toThrow(RangeError)
})

it('takes the longest body that a unit may have in its stride', () => {
  const workedMs = cpuClock()
  expect(chunksOf(prose(16_000)).length).toBeGreaterThan(500)
  expect(chunksOf('x'.repeat(1_048_576)).length).toBeGreaterThan(500)
  expect(workedMs()).toBeLessThan(5000)
})
