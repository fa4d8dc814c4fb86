/** Blobs on the disk: whole or not there, readable in ranges, out of reach of forged references. */
import { spawn } from 'node:child_process'
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
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { type BlobStore, createDiskBlobStore } from '../../src/staging/blobs.ts'
import { until } from '../support/until.ts'

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
const ABSENT = `disk:${'0'.repeat(32)}.${'0'.repeat(64)}`
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

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
  it('keeps the bytes and says their length and digest', async () => {
    const bytes = randomBytes(200_000)
    const blob = await store.put(Readable.from([bytes.subarray(0, 70_000), bytes.subarray(70_000)]))
    expect(blob).toEqual({
      blob_ref: expect.stringMatching(/^disk:[0-9a-f]{32}\.[0-9a-f]{64}$/),
      byte_len: 200_000,
      content_hash: sha256(bytes),
    })
    expect(sha256(await buffer(await store.open(blob.blob_ref)))).toBe(sha256(bytes))
    expect(await store.facts(blob.blob_ref)).toEqual({ byte_len: 200_000, content_hash: sha256(bytes) })
  })

  it('takes an empty stream, and text', async () => {
    const empty = await store.put(Readable.from([]))
    expect(empty).toMatchObject({ byte_len: 0, content_hash: sha256(Buffer.alloc(0)) })
    expect(await buffer(await store.open(empty.blob_ref))).toHaveLength(0)
    const text = await store.put(Readable.from(['é', '😀']))
    expect((await buffer(await store.open(text.blob_ref))).toString()).toBe('é😀')
  })

  it('gives the same bytes a reference of their own each time', async () => {
    const [one, other] = await Promise.all([
      store.put(Readable.from(['same'])),
      store.put(Readable.from(['same'])),
    ])
    expect(one.content_hash).toBe(other.content_hash)
    expect(one.blob_ref).not.toBe(other.blob_ref)
    await store.delete(one.blob_ref)
    expect(await store.facts(other.blob_ref)).toMatchObject({ byte_len: 4 })
  })

  it('leaves nothing when the stream fails', async () => {
    const failing = Readable.from(
      (async function* () {
        yield randomBytes(100_000)
        throw new Error('the line went dead')
      })(),
    )
    await expect(store.put(failing)).rejects.toThrow('the line went dead')
    expect(files()).toEqual([])
  })

  it('leaves nothing when the sender disconnects or the upload is aborted', async () => {
    const gone = new PassThrough()
    const first = store.put(gone)
    gone.write(randomBytes(100_000))
    await until('something is written', () => files().length === 1)
    gone.destroy()
    await expect(first).rejects.toThrow()

    const abort = new AbortController()
    const endless = new PassThrough()
    const second = store.put(endless, { signal: abort.signal })
    endless.write(randomBytes(100_000))
    await until('something is written', () => files().length === 1)
    abort.abort()
    await expect(second).rejects.toMatchObject({ name: 'AbortError' })
    expect(endless.destroyed).toBe(true)
    expect(files()).toEqual([])
  })

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

describe('open', () => {
  it.each([
    [0, 0, 'a'],
    [2, 5, 'cdef'],
    [24, 25, 'yz'],
    [24, 999, 'yz'],
    [26, 30, ''],
  ])('gives the bytes %i to %i', async (start, end, expected) => {
    const { blob_ref } = await store.put(Readable.from(['abcdefghijklmnopqrstuvwxyz']))
    expect((await buffer(await store.open(blob_ref, { start, end }))).toString()).toBe(expected)
  })

  it.each([
    [-1, 5],
    [5, 4],
    [0.5, 1],
    [0, Number.NaN],
  ])('refuses the range %d to %d', async (start, end) => {
    const { blob_ref } = await store.put(Readable.from(['abc']))
    await expect(store.open(blob_ref, { start, end })).rejects.toMatchObject({ code: 'argument_invalid' })
  })

  it('reads on when the blob is deleted meanwhile', async () => {
    const bytes = randomBytes(1_000_000)
    const { blob_ref } = await store.put(Readable.from([bytes]))
    const reading = await store.open(blob_ref)
    await store.delete(blob_ref)
    expect(sha256(await buffer(reading))).toBe(sha256(bytes))
  })
})

