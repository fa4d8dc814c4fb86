/** How search grows: from 5,000 to 200,000 chunks, and what people would install for it, on the same texts with the same questions. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { create, insertMultiple, search as searchOrama } from '@orama/orama'
import MiniSearch from 'minisearch'
import type { Benchmark, Contender, Figures, Round, Task } from '../benchmark.ts'
import { atMost } from '../criteria.ts'
import { startProcess } from '../processes.ts'
import { percentile, perSecond } from '../statistics.ts'
import type { FirstAnswer, FirstQuestion } from './first-question.ts'
import { project, type Text } from './projected.ts'
import { type Asked, makeQuestions, makeTexts } from './texts.ts'

const SIZES = [5_000, 20_000, 100_000, 200_000]
const QUICK_SIZES = [1_000]
const QUESTIONS = 200
const WARM_UP = 20
const HITS = 10
const SEED = 1

type Engine = (texts: readonly Text[], task: Task) => Promise<Figures>

/** Addresses of the ten best. */
type Ask = (question: Asked) => Promise<readonly string[]>

const ENGINES: Readonly<Record<string, { readonly about: string; readonly run: Engine }>> = {
  stagedoor: { about: 'units, projected; words and fitted vectors', run: throughSearch },
  fulltext: { about: 'PostgreSQL alone: GIN over tsvector, terms OR-ed, ts_rank', run: byFullText },
  minisearch: { about: 'in the process, BM25, no stemmer of its own', run: byMiniSearch },
  orama: { about: 'in the process, BM25 with its English tokenizer', run: byOrama },
}

const sizeName = (size: number): string => (size >= 1_000 ? `${size / 1_000}k` : String(size))

/** One contender for each engine and size. A quick run leaves out those that are too large. */
const contenders: readonly Contender[] = [...new Set([...QUICK_SIZES, ...SIZES])].flatMap((size) =>
  Object.entries(ENGINES).map(([name, { about, run }]) => ({
    name: `${name}_${sizeName(size)}`,
    about: `${size.toLocaleString('en')} chunks: ${about}`,
    run: async (task: Task): Promise<Figures> =>
      sizesOf(task).includes(size) ? run(makeTexts(size, SEED), task) : {},
  })),
)

/** The size of a run is its largest. */
const sizesOf = ({ size }: Pick<Task, 'size'>): readonly number[] =>
  size >= SIZES[0]! ? SIZES.filter((one) => one <= size) : QUICK_SIZES.filter((one) => one <= size)

export const sizes: Benchmark = {
  name: 'search-sizes',
  command: 'search --sizes',
  about:
    'the same corpus at 5,000 to 200,000 chunks: time, memory and quality, beside full text, minisearch and orama',
  unit: 'chunks',
  size: { full: SIZES.at(-1)!, quick: QUICK_SIZES.at(-1)! },
  rounds: { full: 1, quick: 1 },
  warmUp: false,
  freshDatabase: 'contender',
  contenders,
  summarise: (rounds) => flatten(rounds[0]!),
  criteria: [
    { field: 'stagedoor_200k_query_p99_ms', bar: atMost(50), onlyFull: true },
    { field: 'stagedoor_200k_memory_mb', bar: atMost(300), onlyFull: true },
    { field: 'stagedoor_20k_query_p99_ms', bar: atMost(30), onlyFull: true },
    { field: 'stagedoor_20k_first_question_ms', bar: atMost(1_000), onlyFull: true },
    { field: 'stagedoor_20k_fit_slows_by', bar: atMost(2), onlyFull: true },
  ],
  async peers() {
    const { resolve } = createRequire(import.meta.url)
    // Not every package exports its package.json.
    const version = (name: string): string => {
      const path = resolve(name)
      const root = path.slice(0, path.lastIndexOf(`node_modules/${name}/`) + `node_modules/${name}/`.length)
      return JSON.parse(readFileSync(`${root}package.json`, 'utf8')).version
    }
    return { minisearch: version('minisearch'), orama: version('@orama/orama') }
  },
}

function flatten(round: Round): Figures {
  return Object.fromEntries(
    Object.entries(round).flatMap(([contender, figures]) =>
      Object.entries(figures).map(([field, value]) => [`${contender}_${field}`, value]),
    ),
  )
}

