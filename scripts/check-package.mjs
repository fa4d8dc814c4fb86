/**
 * The package as it would be published: packed, looked at by publint, and its types compiled by a program that has nothing but
 * its declared dependencies. Whether it runs is test/setup/pack.test.ts.
 */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { run, runNode } from './child.mjs'
import { command, SetupError } from './notice.mjs'
import { ensureBuilt, ROOT } from './setup.mjs'

/** What the type tests import beyond the package itself. */
const FOR_THE_TESTS = ['vitest', '@types/node']

/** A program may resolve packages as Node does, or as bundlers do. */
const RESOLUTIONS = [
  { module: 'nodenext', moduleResolution: 'nodenext' },
  { module: 'esnext', moduleResolution: 'bundler' },
]

await command(async () => {
  await ensureBuilt()
  const folder = mkdtempSync(join(tmpdir(), 'stagedoor-package-'))
  try {
    const tarball = await pack(folder)
    await lint(tarball)
    await compile(folder, tarball)
    return 0
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

async function pack(folder) {
  // What is built is packed; prepack would build again.
  await must('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], ROOT)
  return join(
    folder,
    readdirSync(folder).find((name) => name.endsWith('.tgz')),
  )
}

async function lint(tarball) {
  const { code } = await runNode(
    [join(ROOT, 'node_modules/publint/src/cli.js'), 'run', tarball, '--strict'],
    {
      cwd: ROOT,
      show: true,
    },
  )
  if (code !== 0) throw new SetupError(`publint found problems in the package (it ended with ${code}).`)
}

async function compile(folder, tarball) {
  const packages = join(folder, 'node_modules')
  mkdirSync(join(packages, 'stagedoor'), { recursive: true })
  await must('tar', ['-xzf', tarball, '--strip-components=1', '-C', join(packages, 'stagedoor')], folder)
  const { dependencies } = JSON.parse(readFileSync(join(packages, 'stagedoor/package.json'), 'utf8'))
  for (const name of [...Object.keys(dependencies), ...FOR_THE_TESTS]) {
    mkdirSync(dirname(join(packages, name)), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), join(packages, name))
  }
  const tests = readFileSync(join(ROOT, 'test/types/library.test.ts'), 'utf8')
  writeFileSync(join(folder, 'library.test.ts'), tests.replace("'../../src/index.ts'", "'stagedoor'"))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  for (const resolution of RESOLUTIONS) {
    const compilerOptions = {
      target: 'es2023',
      strict: true,
      noEmit: true,
      types: ['node'],
      skipLibCheck: true,
      ...resolution,
    }
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: ['library.test.ts'] }),
    )
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
    const { code, output } = await runNode([tsc, '-p', folder], { cwd: folder })
    if (code === 0) continue
    const how = resolution.moduleResolution
    throw new SetupError(`A program cannot be compiled against the package (moduleResolution ${how}).`, {
      output,
    })
  }
}

async function must(program, args, cwd) {
  const { code, output } = await run(program, args, { cwd })
  if (code !== 0) throw new SetupError(`${program} ${args[0]} ended with ${code}.`, { output })
}
