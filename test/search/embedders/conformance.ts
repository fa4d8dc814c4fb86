/** What every embedder does. Each implementation runs all of it. */
import { describe, expect, it } from 'vitest'
import type { Embedder } from '../../../src/search/embedders/embedder.ts'

export const TEXTS = [
  'The boundary layer of a flat plate in supersonic flow.',
  'Refunds are paid within thirty days after the invoice was cancelled.',
  'Quy trình hoàn tiền cho khách hàng trong ba mươi ngày.',
]

const cosine = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, at) => sum + value * b[at]!, 0)

export function embedderConformance(name: string, under: () => Embedder): void {
  describe(`${name}:`, () => {
    it('answers one normalised vector of its dimension for each text, in their order', async () => {
      for (const use of ['passage', 'query'] as const) {
        const vectors = await under().embed(TEXTS, use)
        expect(vectors).toHaveLength(TEXTS.length)
        for (const [at, vector] of vectors.entries()) {
          expect(vector).toBeInstanceOf(Float32Array)
          expect(vector).toHaveLength(under().dimension)
          expect(Math.hypot(...vector)).toBeCloseTo(1, 4)
          expect((await under().embed([TEXTS[at]!], use))[0]).toEqual(vector)
        }
      }
    })

    it('says what it is', () => {
      const { name, model, dimension, fingerprint } = under()
      expect(fingerprint).toContain(String(dimension))
      expect([name, model].every((part) => part.length > 0)).toBe(true)
    })

    it('has nothing to say about nothing', async () => {
      expect(await under().embed([], 'passage')).toEqual([])
    })

    it('takes a thousand texts at once', async () => {
      const many = Array.from({ length: 1_000 }, (_, at) => `${TEXTS[at % 3]} ${at % 7}`)
      const vectors = await under().embed(many, 'passage')
      expect(vectors).toHaveLength(1_000)
      const [alone] = await under().embed([many[777]!], 'passage')
      expect(cosine(vectors[777]!, alone!)).toBeCloseTo(1, 4)
    })

    it('takes whatever people type', async () => {
      const vectors = await under().embed(
        ['a\0b \ud800 \u{1f600} ́ đ', '\t\n the of and', `x ${'y'.repeat(9_000)}`],
        'query',
      )
      for (const vector of vectors) expect(Math.hypot(...vector)).toBeCloseTo(1, 4)
    })

    it('stops for an aborted question', async () => {
      const signal = AbortSignal.abort(new Error('nobody waits'))
      await expect(under().embed(TEXTS, 'query', signal)).rejects.toThrow('nobody waits')
    })
  })
}
