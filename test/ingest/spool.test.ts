/** Folders of the spool belong to whoever made them, for as long as they say that they live. */
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { spool, spoolFolder, sweepSpool } from '../../src/ingest/spool.ts'
import { temporaryHome } from '../support/temporary-home.ts'

const home = temporaryHome('spool')
const MINUTE = 60_000

/** As another process would leave it: in a container its process id may well be ours. */
function folderOf(name: string, silentMs: number): void {
  const folder = join(spoolFolder(home), name)
  mkdirSync(folder, { recursive: true })
  const then = new Date(Date.now() - silentMs)
  if (!name.startsWith('duckdb-')) {
    writeFileSync(join(folder, 'alive'), '')
    utimesSync(join(folder, 'alive'), then, then)
  }
  utimesSync(folder, then, then)
}

it('sweeps what a dead process left, whatever its id was, and nothing that is in use', async () => {
  const ours = await spool(home, Readable.from(['a,b\n']))
  const old = new Date(Date.now() - 60 * MINUTE)
  utimesSync(join(ours.folder, 'alive'), old, old)
  folderOf(`${process.pid}-dead`, 11 * MINUTE)
  folderOf('other-process-dead', 11 * MINUTE)
  folderOf('other-process-lives', MINUTE)
  folderOf('duckdb-lives', 60 * MINUTE)
  folderOf('duckdb-dead', 25 * 60 * MINUTE)
  expect(await sweepSpool(home)).toBe(3)
  const left = readdirSync(spoolFolder(home))
  expect(left.sort()).toEqual(
    ['duckdb-lives', 'other-process-lives', ours.folder.slice(spoolFolder(home).length + 1)].sort(),
  )
  await ours.remove()
  expect(readdirSync(spoolFolder(home))).toHaveLength(2)
})
