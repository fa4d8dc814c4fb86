/** How well questions of a judged collection are answered: by words alone, by words and meaning, and by what PostgreSQL ships. */
import { basename } from 'node:path'
import type { Benchmark, Figures, Task } from '../benchmark.ts'
import { atLeast } from '../criteria.ts'
import { columns } from '../report.ts'
import { bootstrapInterval, mean, medianOf, percentile, valuesOf, worstOf } from '../statistics.ts'
import { collectionsIn, readCollection } from './collection.ts'
import { ndcg } from './ndcg.ts'
import { project } from './projected.ts'

/** What chance may take from the mean over the questions of a collection. */
const LEAST_DIFFERENCE = -0.003

const CONTENDERS: Benchmark['contenders'] = [
  { name: 'stagedoor', about: 'units, projected; each question once', run: throughSearch },
  { name: 'tsrank', about: 'one table, a tsvector a document', run: byRank },
]

/** Each collection in the folder of `--data` on a database of its own: constants are chosen on all of them together. */
const ofAll: Benchmark = {
  name: 'search-quality-all',
  command: 'search-quality --all',
  about: 'nDCG@10 of every judged collection in a folder (--data DIR)',
  unit: 'folder',
  takesData: true,
  size: { full: 1, quick: 1 },
  rounds: { full: 1, quick: 1 },
  roundsOf: (folder) => collectionsIn(folder).length,
  freshDatabase: 'contender',
  contenders: CONTENDERS.map(({ run, ...contender }) => ({
    ...contender,
    run: (task) => run({ ...task, data: collectionsIn(task.data!)[task.round]! }),
  })),
  summarise: (rounds) => ({
    mean_lexical: mean(valuesOf(rounds, 'stagedoor', 'ndcg_lexical')),
    mean_hybrid: mean(valuesOf(rounds, 'stagedoor', 'ndcg_hybrid')),
    worst_hybrid_over_lexical: Math.min(...valuesOf(rounds, 'stagedoor', 'hybrid_over_lexical')),
    mean_tsrank: mean(valuesOf(rounds, 'tsrank', 'ndcg')),
    query_p99_ms: worstOf(rounds, 'stagedoor', 'query_p99_ms'),
  }),
  criteria: [{ field: 'worst_hybrid_over_lexical', bar: atLeast(LEAST_DIFFERENCE) }],
  epilogue: ({ rounds, data }) => {
    const heads = ['collection', 'questions', 'words', 'hybrid', 'difference', '95 %', 'ts_rank', 'p99 ms']
    const lines = collectionsIn(data!).map((folder, round) => {
      const { stagedoor, tsrank } = rounds[round]!
      const figure = (field: string) => stagedoor![field]!
      const interval = `${signed(figure('difference_low'))} … ${signed(figure('difference_high'))}`
      return [
        basename(folder),
        String(figure('questions')),
        figure('ndcg_lexical').toFixed(3),
        figure('ndcg_hybrid').toFixed(3),
        signed(figure('hybrid_over_lexical')),
        interval,
        tsrank!.ndcg!.toFixed(3),
        figure('query_p99_ms').toFixed(1),
      ]
    })
    return columns([heads, ...lines]).join('\n')
  },
}

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
  contenders: CONTENDERS,
  summarise: (rounds) => ({
    ndcg_lexical: medianOf(rounds, 'stagedoor', 'ndcg_lexical'),
    ndcg_hybrid: medianOf(rounds, 'stagedoor', 'ndcg_hybrid'),
    ndcg_tsrank: medianOf(rounds, 'tsrank', 'ndcg'),
    hybrid_over_lexical: medianOf(rounds, 'stagedoor', 'hybrid_over_lexical'),
    difference_low: medianOf(rounds, 'stagedoor', 'difference_low'),
    difference_high: medianOf(rounds, 'stagedoor', 'difference_high'),
    query_p99_ms: medianOf(rounds, 'stagedoor', 'query_p99_ms'),
  }),
  // On any collection the meaning must not make it worse.
  criteria: [{ field: 'hybrid_over_lexical', bar: atLeast(LEAST_DIFFERENCE) }],
  variants: { all: ofAll },
}

const signed = (value: number): string => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`

async function throughSearch({ database, data, language }: Task): Promise<Figures> {
  const { documents, questions } = readCollection(data!)
  const world = await project(
    database,
    documents.map(({ id, title, text }) => ({
      address: `collection/d${id}`,
      body: text.trim() || '(empty)',
      ...(title !== undefined && { title }),
      ...(language !== undefined && { language }),
    })),
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
    const differences = hybrid.map((value, index) => value - lexical[index]!)
    const [low, high] = bootstrapInterval(differences)
    return {
      documents: documents.length,
      questions: questions.length,
      ndcg_lexical: mean(lexical),
      ndcg_hybrid: mean(hybrid),
      hybrid_over_lexical: mean(differences),
      difference_low: low,
      difference_high: high,
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
