/** Runs the suites with vitest. Nothing is skipped silently: what could not run is named at the end. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runNode } from './child.mjs'
import { filesBelow } from './fingerprint.mjs'
import { PROGRAMS, preparePrograms } from './system-programs.mjs'
import { readResults, slowestFiles, summaryLine } from './test-results.mjs'

const VITEST = 'node_modules/vitest/vitest.mjs'
const REPORTER = fileURLToPath(new URL('test-reporter.mjs', import.meta.url))
/** More than these have one cause, which is not chance. */
const MAX_UNSTABLE_FILES = 2
/** Where workers were killed because one did not answer, the files that the others ran fail with it. */
const MAX_KILLED_FILES = 6
const TEST_FILE = /\.test\.tsx?$/

/** Vitest's options whose value is a word of its own, and so looks like a path to a test. */
const OPTIONS_WITH_VALUE = new Set(
  ['-t', '--testNamePattern', '-c', '--config', '-r', '--root', '--dir', '--project', '--reporter'].concat(
    ['--outputFile', '--exclude', '--shard', '--bail', '--retry', '--testTimeout', '--hookTimeout'],
    ['--maxWorkers', '--pool', '--environment', '--mode', '--maxConcurrency'],
  ),
)

/**
 * Gives the exit code. `length` is `short` (npm test) or `long` (npm run test:long), see vitest.config.ts. `programs` and
 * `install` are parameters for the tests of this file.
 */
export async function runTests({
  root,
  argv,
  length = 'short',
  env = process.env,
  programs = PROGRAMS,
  install,
}) {
  const testFiles = selectedFiles(root, argv)
  const { found, notRun } = await preparePrograms({ programs, testFiles, length, env, install })
  const folder = mkdtempSync(join(tmpdir(), 'stagedoor-results-'))
  try {
    const report = join(folder, 'report.json')
    const args = vitestArgs(argv, notRun)
    const settings = { ...env, ...found, TEST_LENGTH: length, STAGEDOOR_TEST_REPORT: report }
    const ci = env.CI === 'true'
    const began = performance.now()
    const run = async (vitestArguments, more) => {
      const { code } = await runNode([VITEST, ...vitestArguments], {
        cwd: root,
        env: { ...settings, ...more },
        show: true,
      })
      return { code, results: readResults(report) }
    }
    const first = await run(args)
    const unstable = ci ? await runFailedAgain(first, run) : undefined
    const totalMs = performance.now() - began
    return conclude({ ...(unstable ?? first), unstable: unstable?.files, notRun, length, totalMs, ci })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * In CI up to MAX_UNSTABLE_FILES files that failed, or the few that were killed, are run once more, alone on the machine. If all
 * pass now, the run has passed and they are listed as UNSTABLE: their first failure is in the output, and is a bug of the test or of
 * the product. Undefined where that does not apply, or where a file failed again.
 */
async function runFailedAgain({ results }, run) {
  const files = results?.files.filter(({ failed }) => failed > 0) ?? []
  const most = results?.stuck ? MAX_KILLED_FILES : MAX_UNSTABLE_FILES
  const errors = results?.stuck?.otherErrors ?? results?.errors
  if (files.length === 0 || files.length > most || errors > 0) return undefined
  let total = results.passed
  for (const { project, file, passed } of files) {
    console.log(`\n${project} ${file} failed. It runs once more, alone.`)
    const again = await run([...vitestArgs([file], []), '--project', project], { TEST_WORKERS: '1' })
    if (again.code !== 0 || !again.results || again.results.failed > 0) return undefined
    total += again.results.passed - passed
  }
  return { code: 0, results: { ...results, passed: total, failed: 0, stuck: undefined }, files }
}

function vitestArgs(argv, notRun) {
  const ownReporter = argv.some((argument) => argument.startsWith('--reporter'))
  return [
    'run',
    ...argv,
    ...(ownReporter ? [] : ['--reporter=default']),
    `--reporter=${REPORTER}`,
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

function conclude({ code, results, unstable = [], notRun, length, totalMs, ci }) {
  const counts = results ?? { passed: 0, failed: 0, skipped: 0, otherRun: 0, files: [] }
  if (counts.files.length > 0) console.log(`\n${slowestFiles(counts.files, totalMs).join('\n')}`)
  console.log(`\n${summaryLine(counts)}`)
  if (counts.otherRun > 0) {
    const other = length === 'short' ? 'npm run test:long' : 'npm test'
    console.log(`${counts.otherRun} more tests of these files run with ${other}.`)
  }
  for (const { project, file } of unstable)
    console.log(
      `UNSTABLE ${project} ${file} failed among the others (see above) and passed alone: find out why.`,
    )
  for (const { suite, reason } of notRun) console.log(`NOT RUN  ${suite}  ${reason}`)
  if (results === undefined) console.log(`Vitest wrote no report; it ended with ${code}.`)
  else if (counts.passed + counts.failed === 0) {
    const other = length === 'short' ? 'npm run test:long' : 'npm test'
    console.log(`No test ran. If the files exist, their tests run with ${other}.`)
  } else if (counts.failed === 0 && code !== 0 && !counts.stuck) {
    console.log(`No test failed, but vitest ended with ${code}: see the errors above.`)
  }
  const incomplete = ci && notRun.length > 0
  const stuckIdle = counts.stuck?.isIdle === true && counts.stuck.otherErrors === 0
  if (stuckIdle)
    console.log('A worker of vitest was killed after its file had ended; the results are complete.')
  if (incomplete) console.log('With CI=true every suite must run, so this run has failed.')
  const ended = code === 0 || stuckIdle
  const good = ended && counts.failed === 0 && counts.passed > 0 && !incomplete
  return good ? 0 : code || 1
}
