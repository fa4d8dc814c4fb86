/** DuckDB takes a third of a second to load: only a command that reads a file may. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

it.each(['ingest', 'upload', 'dataset', 'program'])('the module of %s does not load DuckDB', (name) => {
  const module = fileURLToPath(new URL(`../../../dist/cli/${name}.js`, import.meta.url))
  const script = `await import(${JSON.stringify(module)})
    console.log(process.report.getReport().sharedObjects.filter((path) => path.includes('duckdb')).join())`
  const loaded = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  expect(loaded.trim()).toBe('')
})