describe('references', () => {
  const FORGED = [
    ABSENT,
    'disk:../../secret',
    `disk:..%2f..%2fsecret`,
    'disk:/etc/passwd',
    `disk:${'0'.repeat(32)}.${'0'.repeat(63)}/`,
    `disk:${'0'.repeat(32)}.${'0'.repeat(64)}\n`,
    `disk:${'0'.repeat(32)}.${'0'.repeat(64)}\0.txt`,
    `s3:${'0'.repeat(32)}.${'0'.repeat(64)}`,
    'disk:drafts',
    'disk:',
    '',
  ]

  it.each(FORGED)('that nobody was given lead nowhere: %j', async (ref) => {
    mkdirSync(folder)
    writeFileSync(join(scratch, 'secret'), 'not a blob')
    await expect(store.open(ref)).rejects.toMatchObject({ code: 'blob_missing' })
    expect(await store.facts(ref)).toBeUndefined()
    await store.delete(ref)
    expect(existsSync(join(scratch, 'secret'))).toBe(true)
  })

  it('with another digest than the bytes have lead nowhere', async () => {
    const { blob_ref } = await store.put(Readable.from(['bytes']))
    const other = `${blob_ref.slice(0, -64)}${sha256(Buffer.from('other bytes'))}`
    await expect(store.open(other)).rejects.toMatchObject({ code: 'blob_missing' })
  })
})

describe('delete and list', () => {
  it('delete what is there, and do not mind what is not', async () => {
    const { blob_ref } = await store.put(Readable.from(['x']))
    await Promise.all([store.delete(blob_ref), store.delete(blob_ref)])
    await store.delete(blob_ref)
    await expect(store.open(blob_ref)).rejects.toMatchObject({ code: 'blob_missing' })
    expect(files()).toEqual([])
  })

  it('list what was put before, and nothing else', async () => {
    expect(await list(FUTURE)).toEqual([])
    const blobs = await Promise.all(
      Array.from({ length: 20 }, (_, n) => store.put(Readable.from([String(n)]))),
    )
    mkdirSync(join(folder, 'drafts'), { recursive: true })
    writeFileSync(join(folder, 'drafts', 'a draft'), 'x')
    writeFileSync(join(folder, 'a file of somebody else'), 'x')
    expect(await list(FUTURE)).toEqual(blobs.map(({ blob_ref }) => blob_ref).sort())
    expect(await list(PAST)).toEqual([])
  })
})

describe('a process that is killed in the middle of an upload', () => {
  it('leaves a draft that is no blob, and that is swept when it is old', async () => {
    const disk = pathToFileURL(join(import.meta.dirname, '../../dist/staging/blobs.js')).href
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

describe('verify', () => {
  it('reads the bytes again: changed in place or gone, it says no', async () => {
    const { blob_ref } = await store.put(Readable.from(['the original']))
    expect(await store.verify(blob_ref)).toBe(true)
    writeFileSync(join(folder, files()[0]!), 'the 0riginal')
    expect(await store.verify(blob_ref)).toBe(false)
    await store.delete(blob_ref)
    expect(await store.verify(blob_ref)).toBe(false)
    expect(await store.verify('disk:../../etc/passwd')).toBe(false)
  })
})

it('list goes on behind a reference, in an order that stays', async () => {
  for (const text of ['a', 'b', 'c', 'd']) await store.put(Readable.from([text]))
  const all = await list(FUTURE)
  const rest: string[] = []
  for await (const ref of store.list(FUTURE, all[1])) rest.push(ref)
  expect(rest).toEqual(all.slice(2))
})
