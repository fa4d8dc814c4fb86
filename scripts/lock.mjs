/** One set-up at a time in one checkout: a lock file that names its holder and counts only while the holder runs. */
import { randomUUID } from 'node:crypto'
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { EXIT_ENVIRONMENT, notice, SetupError } from './notice.mjs'

/** The holder touches its lock every second; one that has not for this long is gone, wherever it ran. */
const SILENT_MS = 30_000
const WAIT_LIMIT_MS = 15 * 60_000

export async function withLock(file, work) {
  const token = await acquire(file)
  const touch = setInterval(() => touchQuietly(file), 1000)
  try {
    return await work()
  } finally {
    clearInterval(touch)
    if (holder(file)?.token === token) rmSync(file, { force: true })
  }
}

async function acquire(file) {
  makeFolder(dirname(file))
  const token = randomUUID()
  const deadline = Date.now() + WAIT_LIMIT_MS
  let isWaiting = false
  for (;;) {
    if (create(file, { pid: process.pid, host: hostname(), token })) return token
    if (isAbandoned(file)) {
      takeAway(file)
      continue
    }
    if (!isWaiting)
      notice(`Waiting for another set-up in this folder (process ${holder(file)?.pid ?? 'unknown'})…`)
    isWaiting = true
    if (Date.now() > deadline) {
      throw new SetupError(`Another set-up has held ${file} for more than 15 minutes.`, {
        remedy: 'If none is running, delete that file and try again.',
        exitCode: EXIT_ENVIRONMENT,
      })
    }
    await delay(100)
  }
}

function makeFolder(folder) {
  try {
    mkdirSync(folder, { recursive: true })
  } catch (error) {
    throw new SetupError(`The folder ${folder} cannot be made: ${error.message}`, {
      remedy:
        'Set-up writes into this checkout. Give this user the right to write here, or use a copy of your own.',
      exitCode: EXIT_ENVIRONMENT,
    })
  }
}

function create(file, content) {
  let handle
  try {
    handle = openSync(file, 'wx')
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  }
  writeSync(handle, JSON.stringify(content))
  closeSync(handle)
  return true
}

function isAbandoned(file) {
  const touched = statSync(file, { throwIfNoEntry: false })?.mtimeMs
  if (touched === undefined) return false
  if (Date.now() - touched > SILENT_MS) return true
  const { pid, host } = holder(file) ?? {}
  // Processes of another machine or container cannot be checked; only the age of the lock counts then.
  return host === hostname() && (pid === process.pid || !isAlive(pid))
}

/**
 * Removes an abandoned lock. Two that saw the same abandoned lock must not both remove "it": the second would
 * remove the first one's new lock. So the removal has its own lock, and looks again once it holds that.
 */
function takeAway(file) {
  const taking = `${file}.taking`
  if (!create(taking, { pid: process.pid })) {
    if (Date.now() - (statSync(taking, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > SILENT_MS) {
      rmSync(taking, { force: true })
    }
    return
  }
  try {
    if (isAbandoned(file)) rmSync(file, { force: true })
  } finally {
    rmSync(taking, { force: true })
  }
}

/** Undefined where there is none, or where it is being written at this moment. */
function holder(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

function touchQuietly(file) {
  try {
    utimesSync(file, new Date(), new Date())
  } catch {
    // Another process took the lock while this machine slept: the work goes on, and its stamp stays correct.
  }
}
