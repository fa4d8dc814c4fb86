/** The embedder for a corpus on which nothing can be fitted. */
import { expect, it } from 'vitest'
import { createHashedEmbedder, createWordCounter } from '../../../src/search/embedders/embedder.ts'
import { useDatabase } from '../../support/database.ts'
import { workerPool } from '../stores/recorded.ts'
import { embedderConformance } from './conformance.ts'

const db = useDatabase()
const words = createWordCounter(workerPool(db))
const embedder = createHashedEmbedder({ words })

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

it('counts the lexemes that the server has of a text, whatever signs it has', async () => {
  const texts = [
    `It's O'Brien\\Axolotl, 'quoted' \\' and '' twice: quoted quotes, C:\\dir, a:1,2 'b':3`,
    'naïve 日本語 日本語 Привет приветы',
    '… !',
  ]
  const rows = await db.owner<{ lexemes: string[]; counts: number[] }>(
    `select tsvector_to_array(w) as lexemes, array(select cardinality(x.positions) from unnest(w) as x) as counts
       from unnest($1::text[]) with ordinality as t (text, n)
      cross join lateral to_tsvector('pg_catalog.russian', iu_core.fn_search_normalize(t.text)) as w order by n`,
    [texts],
  )
  expect(await words(texts)).toEqual(
    rows.map(({ lexemes, counts }) => new Map(lexemes.map((lexeme, at) => [lexeme, counts[at]]))),
  )
})
