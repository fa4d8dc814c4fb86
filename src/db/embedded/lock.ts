/**
 * One owner per home. A lock is a file `lock.<n>`; the highest number counts. Whoever finds its owner dead
 * or gone links `lock.<n+1>`, which succeeds for one process only. The highest file is never deleted, so
 * numbers never come back and a process that looked long ago cannot win with an old view: after linking
 * it looks again and gives way to a higher number.
 */
import { randomBytes } from 'node:crypto'
import { link, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { StagedoorError } from '../../errors.ts'
import { errno, readIfThere, writeWhole } from './files.ts'
import { identityOf, isAlive } from './processes.ts'

interface Owner {
  readonly pid: number
  readonly identity?: string | undefined
  readonly released?: boolean
  /** Others may use its server: it stays until a person stops it. */
  readonly serves?: boolean
}

export interface HomeLock {
  /** Says whether others may use what runs here. */
  announce(serves: boolean): Promise<void>
  release(): Promise<void>
}

export async function takeLock(home: string): Promise<HomeLock> {
  const owner: Owner = { pid: process.pid, identity: identityOf(process.pid) }
  const claim = join(home, `claim-${process.pid}-${randomBytes(4).toString('hex')}`)
  await writeFile(claim, JSON.stringify(owner), { flag: 'wx' })
  try {
    const number = await win(home, claim)
    await removeBelow(home, number)
    const write = (state: Partial<Owner>) =>
      writeWhole(lockFile(home, number), JSON.stringify({ ...owner, ...state }), 0o644)
    return { announce: (serves) => write({ serves }), release: () => write({ released: true }) }
  } finally {
    await rm(claim, { force: true })
  }
}

/** The pid of the live process that holds the home and has said that others may use its server. */
export async function servingOwner(home: string): Promise<number | undefined> {
  const owner = await liveOwner(home, await highest(home))
  return owner?.serves === true ? owner.pid : undefined
}

async function win(home: string, claim: string): Promise<number> {
  for (;;) {
    const number = await highest(home)
    const owner = await liveOwner(home, number)
    if (owner) throw new StagedoorError('home_in_use', { pid: owner.pid, home })
    const next = number + 1
    if (!(await linkOnce(claim, lockFile(home, next)))) continue
    if ((await highest(home)) === next) return next
    await rm(lockFile(home, next), { force: true })
  }
}

async function linkOnce(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (error) {
    if (errno(error) === 'EEXIST') return false
    throw error
  }
}

/** Undefined when released, dead, replaced by another process with the same pid, or unreadable after a power cut. */
async function liveOwner(home: string, number: number): Promise<Owner | undefined> {
  if (number === 0) return undefined
  let owner: Owner
  try {
    owner = JSON.parse((await readIfThere(lockFile(home, number))) ?? '{}')
  } catch {
    return undefined
  }
  if (owner.released === true || !Number.isInteger(owner.pid) || !isAlive(owner.pid)) return undefined
  const now = identityOf(owner.pid)
  const same = owner.identity === undefined || now === undefined || owner.identity === now
  return same ? owner : undefined
}

async function highest(home: string): Promise<number> {
  return Math.max(0, ...(await numbers(home)))
}

async function removeBelow(home: string, number: number): Promise<void> {
  const older = (await numbers(home)).filter((candidate) => candidate < number)
  await Promise.all(older.map((candidate) => rm(lockFile(home, candidate), { force: true })))
}

async function numbers(home: string): Promise<number[]> {
  let names: string[] = []
  try {
    names = await readdir(home)
  } catch (error) {
    if (errno(error) !== 'ENOENT' && errno(error) !== 'ENOTDIR') throw error
  }
  return names.flatMap((name) => (/^lock\.\d+$/.test(name) ? [Number(name.slice(5))] : []))
}

function lockFile(home: string, number: number): string {
  return join(home, `lock.${number}`)
}
