import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const COMMANDS = fileURLToPath(new URL('../../dist/cli', import.meta.url))
/** What `import()` names is loaded later, by the function that needs it. */
const STATIC_IMPORT = /^(?:import|export)\s(?:[^'"]*?\sfrom\s)?['"]([^'"]+)['"]/gm

function packagesOf(files: readonly string[]): string[] {
  const seen = new Set(files)
  const packages = new Set<string>()
  for (const file of seen)
    for (const [, target] of readFileSync(file, 'utf8').matchAll(STATIC_IMPORT))
      if (target!.startsWith('.')) seen.add(join(dirname(file), target!))
      else if (!target!.startsWith('node:')) packages.add(target!)
  return [...packages].sort()
}

it('a command starts without parsers, DuckDB, TypeBox and the HTTP server: whoever needs one imports it then', () => {
  const files = readdirSync(COMMANDS).filter((file) => file.endsWith('.js'))
  expect(packagesOf(files.map((file) => join(COMMANDS, file)))).toEqual([
    'cli-progress',
    'commander',
    'croner',
    'diff',
    'fastest-levenshtein',
    'pg',
    'picocolors',
    'string-width',
  ])
})
