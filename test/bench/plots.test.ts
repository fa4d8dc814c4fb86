/** The plots are made from bench/RESULTS.md and show what it says. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ticks } from '../../bench/src/plots/draw.ts'
import { plotsOf } from '../../bench/src/plots/plots.ts'
import { readResults } from '../../bench/src/results.ts'

const RESULTS = readFileSync('bench/RESULTS.md', 'utf8')

it('has every plot as bench/RESULTS.md has its figures (remedy: npm run -s bench -- plots)', () => {
  const plots = plotsOf(RESULTS)
  expect(Object.keys(plots)).toEqual(expect.arrayContaining(['benchmark-peers.svg', 'benchmark-floors.svg']))
  for (const [name, text] of Object.entries(plots)) {
    expect(readFileSync(`docs/images/${name}`, 'utf8') === text, `docs/images/${name} is up to date`).toBe(
      true,
    )
  }
})

it('reads a section as it was recorded', () => {
  const ingest = readResults(RESULTS).get('ingest')!
  expect(ingest.amount).toBe('100,000 lines')
  expect(ingest.size).toBe(100_000)
  expect(ingest.versions.postgres).toMatch(/^18\./)
  expect(ingest.raw['floor rows_per_s']).toHaveLength(ingest.rounds)
  // The pass at another size has rows with the same names.
  expect(ingest.raw['pipeline rows_per_s']).toHaveLength(ingest.rounds)
  expect(ingest.figures.ratio_floor).toBeGreaterThan(0)
  // Sections that a person wrote have no rounds.
  expect(readResults(RESULTS).has('seed-003')).toBe(false)
})

it('begins every axis at zero and draws bars as long as their values', () => {
  for (const most of [0.9, 1.2, 5, 41_590, 7]) {
    const scale = ticks(most)
    expect(scale[0]).toBe(0)
    expect(scale.at(-1)).toBeGreaterThanOrEqual(most)
    expect(scale.length).toBeLessThanOrEqual(7)
  }
  const plot = plotsOf(RESULTS)['benchmark-peers.svg']!
  const widths = [...plot.matchAll(/<rect class="(?:ours|other)" .*? width="([\d.]+)"/g)].map(([, width]) =>
    Number(width),
  )
  const { figures } = readResults(RESULTS).get('jobs')!
  expect(widths[1]! / widths[0]!).toBeCloseTo(figures.pgboss_drain_per_s! / figures.drain_per_s!, 2)
})

it('writes no value on the line of what the bars are compared with', () => {
  const plot = plotsOf(RESULTS)['benchmark-floors.svg']!
  const line = Number(/<line class="limit" x1="([\d.]+)"/.exec(plot)![1])
  const values = [...plot.matchAll(/<text x="([\d.]+)" y="[\d.]+" class="(value|inside)".*?>(.*?)</g)]
  expect(values).toHaveLength(8)
  for (const [, x, kind, label] of values) {
    const left = Number(x)
    const isClear = kind === 'inside' ? left < line : left > line || left + label!.length * 8 < line
    expect(isClear, label).toBe(true)
  }
})