async function throughSearch(texts: readonly Text[], { database }: Task): Promise<Figures> {
  const questions = makeQuestions(QUESTIONS, SEED + 1_000)
  const world = await project(
    database,
    texts,
    makeQuestions(WARM_UP, SEED + 2_000).map(({ text }) => text),
  )
  try {
    const first = await firstQuestion(database.workerUrl, world.workspace, questions[0]!.text)
    const asked = await measure(texts, questions, async ({ text, topic }) => {
      const { hits } = await world.ask(text, topic === undefined ? {} : { filters: { topic } })
      return hits.map(({ canonical_address }) => canonical_address!)
    })
    return {
      ...asked,
      chunks_per_s: perSecond(world.chunks, world.projectedMs),
      fit_s: world.fittedMs / 1_000,
      ...(world.askedWhileFittedMs !== undefined && {
        fit_slows_by: world.askedWhileFittedMs / asked.query_p50_ms!,
      }),
      first_question_ms: first.firstMs,
      memory_mb: first.memoryMb,
    }
  } finally {
    await world.end()
  }
}

async function firstQuestion(workerUrl: string, workspace: string, text: string): Promise<FirstAnswer> {
  const input: FirstQuestion = { workerUrl, workspace }
  const child = await startProcess(new URL('first-question.js', import.meta.url), input)
  try {
    return await child.ask<FirstAnswer>('ask', text)
  } finally {
    await child.stop()
  }
}

async function byFullText(texts: readonly Text[], { database }: Task): Promise<Figures> {
  const session = await database.superuser()
  const began = performance.now()
  await session.query('create table page (id text, topic text, words tsvector)')
  await session.query(
    `insert into page select x.address, x.topic, to_tsvector('english', x.body)
       from jsonb_to_recordset($1) as x (address text, topic text, body text)`,
    [JSON.stringify(texts)],
  )
  await session.query('create index on page using gin (words)')
  const builtMs = performance.now() - began
  await session.query('vacuum analyze page')
  const asked = await measure(texts, makeQuestions(QUESTIONS, SEED + 1_000), async ({ text, topic }) => {
    const { rows } = await session.query({
      name: 'page',
      text: `select id from page, to_tsquery('english', $1) q
              where words @@ q and ($2::text is null or topic = $2) order by ts_rank(words, q) desc, id limit ${HITS}`,
      values: [text.split(' ').join(' | '), topic ?? null],
    })
    return rows.map(({ id }) => id as string)
  })
  return { ...asked, chunks_per_s: perSecond(texts.length, builtMs) }
}

async function byMiniSearch(texts: readonly Text[]): Promise<Figures> {
  return inProcess(texts, async () => {
    const index = new MiniSearch<Text>({ fields: ['body'], storeFields: ['topic'], idField: 'address' })
    index.addAll(texts)
    return async ({ text, topic }) =>
      index
        .search(text, topic === undefined ? {} : { filter: (found) => found.topic === topic })
        .slice(0, HITS)
        .map(({ id }) => id as string)
  })
}

async function byOrama(texts: readonly Text[]): Promise<Figures> {
  return inProcess(texts, async () => {
    const index = create({ schema: { address: 'string', topic: 'enum', body: 'string' } as const })
    await insertMultiple(
      index,
      texts.map(({ address, topic, body }) => ({ address, topic: topic!, body })),
    )
    return async ({ text, topic }) => {
      const { hits } = await searchOrama(index, {
        term: text,
        properties: ['body'],
        threshold: 1,
        limit: HITS,
        ...(topic !== undefined && { where: { topic: { eq: topic } } }),
      })
      return hits.map(({ document }) => document.address)
    }
  })
}

async function inProcess(texts: readonly Text[], build: () => Promise<Ask>): Promise<Figures> {
  const before = process.memoryUsage.rss()
  const began = performance.now()
  const ask = await build()
  const builtMs = performance.now() - began
  const memory_mb = (process.memoryUsage.rss() - before) / 1e6
  const asked = await measure(texts, makeQuestions(QUESTIONS, SEED + 1_000), ask)
  return { ...asked, chunks_per_s: perSecond(texts.length, builtMs), memory_mb }
}

/** Time of each question, and which share of the ten best is about what was asked. */
async function measure(
  texts: readonly Text[],
  questions: readonly Asked[],
  ask: Ask,
): Promise<Record<string, number>> {
  const topicOf = new Map(texts.map(({ address, topic }) => [address, topic]))
  for (const question of questions.slice(0, WARM_UP)) await ask(question)
  const took: number[] = []
  let about = 0
  let open = 0
  for (const question of questions) {
    const began = performance.now()
    const found = await ask(question)
    took.push(performance.now() - began)
    // With a filter nothing else can be found.
    if (question.topic !== undefined) continue
    open++
    about += found.filter((address) => topicOf.get(address) === question.about).length / HITS
  }
  return {
    query_p50_ms: percentile(took, 0.5),
    query_p99_ms: percentile(took, 0.99),
    precision_at_10: about / open,
  }
}
