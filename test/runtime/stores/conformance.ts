/** What every store must do, whatever it stores in: blobs are whole or not there, readable in ranges, out of reach of forged references. */
import { createHash, randomBytes } from 'node:crypto'
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import type { StoreTarget } from './targets.ts'

const MIB = 1 << 20
const FUTURE = new Date(Date.now() + 86_400_000)
const PAST = new Date(Date.now() - 86_400_000)
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** `open` gives a new, empty store for each test. */
export function describeBlobStore(open: () => StoreTarget): void {
  const put = (target: StoreTarget, ...chunks: (string | Buffer)[]) => target.store.put(Readable.from(chunks))
  const list = async ({ store }: StoreTarget, before: Date, after?: string): Promise<string[]> => {
    const refs: string[] = []
    for await (const ref of store.list(before, after)) refs.push(ref)
    return refs
  }

  it('put keeps the bytes and says their length and digest', async () => {
    const target = open()
    const bytes = randomBytes(200_000)
    const blob = await put(target, bytes.subarray(0, 70_000), bytes.subarray(70_000))
    expect(blob).toEqual({
      blob_ref: expect.stringMatching(`^${target.scheme}:[0-9a-f]{32}\\.[0-9a-f]{64}$`),
      byte_len: 200_000,
      content_hash: sha256(bytes),
    })
    expect(sha256(await buffer(await target.store.open(blob.blob_ref)))).toBe(sha256(bytes))
    expect(await target.store.facts(blob.blob_ref)).toEqual({
      byte_len: 200_000,
      content_hash: sha256(bytes),
    })
    expect(target.store.schemes).toEqual([target.scheme])
  })

  it('put takes an empty stream, and text', async () => {
    const target = open()
    const empty = await put(target)
    expect(empty).toMatchObject({ byte_len: 0, content_hash: sha256(Buffer.alloc(0)) })
    expect(await buffer(await target.store.open(empty.blob_ref))).toHaveLength(0)
    expect(await target.store.facts(empty.blob_ref)).toMatchObject({ byte_len: 0 })
    expect(await target.store.verify(empty.blob_ref)).toBe(true)
    const text = await put(target, 'é', '😀')
    expect((await buffer(await target.store.open(text.blob_ref))).toString()).toBe('é😀')
  })

  it.each([8 * MIB, 8 * MIB + 1, 21 * MIB + 17])(
    '%i bytes come back, whole and in ranges, and go again',
    async (size) => {
      const target = open()
      const bytes = randomBytes(size)
      const chunks = [bytes.subarray(0, 3), bytes.subarray(3, 9 * MIB), bytes.subarray(9 * MIB)]
      const { blob_ref, byte_len, content_hash } = await put(target, ...chunks)
      expect({ byte_len, content_hash }).toEqual({ byte_len: size, content_hash: sha256(bytes) })
      expect(await target.store.facts(blob_ref)).toEqual({ byte_len, content_hash })
      expect(await target.store.verify(blob_ref)).toBe(true)
      expect(sha256(await buffer(await target.store.open(blob_ref)))).toBe(content_hash)
      const range = { start: 8 * MIB - 5, end: 8 * MIB + 5 }
      const part = await buffer(await target.store.open(blob_ref, range))
      expect(part.equals(bytes.subarray(range.start, range.end + 1))).toBe(true)
      await target.store.delete(blob_ref)
      expect(await target.store.facts(blob_ref)).toBeUndefined()
      expect(await target.everything()).toEqual([])
    },
  )

  it('put gives the same bytes a reference of their own each time', async () => {
    const target = open()
    const [one, other] = await Promise.all([put(target, 'same'), put(target, 'same')])
    expect(one.content_hash).toBe(other.content_hash)
    expect(one.blob_ref).not.toBe(other.blob_ref)
    await target.store.delete(one.blob_ref)
    expect(await target.store.facts(other.blob_ref)).toMatchObject({ byte_len: 4 })
  })

  it.each([100_000, 17 * MIB])('put leaves nothing when the stream fails after %i bytes', async (size) => {
    const target = open()
    const failing = Readable.from(
      (async function* () {
        yield randomBytes(size)
        throw new Error('the line went dead')
      })(),
    )
    await expect(target.store.put(failing)).rejects.toThrow('the line went dead')
    expect(await target.everything()).toEqual([])
  })

  it.each([100_000, 17 * MIB])(
    'put leaves nothing when the sender disconnects or the upload is aborted after %i bytes',
    async (size) => {
      const target = open()
      const gone = new PassThrough()
      const first = target.store.put(gone)
      gone.write(randomBytes(size), () => gone.destroy())
      await expect(first).rejects.toThrow()

      const abort = new AbortController()
      const endless = new PassThrough()
      const second = target.store.put(endless, { signal: abort.signal })
      endless.write(randomBytes(size), () => abort.abort())
      await expect(second).rejects.toMatchObject({ name: 'AbortError' })
      expect(endless.destroyed).toBe(true)
      expect(await target.everything()).toEqual([])
    },
  )

  it('open gives ranges, and refuses what is none', async () => {
    const { store, ...target } = open()
    const { blob_ref } = await put({ store, ...target }, 'abcdefghijklmnopqrstuvwxyz')
    for (const [start, end, expected] of [
      [0, 0, 'a'],
      [2, 5, 'cdef'],
      [24, 25, 'yz'],
      [24, 999, 'yz'],
      [26, 30, ''],
    ] as const)
      expect((await buffer(await store.open(blob_ref, { start, end }))).toString()).toBe(expected)
    for (const [start, end] of [
      [-1, 5],
      [5, 4],
      [0.5, 1],
      [0, Number.NaN],
    ] as const)
      await expect(store.open(blob_ref, { start, end })).rejects.toMatchObject({ code: 'argument_invalid' })
  })

  it('open reads on when the blob is deleted meanwhile', async () => {
    const target = open()
    const bytes = randomBytes(1_000_000)
    const { blob_ref } = await put(target, bytes)
    const reading = await target.store.open(blob_ref)
    await target.store.delete(blob_ref)
    expect(sha256(await buffer(reading))).toBe(sha256(bytes))
  })

  it('references that nobody was given lead nowhere', async () => {
    const { store, scheme, ...target } = open()
    const { blob_ref } = await put({ store, scheme, ...target }, 'bytes')
    const zeros = `${'0'.repeat(32)}.${'0'.repeat(64)}`
    for (const ref of [
      `${scheme}:${zeros}`,
      `${scheme}:../../secret`,
      `${scheme}:..%2f..%2fsecret`,
      `${scheme}:/etc/passwd`,
      `${scheme}:${zeros.slice(0, -1)}/`,
      `${scheme}:${zeros}\n`,
      `${scheme}:${zeros}\0.txt`,
      `other:${zeros}`,
      `${scheme}:drafts`,
      `${scheme}:`,
      '',
      // Another digest than the bytes have.
      `${blob_ref.slice(0, -64)}${sha256(Buffer.from('other bytes'))}`,
    ]) {
      await expect(store.open(ref), ref).rejects.toMatchObject({ code: 'blob_missing' })
      expect(await store.facts(ref), ref).toBeUndefined()
      expect(await store.verify(ref), ref).toBe(false)
      await store.delete(ref)
    }
    expect(await store.verify(blob_ref)).toBe(true)
  })

  it('delete removes what is there, and does not mind what is not', async () => {
    const target = open()
    const { blob_ref } = await put(target, 'x')
    await Promise.all([target.store.delete(blob_ref), target.store.delete(blob_ref)])
    await target.store.delete(blob_ref)
    await expect(target.store.open(blob_ref)).rejects.toMatchObject({ code: 'blob_missing' })
    expect(await target.everything()).toEqual([])
  })

  it('list names what was put before, in an order that stays, and goes on behind a reference', async () => {
    const target = open()
    expect(await list(target, FUTURE)).toEqual([])
    const blobs = await Promise.all(Array.from({ length: 9 }, (_, n) => put(target, String(n))))
    blobs.push(await put(target, randomBytes(9 * MIB)))
    await target.leaveDraft()
    const all = await list(target, FUTURE)
    expect(all).toEqual(blobs.map(({ blob_ref }) => blob_ref).sort())
    expect(await list(target, FUTURE, all[3])).toEqual(all.slice(4))
    expect(await list(target, FUTURE, all.at(-1))).toEqual([])
    expect(await list(target, PAST)).toEqual([])
  })

  it('sweep removes what a killed process left when it is old, and no blob', async () => {
    const target = open()
    const left = await target.leaveDraft()
    const large = await put(target, randomBytes(9 * MIB))
    const small = await put(target, 'whole')
    expect(await target.store.sweep(PAST)).toBe(0)
    expect(await target.store.sweep(FUTURE)).toBe(left)
    expect(await target.store.sweep(FUTURE)).toBe(0)
    expect(await list(target, FUTURE)).toEqual([large.blob_ref, small.blob_ref].sort())
    expect(await target.store.verify(large.blob_ref)).toBe(true)
  })

  it('verify reads the bytes again: changed in place or gone, it says no', async () => {
    const target = open()
    const { blob_ref } = await put(target, 'the original')
    expect(await target.store.verify(blob_ref)).toBe(true)
    await target.tamper(blob_ref, 'the 0riginal')
    expect(await target.store.verify(blob_ref)).toBe(false)
    await target.store.delete(blob_ref)
    expect(await target.store.verify(blob_ref)).toBe(false)
  })
}
