/** Digests of files, to know whether what was made from them is still up to date. */
import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What is made, never an input. */
const MADE = new Set(['node_modules', 'dist', '.vite'])
const isMade = (name) => MADE.has(name) || name.startsWith('.stagedoor-')

/**
 * sha-256 over the names and bytes of files and folders below `root`, and over any other `facts`.
 * Content, not times: a checkout or a copy changes times only. A path that is absent counts as absent.
 */
export function fingerprint(root, paths, facts = {}) {
  const hash = createHash('sha256').update(JSON.stringify(facts))
  for (const path of paths) {
    for (const file of filesBelow(root, path)) {
      const bytes = readFileSync(join(root, file))
      hash.update(`\0${file}\0${bytes.length}\0`).update(bytes)
    }
  }
  return hash.digest('hex')
}

/** All files at or below `path`, relative to `root`, in one order on every machine. */
export function filesBelow(root, path) {
  const stat = lstatSync(join(root, path), { throwIfNoEntry: false })
  if (stat === undefined) return []
  if (!stat.isDirectory()) return [path]
  return readdirSync(join(root, path))
    .filter((name) => !isMade(name))
    .sort()
    .flatMap((name) => filesBelow(root, `${path}/${name}`))
}
