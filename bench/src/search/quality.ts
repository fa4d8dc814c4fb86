/** How well questions of a judged collection are answered: by words alone, by words and meaning, and by what PostgreSQL ships. */
import type { Benchmark, Figures, Task } from '../benchmark.ts'
import { atLeast } from '../criteria.ts'
import { medianOf, percentile } from '../statistics.ts'
import { readCollection } from './collection.ts'
import { ndcg } from './ndcg.ts'
import { project } from './projected.ts'

export const searchQuality: Benchmark = {
  name: 'search-quality',
  about:
    'nDCG@10 of a judged collection (--data DIR), words alone and hybrid, compared with websearch_to_tsquery with ts_rank',
  unit: 'collections',
  takesData: true,
  size: { full: 1, quick: 1 },
  // The same every time: nothing in it is left to chance.
  rounds: { full: 1, quick: 1 },
  freshDatabase: 'contender',
  contenders: [
    { name: 'stagedoor', about: 'units, projected; each question once', run: throughSearch },
    { name: 'tsrank', about: 'one table, a tsvector a document', run: byRank },
  ],
  summarise: (rounds) => ({
    ndcg_lexical: medianOf(rounds, 'stagedoor', 'ndcg_lexical'),
    ndcg_hybrid: medianOf(rounds, 'stagedoor', 'ndcg_hybrid'),
    ndcg_tsrank: medianOf(rounds, 'tsrank', 'ndcg'),
    hybrid_over_lexical:
      medianOf(rounds, 'stagedoor', 'ndcg_hybrid') - medianOf(rounds, 'stagedoor', 'ndcg_lexical'),
    query_p99_ms: medianOf(rounds, 'stagedoor', 'query_p99_ms'),
  }),
  // The figures of BENCHMARKS.md are Cranfield's; on any collection the meaning must not make it worse.
  criteria: [
    { field: 'ndcg_lexical', bar: atLeast(0.51) },
    { field: 'ndcg_hybrid', bar: atLeast(0.51), goal: atLeast(0.56) },
    { field: 'hybrid_over_lexical', bar: atLeast(0) },
  ],
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

async function throughSearch({ database, data }: Task): Promise<Figures> {
  const { documents, questions } = readCollection(data!)
  const world = await project(
    database,
    documents.map(({ id, text }) => ({ address: `collection/d${id}`, body: text.trim() || '(empty)' })),
  )
  try {
    const lexical: number[] = []
    const hybrid: number[] = []
    const took: number[] = []
    const named = (address: string) => address.slice('collection/d'.length)
    for (const { text, answers } of questions) {
      const { rows } = await world.session.query(
        `select u.canonical_address, max(l.score) as score
           from iu_core.fn_search_lexical($1, $2, 100, '{}') l join iu_core.information_unit u using (unit_id)
          group by 1 order by 2 desc, 1 limit 10`,
        [world.workspace, text],
      )
      lexical.push(
        ndcg(
          rows.map(({ canonical_address }) => named(canonical_address)),
          answers,
        ),
      )
      const { hits, took_ms } = await world.ask(text)
      hybrid.push(
        ndcg(
          hits.map(({ canonical_address }) => named(canonical_address!)),
          answers,
        ),
      )
      took.push(took_ms)
    }
    return {
      documents: documents.length,
      questions: questions.length,
      ndcg_lexical: mean(lexical),
      ndcg_hybrid: mean(hybrid),
      query_p50_ms: percentile(took, 0.5),
      query_p99_ms: percentile(took, 0.99),
    }
  } finally {
    await world.end()
  }
}

async function byRank({ database, data }: Task): Promise<Figures> {
  const { documents, questions } = readCollection(data!)
  const session = await database.superuser()
  await session.query(`create table page (id text, words tsvector);`)
  await session.query(
    `insert into page select x.id, to_tsvector('english', x.text) from jsonb_to_recordset($1) as x (id text, text text)`,
    [JSON.stringify(documents)],
  )
  const found: number[] = []
  for (const { text, answers } of questions) {
    const { rows } = await session.query(
      `select id from page, websearch_to_tsquery('english', $1) q where words @@ q order by ts_rank(words, q) desc, id limit 10`,
      [text],
    )
    found.push(
      ndcg(
        rows.map(({ id }) => id),
        answers,
      ),
    )
  }
  return { ndcg: mean(found) }
}
