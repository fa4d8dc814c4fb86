import { execFile } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { temporaryHome } from '../support/temporary-home.ts'

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const folder = temporaryHome('pack')

it('the packed package, installed in an empty folder, runs: library and command line', {
  tags: 'long',
}, async () => {
  // The tests' own build is packed; prepack would build again in the middle of the run.
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: ROOT })
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'))!
  writeFileSync(join(folder, 'package.json'), '{"name":"somebody","private":true,"type":"module"}')
  await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', join(folder, tarball)], {
    cwd: folder,
  })
  writeFileSync(
    join(folder, 'try.js'),
    `import { createStagedoor } from 'stagedoor'
     const stagedoor = await createStagedoor({ home: '${join(folder, 'home')}' })
     await stagedoor.gates.open('iu_core.staging_writes_enabled', 'from the package')
     console.log(JSON.stringify(await stagedoor.gates.list()))
     await stagedoor.close()`,
  )
  const library = await run(process.execPath, ['try.js'], { cwd: folder })
  expect(JSON.parse(library.stdout)).toContainEqual(
    expect.objectContaining({ gate: 'iu_core.staging_writes_enabled', open: true }),
  )
  const doctor = await run(
    join(folder, 'node_modules/.bin/stagedoor'),
    ['doctor', '--home', join(folder, 'home')],
    { cwd: folder },
  )
  expect(doctor.stdout).toContain('All is as expected')
  const files = readdirSync(join(folder, 'node_modules/stagedoor'), { recursive: true, encoding: 'utf8' })
  expect(files).toContain(join('console', 'dist', 'index.html'))
  // The console shows them.
  for (const page of ['README.md', 'guides/tutorial.md', 'reference/errors.md', 'images/diff.png'])
    expect(files).toContain(join('docs', page))
  expect(files, 'the demo of start').toContain(join('examples', 'weekly-report', 'story.mjs'))
  expect(files.filter((file) => file.includes('test') && file.endsWith('.test.js'))).toEqual([])
})
