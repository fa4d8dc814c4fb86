/** `npm run check [-- steps]`: every check that a change must pass. */
import { join } from 'node:path'
import { runNode } from './child.mjs'
import { command, EXIT_BAD_INPUT, notice, SetupError, seconds } from './notice.mjs'
import { ensureInstalled, ROOT } from './setup.mjs'

const TSC = 'node_modules/typescript/bin/tsc'

/** The direction of imports is a test, so `tests` covers it. */
const STEPS = {
  lint: [
    ['node_modules/@biomejs/biome/bin/biome', 'ci', ...(process.stderr.isTTY ? [] : ['--colors=off']), '.'],
  ],
  // The benchmarks are checked against the product's built types.
  types: [
    ['scripts/build.mjs'],
    [TSC, '-p', 'tsconfig.json'],
    [TSC, '-p', 'console/tsconfig.json', '--noEmit'],
  ],
  generated: [['scripts/generate.mjs', '--check']],
  package: [['scripts/check-package.mjs']],
  tests: [['scripts/test.mjs']],
}

await command(async () => {
  const chosen = choose(process.argv.slice(2))
  await ensureInstalled()
  const outcomes = []
  for (const name of chosen) outcomes.push(await runStep(name))
  return report(outcomes)
})

function choose(argv) {
  const unknown = argv.find((name) => !Object.hasOwn(STEPS, name))
  if (unknown === undefined) return argv.length > 0 ? argv : Object.keys(STEPS)
  throw new SetupError(`${unknown} is not a step of check.`, {
    remedy: `The steps are: ${Object.keys(STEPS).join(', ')}. Example: npm run check -- types lint`,
    exitCode: EXIT_BAD_INPUT,
  })
}

async function runStep(name) {
  notice(`\n${name}`)
  const started = performance.now()
  let good = true
  for (const [script, ...args] of STEPS[name]) {
    const { code } = await runNode([join(ROOT, script), ...args], { cwd: ROOT, show: true })
    good &&= code === 0
  }
  return { name, good, took: seconds(started) }
}

function report(outcomes) {
  notice(`\n${'step'.padEnd(12)}${'result'.padEnd(10)}time`)
  for (const { name, good, took } of outcomes) {
    notice(`${name.padEnd(12)}${(good ? 'ok' : 'FAILED').padEnd(10)}${took}`)
  }
  return outcomes.every(({ good }) => good) ? 0 : 1
}
