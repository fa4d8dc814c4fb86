/** Collections that search is measured with: as Cranfield, CISI, CACM and MED come. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { BenchError } from '../../bench/src/errors.ts'
import { collectionsIn, readCollection, readJudgements } from '../../bench/src/search/collection.ts'
import { ndcg } from '../../bench/src/search/ndcg.ts'

const folder = mkdtempSync(join(tmpdir(), 'stagedoor-collection-'))
afterAll(() => rmSync(folder, { recursive: true }))

it('knows a question by its place, and puts a title before a text that lacks it', () => {
  writeFileSync(
    join(folder, 'cran.all.1400'),
    '.I 1\r\n.T\r\nwings\r\n.A\r\nsomebody\r\n.W\r\nwings in\r\na slipstream\r\n.I 2\n.T\nheat\n.W\nplates that glow\n',
  )
  writeFileSync(
    join(folder, 'cran.qry'),
    '.I 001\n.W\nwhat lifts\n.I 004\n.W\nwhat glows\n.I 7\n.W\nunjudged\n',
  )
  writeFileSync(join(folder, 'cranqrel'), '1 1 2\n2 2 -1\n2 1 3\n')
  expect(readCollection(folder)).toEqual({
    documents: [
      { id: '1', title: 'wings', text: 'wings in\na slipstream' },
      { id: '2', title: 'heat', text: 'heat\n\nplates that glow' },
    ],
    questions: [
      { text: 'what lifts', answers: new Set(['1']) },
      { text: 'what glows', answers: new Set(['2', '1']) },
    ],
  })
})

it('finds the collections in a folder, and nothing else', () => {
  const parent = mkdtempSync(join(folder, 'all-'))
  for (const name of ['b', 'a', 'notes']) mkdirSync(join(parent, name))
  for (const name of ['a', 'b']) writeFileSync(join(parent, name, 'x.qry'), '')
  writeFileSync(join(parent, 'x.qry'), '')
  expect(collectionsIn(parent)).toEqual([join(parent, 'a'), join(parent, 'b')])
  expect(() => collectionsIn(join(parent, 'notes'))).toThrow('has no folder with a collection')
})

it('reads judgements with two, four, and TREC’s columns', () => {
  expect(readJudgements('   1     28\t0\t0.000000\n   1     35\t0\t0.000000\n').get(1)).toEqual(
    new Set(['28', '35']),
  )
  expect(readJudgements('01 1410  0 0\n01 1572  0 0\n').get(1)).toEqual(new Set(['1410', '1572']))
  expect(readJudgements('1 0 13 1\n1 0 14 0\n').get(1)).toEqual(new Set(['13']))
})

it('says what is missing in a folder that holds no collection', () => {
  const empty = mkdtempSync(join(folder, 'empty-'))
  expect(() => readCollection(empty)).toThrow(BenchError)
  expect(() => readCollection(empty)).toThrow(/has no file of judgements/)
  expect(() => readCollection(join(empty, 'nowhere'))).toThrow(/cannot be read: ENOENT/)
})

it('counts what stands first for most', () => {
  const relevant = new Set(['a', 'b'])
  expect(ndcg(['a', 'b', 'c'], relevant)).toBe(1)
  expect(ndcg(['c', 'd'], relevant)).toBe(0)
  expect(ndcg(['a', 'c', 'b'], relevant)).toBeCloseTo((1 + 0.5) / (1 + 1 / Math.log2(3)), 10)
  expect(ndcg([...'0123456789', 'a'], relevant)).toBe(0)
})
