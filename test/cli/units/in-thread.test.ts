/** Large documents are marked in threads, which only what is built has: Node 20 loads no TypeScript into one. */
// @module-tag long
import { expect, it } from 'vitest'
import type { markInThread as MarkBeside } from '../../../src/units/marking/in-thread.ts'
import { markDocument } from '../../../src/units/marking/mark.ts'

const built = new URL('../../../dist/units/marking/in-thread.js', import.meta.url).href
const { markInThread } = (await import(/* @vite-ignore */ built)) as { markInThread: typeof MarkBeside }

const sourceRef = 'large.md'
const LARGE = Array.from(
  { length: 2_000 },
  (_, n) => `## Section ${n}\n\n- > *first* of ${n}\n  - second\n\n<b>Text</b> of ${n}.`,
).join('\n\n')

it('the answer is the same, whether as text or as bytes, and meanwhile others get theirs', async () => {
  const here = markDocument(LARGE, { sourceRef })
  let turns = 0
  const turning = setInterval(() => {
    turns += 1
  }, 5)
  expect(await markInThread(LARGE, { sourceRef })).toEqual(here)
  clearInterval(turning)
  // In this thread it would be none.
  expect(turns).toBeGreaterThan(2)
  expect(await markInThread(Buffer.from(LARGE), { sourceRef })).toEqual(here)
})

it('what cannot be read is refused as ever', async () => {
  const refusal = { code: 'document_unreadable', details: { source: sourceRef } }
  await expect(markInThread(`${LARGE}\0`, { sourceRef })).rejects.toMatchObject(refusal)
  await expect(markInThread(`${'> '.repeat(50)}${LARGE}`, { sourceRef })).rejects.toMatchObject({
    ...refusal,
    message: expect.stringContaining('nested'),
  })
})

it('what takes too long is given up, and the next ones have their turn', async () => {
  const impatient = () => markInThread(LARGE, { sourceRef }, { timeoutMs: 1 })
  const ends = await Promise.allSettled([impatient(), impatient(), impatient(), impatient()])
  for (const one of ends) {
    expect(one).toMatchObject({ status: 'rejected', reason: { code: 'document_unreadable' } })
  }
  expect((await markInThread(LARGE, { sourceRef })).manifest.pieces.length).toBe(2_000)
})
