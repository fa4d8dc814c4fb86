/** Folders for servers: open to enter, because as root the server runs as somebody else, and gone at the end. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

const MEMORY = '/dev/shm'
/** Two servers with a few databases each stay far below. A container often has 64 MB. */
const MIN_FREE_BYTES = 4 * 1024 ** 3

/** mkdtemp closes the folder to everybody; the data would then be placed outside of it, and stay there. */
export function createHome(name: string): string {
  const home = mkdtempSync(join(parentFolder(), `stagedoor-${name}-`))
  chmodSync(home, 0o755)
  return home
}

/** Removed at the end of the file, after the hooks that are registered later and stop what runs in it. */
export function temporaryHome(name: string): string {
  const home = createHome(name)
  afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))
  return home
}

/** A database is 900 files, and each test file clones one: in memory that takes a tenth of the time that it takes on a disk. */
function parentFolder(): string {
  return hasRoomInMemory() ? MEMORY : tmpdir()
}

/** Linux says which folders are memory. As root the server's programs are copied to the home, so they must be allowed to run there. */
function hasRoomInMemory(): boolean {
  try {
    const mounts = readFileSync('/proc/mounts', 'utf8').split('\n')
    const options = mounts
      .find((line) => line.split(' ')[1] === MEMORY)
      ?.split(' ')[3]
      ?.split(',')
    if (options === undefined || options.includes('noexec') || options.includes('ro')) return false
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize >= MIN_FREE_BYTES
  } catch {
    return false
  }
}
