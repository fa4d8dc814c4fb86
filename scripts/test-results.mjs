/** Reads what vitest wrote about a run, and says it in the one line that people and CI read. */
import { readFileSync } from 'node:fs'

/** Counts of a run, from vitest's JSON report; undefined where vitest wrote none. */
export function readResults(file) {
  let report
  try {
    report = JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
  return {
    passed: report.numPassedTests,
    // A file that could not be loaded has no tests to count, yet it must not read as "0 failed".
    failed: report.numFailedTests + report.testResults.filter(failedAsWhole).length,
    skipped: report.numPendingTests + report.numTodoTests,
  }
}

const failedAsWhole = ({ status, assertionResults }) =>
  status === 'failed' && !assertionResults.some((test) => test.status === 'failed')

export function summaryLine({ passed, failed, skipped }) {
  const line = `Tests: ${passed} passed, ${failed} failed`
  return skipped > 0 ? `${line}, ${skipped} skipped` : line
}
