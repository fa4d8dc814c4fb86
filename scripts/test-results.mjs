/** Reads what scripts/test-reporter.mjs wrote about a run, and says it in lines that people and CI read. */
import { readFileSync } from 'node:fs'

const SLOWEST_FILES = 20

/** Undefined where vitest ended before it wrote a report. */
export function readResults(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

export function summaryLine({ passed, failed, skipped }) {
  const line = `Tests: ${passed} passed, ${failed} failed`
  return skipped > 0 ? `${line}, ${skipped} skipped` : line
}

/** The slowest first, then the whole run. A file's time is that of its import, its hooks and its tests. */
export function slowestFiles(files, totalMs) {
  const slowest = files.toSorted((one, other) => other.ms - one.ms).slice(0, SLOWEST_FILES)
  const width = Math.max(...slowest.map(({ project }) => project.length))
  const lines = slowest.map(({ project, file, ms }) => `${inSeconds(ms)}  ${project.padEnd(width)}  ${file}`)
  const minutes = `${Math.floor(totalMs / 60_000)} min ${Math.round((totalMs % 60_000) / 1000)} s`
  return ['Slowest files:', ...lines, `Total: ${minutes} for ${files.length} files`]
}

const inSeconds = (ms) => `${(ms / 1000).toFixed(1).padStart(7)} s`
