/** Folders for servers: open to enter, because as root the server runs as somebody else, and gone at the end. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

/** mkdtemp closes the folder to everybody; the data would then be placed outside of it, and stay there. */
export function createHome(name: string): string {
  const home = mkdtempSync(join(tmpdir(), `stagedoor-${name}-`))
  chmodSync(home, 0o755)
  return home
}

/** Removed at the end of the file, after the hooks that are registered later and stop what runs in it. */
export function temporaryHome(name: string): string {
  const home = createHome(name)
  afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))
  return home
}
