/** What a browser loads before it shows the overview. Pages that nobody opened are no part of it. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'

const DIST = fileURLToPath(new URL('../../console/dist/', import.meta.url))
const MAX_BYTES = 300_000

it('the first load is at most 300 KB compressed, and pages come in files of their own', () => {
  const read = (path: string) => readFileSync(DIST + path, 'utf8')
  const loaded = new Set<string>()
  const load = (name: string): void => {
    if (loaded.has(name)) return
    loaded.add(name)
    // Static imports between chunks; dynamic ones are import("./…").
    for (const [, imported] of read(`assets/${name}`).matchAll(/from\s*"\.\/([\w.-]+\.js)"/g)) load(imported!)
  }
  for (const [, name] of read('index.html').matchAll(/assets\/([\w.-]+\.(?:js|css))/g)) load(name!)
  const overview = readdirSync(`${DIST}assets`).filter((name) => /^overview-[\w-]+\.js$/.test(name))
  expect(overview).toHaveLength(1)
  load(overview[0]!)

  const bytes = [...loaded].reduce((sum, name) => sum + gzipSync(read(`assets/${name}`)).length, 0)
  console.log(`first load: ${Math.round(bytes / 1000)} KB compressed in ${loaded.size} files`)
  expect(bytes).toBeLessThanOrEqual(MAX_BYTES)
  expect(readdirSync(`${DIST}assets`).filter((name) => name.endsWith('.js')).length).toBeGreaterThan(4)
})
