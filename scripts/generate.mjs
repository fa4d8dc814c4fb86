/** `npm run generate [-- --check]`: files that are made from the sources. --check only says which are stale. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, relative, resolve, sep } from 'node:path'
import { command, EXIT_BAD_INPUT, notice, SetupError } from './notice.mjs'
import { ensureBuilt, ensureInstalled, ROOT } from './setup.mjs'

await command(async () => {
  const argv = process.argv.slice(2)
  const unknown = argv.find((argument) => argument !== '--check')
  if (unknown !== undefined) {
    throw new SetupError(`${unknown} is not an option of generate.`, {
      remedy: 'npm run generate [-- --check]',
      exitCode: EXIT_BAD_INPUT,
    })
  }
  await ensureInstalled()
  // The console is built from generated files, so it is not needed, nor buildable, before them.
  await ensureBuilt({ names: ['dist'] })

  const { generatedFiles } = await import('./generated-files.mjs')
  const stale = Object.entries(await generatedFiles()).filter(
    ([path, text]) => contentOf(inside(path)) !== text,
  )
  return argv.includes('--check') ? report(stale) : write(stale)
})

function report(stale) {
  for (const [path] of stale) notice(`stale: ${path}`)
  if (stale.length === 0) return 0
  notice('These files no longer match their sources. Remedy: npm run generate')
  return 1
}

function write(stale) {
  for (const [path, text] of stale) {
    mkdirSync(dirname(inside(path)), { recursive: true })
    writeFileSync(inside(path), text)
    notice(`written: ${path}`)
  }
  if (stale.length === 0) notice('All generated files are up to date.')
  return 0
}

function inside(path) {
  const full = resolve(ROOT, path)
  if (relative(ROOT, full).split(sep)[0] !== '..') return full
  throw new SetupError(`A generated file must lie in this folder: ${path}`)
}

function contentOf(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}
