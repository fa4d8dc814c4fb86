/** Runs the suites with vitest. Nothing is skipped silently: what could not run is named at the end. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runNode } from './child.mjs'
import { filesBelow } from './fingerprint.mjs'
import { PROGRAMS, preparePrograms } from './system-programs.mjs'
import { readResults, summaryLine } from './test-results.mjs'

const VITEST = 'node_modules/vitest/vitest.mjs'
const TEST_FILE = /\.test\.tsx?$/

/** Vitest's options whose value is a word of its own, and so looks like a path to a test. */
const OPTIONS_WITH_VALUE = new Set(
  ['-t', '--testNamePattern', '-c', '--config', '-r', '--root', '--dir', '--project', '--reporter'].concat(
    ['--outputFile', '--exclude', '--shard', '--bail', '--retry', '--testTimeout', '--hookTimeout'],
    ['--maxWorkers', '--pool', '--environment', '--mode', '--maxConcurrency'],
  ),
)

/** Gives the exit code. `programs` and `install` are parameters for the tests of this file. */
export async function runTests({ root, argv, env = process.env, programs = PROGRAMS, install }) {
  const testFiles = selectedFiles(root, argv)
  const { found, notRun } = await preparePrograms({ programs, testFiles, env, install })
  const folder = mkdtempSync(join(tmpdir(), 'stagedoor-results-'))
  try {
    const report = join(folder, 'report.json')
    const args = vitestArgs(argv, notRun, report)
    const { code } = await runNode([VITEST, ...args], { cwd: root, env: { ...env, ...found }, show: true })
    return conclude({ code, results: readResults(report), notRun, ci: env.CI === 'true' })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function vitestArgs(argv, notRun, report) {
  const ownReporter = argv.some((argument) => argument.startsWith('--reporter'))
  return [
    'run',
    ...argv,
    ...(ownReporter ? [] : ['--reporter=default']),
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...notRun.map(({ suite }) => `--exclude=${suite}/**`),
  ]
}

/** The test files that vitest would run for these arguments: it takes words as parts of paths. */
export function selectedFiles(root, argv) {
  const words = argv.filter((word, at) => !word.startsWith('-') && !OPTIONS_WITH_VALUE.has(argv[at - 1]))
  // `file.test.ts:12` means one line of a file; `./` is how shells complete.
  const parts = words.map((word) => word.replace(/:\d+$/, '').replace(/^\.\//, ''))
  return filesBelow(root, 'test').filter(
    (file) => TEST_FILE.test(file) && (parts.length === 0 || parts.some((part) => file.includes(part))),
  )
}

function conclude({ code, results, notRun, ci }) {
  const counts = results ?? { passed: 0, failed: 0, skipped: 0 }
  console.log(`\n${summaryLine(counts)}`)
  for (const { suite, reason } of notRun) console.log(`NOT RUN  ${suite}  ${reason}`)
  if (results === undefined) console.log(`Vitest wrote no report; it ended with ${code}.`)
  else if (counts.passed + counts.failed === 0) console.log('No test ran.')
  else if (counts.failed === 0 && code !== 0) {
    console.log(`No test failed, but vitest ended with ${code}: see the errors above.`)
  }
  const incomplete = ci && notRun.length > 0
  if (incomplete) console.log('With CI=true every suite must run, so this run has failed.')
  const good = code === 0 && counts.failed === 0 && counts.passed > 0 && !incomplete
  return good ? 0 : code || 1
}
