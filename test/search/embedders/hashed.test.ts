/** The embedder for a corpus on which nothing can be fitted. */
import { expect, it } from 'vitest'
import { createHashedEmbedder, createWordCounter } from '../../../src/search/embedders/embedder.ts'
import { useDatabase } from '../../support/database.ts'
import { workerPool } from '../stores/recorded.ts'
import { embedderConformance } from './conformance.ts'

const db = useDatabase()
const embedder = createHashedEmbedder({ words: createWordCounter(workerPool(db)) })

embedderConformance('the embedder hashed', () => embedder)

const similarity = async (a: string, b: string): Promise<number> => {
  const [[x], [y]] = await Promise.all([embedder.embed([a], 'query'), embedder.embed([b], 'passage')])
  return x!.reduce((sum, value, at) => sum + value * y![at]!, 0)
}

it('finds words in whatever form, and Vietnamese with or without its marks', async () => {
  expect(await similarity('paying refunds', 'A refund is paid')).toBeGreaterThan(0.4)
  expect(await similarity('hoan tien khach hang', 'hoàn tiền khách hàng')).toBeCloseTo(1, 4)
  expect(await similarity('Đơn hàng', 'don hang')).toBeCloseTo(1, 4)
  expect(Math.abs(await similarity('supersonic flow', 'refunds and invoices'))).toBeLessThan(0.3)
})

it('finds nothing for a question without words, not even texts without words', async () => {
  expect(await similarity('the of and', 'Refunds are paid')).toBe(0)
  expect(await similarity('the of and', '… ! …')).toBe(-1)
  expect(await similarity('refunds', '… ! …')).toBe(0)
})
