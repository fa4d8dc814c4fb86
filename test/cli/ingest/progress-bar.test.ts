import { Writable } from 'node:stream'
import { afterEach, expect, it, vi } from 'vitest'
import { createIngestProgress } from '../../../src/cli/progress.ts'
import { createOutput } from '../../../src/cli/terminal.ts'
import type { Progress } from '../../../src/ingest/uploads.ts'

const STEPS: Progress[] = [
  { stage: 'read', done: 50, total: 100, lines: 2 },
  { stage: 'read', done: 100, total: 100, lines: 4 },
  { stage: 'check', done: 0, total: 4, lines: 4 },
  { stage: 'stage', done: 1, total: 1 },
  { stage: 'plan', done: 0, total: 1 },
  { stage: 'plan', done: 1, total: 1 },
]

function stream(isTTY: boolean): { stream: NodeJS.WriteStream; text: () => string } {
  let text = ''
  const writable = new Writable({
    write(chunk, _encoding, done) {
      text += chunk
      done()
    },
  })
  return { stream: Object.assign(writable, { isTTY, columns: 80 }) as never, text: () => text }
}

afterEach(() => {
  vi.restoreAllMocks()
})

function noted(json: boolean, to: ReturnType<typeof stream>): string {
  let text = ''
  vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => {
    text += chunk
    return true
  })
  const bars = createIngestProgress(createOutput(json), to.stream)
  for (const step of STEPS) bars.report(step)
  bars.stop()
  return text
}

it('is one line a stage where nobody watches', () => {
  const to = stream(false)
  const lines = noted(false, to).trimEnd().split('\n')
  expect(lines.map((line) => line.replaceAll(/[\d.]+ s/g, 'T').trim())).toEqual([
    'Read     T, 4 lines',
    'Check    T, 4 lines',
    'Stage    T',
    'Plan     T',
  ])
  expect(to.text()).toBe('')
})

it('is a bar a stage on a terminal, full when the next one begins', () => {
  const to = stream(true)
  expect(noted(false, to)).toBe('')
  for (const title of ['Read', 'Check', 'Stage', 'Plan']) {
    expect(to.text()).toMatch(new RegExp(`${title} .*█{28}.*100 %`))
  }
})

it('is nothing with --json', () => {
  const to = stream(true)
  expect(noted(true, to) + to.text()).toBe('')
})
