/** A reporter of vitest for scripts/test-run.mjs: counts, and what each file took, as JSON in the file STAGEDOOR_TEST_REPORT. */
import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { Watchdog } from './test-watchdog.mjs'

const IDLE_MS = Number(process.env.STAGEDOOR_TEST_IDLE_MS || 60_000)
/** Beside what a test and a hook may take (`testTimeout`, `hookTimeout`): hooks say nothing when they begin. */
const STALL_MARGIN_MS = 60_000

export default class TestReporter {
  #expected = []
  #ended = []
  #stuck
  #watchdog

  onInit({ config: { testTimeout, hookTimeout } }) {
    const stallMs = testTimeout + hookTimeout + STALL_MARGIN_MS
    this.#watchdog = new Watchdog({
      idleMs: IDLE_MS,
      stallMs: Number(process.env.STAGEDOOR_TEST_STALL_MS || stallMs),
      onStuck: (stuck) => this.#onStuck(stuck),
      onSlow: ({ what, seconds }) => console.error(`Still running after ${seconds} s: ${what}`),
    })
  }

  onTestRunStart(specifications) {
    this.#expected = specifications.map(({ project, moduleId }) => ({
      project: project.name,
      file: relative(project.vitest.config.root, moduleId),
    }))
    this.#watchdog.begin(specifications.length)
    process.once('SIGTERM', () => this.#onCutOff())
  }

  onTestModuleQueued(module) {
    this.#watchdog.fileBegan(nameOf(module))
  }

  onTestCaseReady(test) {
    this.#watchdog.testBegan(nameOf(test.module), test.fullName)
  }

  onTestCaseResult(test) {
    this.#watchdog.testEnded(nameOf(test.module))
  }

  onTestModuleEnd(module) {
    this.#watchdog.fileEnded(nameOf(module))
    this.#ended.push(module)
  }

  onTestRunEnd(modules, unhandledErrors) {
    this.#watchdog.end()
    this.#writeReport(modules, unhandledErrors)
  }

  #writeReport(modules, unhandledErrors) {
    const report = { passed: 0, failed: 0, skipped: 0, otherRun: 0, unfinished: 0, files: [] }
    for (const module of modules) {
      const { failed: failedBefore, passed: passedBefore } = report
      for (const test of module.children.allTests()) report[outcome(test)]++
      // A file that could not be loaded, or did not end, has no tests to count, yet it must not read as "0 failed".
      if (!isGood(module) && report.failed === failedBefore) report.failed++
      const { collectDuration, duration } = module.diagnostic()
      report.files.push({
        project: module.project.name,
        file: module.relativeModuleId,
        ms: Math.round(collectDuration + duration),
        passed: report.passed - passedBefore,
        failed: report.failed - failedBefore,
      })
    }
    const stuck = this.#stuck && { ...this.#stuck, otherErrors: unhandledErrors.filter(isNotOfWorker).length }
    for (const { project, file } of this.#expected.filter(
      (one) => !report.files.some((ran) => isSame(one, ran)),
    )) {
      console.error(`${project} ${file} did not run.`)
      report.failed++
      report.files.push({ project, file, ms: 0, passed: 0, failed: 1 })
    }
    const errors = unhandledErrors.length
    writeFileSync(process.env.STAGEDOOR_TEST_REPORT, JSON.stringify({ ...report, errors, stuck }))
  }

  /** `timeout` in .ci/run ends a run that takes too long. */
  #onCutOff() {
    console.error(`\nThe run was cut off; running:\n  ${this.#watchdog.running().join('\n  ') || 'nothing'}`)
    process.exit(143)
  }

  #onStuck(stuck) {
    // A worker that blocked a test once fails the run, whatever comes later.
    if (this.#stuck?.isIdle !== false) this.#stuck = stuck
    const where = stuck.isIdle ? 'no file was running' : `running:\n  ${stuck.running.join('\n  ')}`
    console.error(
      `\nVitest's workers did not answer for ${stuck.seconds} s and were killed (scripts/test-watchdog.mjs); ${where}`,
    )
    // Vitest waits for ever for a worker that died without its notice.
    if (stuck.workers > 0) return
    this.#writeReport(this.#ended, [])
    process.exit(1)
  }
}

function isSame(one, other) {
  return one.project === other.project && one.file === other.file
}

function nameOf(module) {
  return `${module.project.name} ${module.relativeModuleId}`
}

function isGood(module) {
  return ['passed', 'skipped'].includes(module.state())
}

/** The pool says of each worker that was killed that it ended. */
function isNotOfWorker({ message }) {
  return !/^\[vitest-pool\]|Worker exited unexpectedly/.test(String(message))
}

function outcome(test) {
  const { state } = test.result()
  // Its worker was killed: the file counts as failed.
  if (state === 'pending') return 'unfinished'
  if (state === 'passed' || state === 'failed') return state
  return belongsToOtherRun(test) ? 'otherRun' : 'skipped'
}

/** Tests are divided between npm test and npm run test:long by their tags, see vitest.config.ts. */
function belongsToOtherRun({ tags, project }) {
  const [filter] = project.config.tagsFilter ?? []
  if (filter === undefined) return false
  const isLong = tags.includes('long')
  return filter.startsWith('!') ? isLong : !isLong && !tags.includes('property')
}
