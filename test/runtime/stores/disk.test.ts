/** What only files have: rights, drafts of a killed process, a full disk. The rest is the conformance suite. */
import { spawn, spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { BlobStore } from '../../../src/runtime/stores/blob-store.ts'
import { createDiskBlobStore } from '../../../src/runtime/stores/disk-store.ts'
import { until } from '../../support/until.ts'

const scratch = mkdtempSync(join(tmpdir(), 'stagedoor-blobs-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

let count = 0
let folder: string
let store: BlobStore
beforeEach(() => {
  folder = join(scratch, String(++count))
  store = createDiskBlobStore(folder)
})

const FUTURE = new Date(Date.now() + 86_400_000)
const PAST = new Date(Date.now() - 86_400_000)

/** Every file below the folder, whatever it is. */
const files = (): string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
        statSync(join(folder, name)).isFile(),
      )
    : []
const list = async (before: Date): Promise<string[]> => {
  const refs: string[] = []
  for await (const ref of store.list(before)) refs.push(ref)
  return refs.sort()
}

describe('put', () => {
  it('says what to do when the folder cannot be written', async () => {
    writeFileSync(folder, 'a file is in the way')
    await expect(store.put(Readable.from(['x']))).rejects.toMatchObject({ code: 'home_not_writable' })
  })

  it('closes its files to other users', async () => {
    await store.put(Readable.from(['private']))
    expect(files().map((name) => statSync(join(folder, name)).mode & 0o077)).toEqual([0])
  })

  it('holds 50 MB without taking them into memory', async () => {
    const megabyte = randomBytes(1 << 20)
    const hash = createHash('sha256')
    // What the store has taken and not written. The process's own memory would be a matter of when garbage is collected.
    let most = 0
    const written = () => files().reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
    const blob = await store.put(
      Readable.from(
        (function* () {
          for (let n = 0; n < 50; n++) {
            const chunk = Buffer.from(megabyte.map((byte) => byte ^ n))
            hash.update(chunk)
            most = Math.max(most, (n << 20) - written())
            yield chunk
          }
        })(),
      ),
    )
    expect(blob).toMatchObject({ byte_len: 50 << 20, content_hash: hash.digest('hex') })
    const read = createHash('sha256')
    for await (const chunk of await store.open(blob.blob_ref)) {
      read.update(chunk as Buffer)
      most = Math.max(most, (chunk as Buffer).length)
    }
    expect(read.digest('hex')).toBe(blob.content_hash)
    // A stream reads sixteen chunks ahead.
    expect(most).toBeLessThan(30 << 20)
  })
})

describe('a process that is killed in the middle of an upload', () => {
  it('leaves a draft that is no blob, and that is swept when it is old', async () => {
    const disk = pathToFileURL(join(import.meta.dirname, '../../../dist/runtime/stores/disk-store.js')).href
    const program = `const { createDiskBlobStore } = await import(process.argv[1])
      await createDiskBlobStore(process.argv[2]).put(process.stdin)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', program, disk, folder], {
      stdio: ['pipe', 'inherit', 'inherit'],
    })
    child.stdin.write(randomBytes(50_000))
    await until(
      'something is written',
      () => files().some((name) => statSync(join(folder, name)).size > 0),
      30_000,
    )
    child.kill('SIGKILL')
    await once(child, 'exit')

    expect(files()).toHaveLength(1)
    expect(await list(FUTURE)).toEqual([])
    const { blob_ref } = await store.put(Readable.from(['whole']))
    expect(await store.sweep(PAST)).toBe(0)
    expect(await store.sweep(FUTURE)).toBe(1)
    expect(await store.sweep(FUTURE)).toBe(0)
    expect(await list(FUTURE)).toEqual([blob_ref])
    expect(files()).toHaveLength(1)
  })
})

it('a folder that only its owner may enter is enough', async () => {
  mkdirSync(folder)
  chmodSync(folder, 0o700)
  await store.put(Readable.from(['x']))
  expect(files()).toHaveLength(1)
})

const mayMount = process.getuid?.() === 0 && spawnSync('mount', ['--version']).status === 0

it.runIf(mayMount)('a full disk is store_full, and nothing is left', async ({ skip }) => {
  mkdirSync(folder)
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'stagedoor-test', folder])
  // Root in a container without the right.
  if (mounted.status !== 0) return skip('this container may not mount')
  try {
    await expect(store.put(Readable.from([randomBytes(3 << 20)]))).rejects.toMatchObject({
      code: 'store_full',
      hint: expect.stringContaining('Make room'),
    })
    expect(files()).toEqual([])
    await store.put(Readable.from(['small']))
  } finally {
    spawnSync('umount', [folder])
  }
})
