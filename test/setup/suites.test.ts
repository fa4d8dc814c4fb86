/** A file that is renamed must not leave a run silently. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SEED } from '../support/seed.ts'
import { ALWAYS, SQL_SUITES, SQL_SUITES_SHORT } from '../support/suites.ts'

const ROOT = join(import.meta.dirname, '../..')
const files = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
  .map((file) => `test/${file}`)
  .filter((file) => file.endsWith('.test.ts'))

/** `a/{b,c}` is `a/b` and `a/c`: each of them must name a file. */
function alternatives(pattern: string): string[] {
  const [all, names] = /\{([^}]*)\}/.exec(pattern) ?? []
  if (all === undefined) return [pattern]
  return names!.split(',').flatMap((name) => alternatives(pattern.replace(all, name)))
}

/** `**` is any folders, `*` is any name. */
function matches(file: string, pattern: string): boolean {
  const expression = pattern
    .replaceAll('.', '\\.')
    .replaceAll('**/', '(?:.+/)?')
    .replaceAll(/(?<![.)])\*/g, '[^/]*')
  return new RegExp(`^${expression}$`).test(file)
}

test.each([
  ['PostgreSQL 15 in the long run', SQL_SUITES],
  ['PostgreSQL 15 in the short run', SQL_SUITES_SHORT],
  ['always', ALWAYS],
])('%s: every name is that of a file', (_run, patterns) => {
  const empty = patterns
    .flatMap(alternatives)
    .filter((pattern) => !files.some((file) => matches(file, pattern)))
  expect(empty).toEqual([])
})

test('what the short run must keep is not left to the long one', () => {
  const kept = files.filter((file) => ALWAYS.flatMap(alternatives).some((pattern) => matches(file, pattern)))
  const left = kept.filter((file) =>
    /@module-tag long\b|tags: 'long'/.test(readFileSync(join(ROOT, file), 'utf8')),
  )
  expect(left).toEqual([])
})

test('the short run on PostgreSQL 15 is a part of the long one', () => {
  const of = (patterns: readonly string[]) =>
    files.filter((file) => patterns.flatMap(alternatives).some((pattern) => matches(file, pattern)))
  const long = new Set(of(SQL_SUITES))
  expect(of(SQL_SUITES_SHORT).filter((file) => !long.has(file))).toEqual([])
})

test('two runs of one commit try the same random cases', () => {
  expect(fc.readConfigureGlobal().seed).toBe(SEED)
  const ownSeeds = files.filter((file) =>
    /\bseed\w*[:( =]+[^\n]*Date\.now\(\)/i.test(readFileSync(join(ROOT, file), 'utf8')),
  )
  expect(ownSeeds).toEqual([])
})
