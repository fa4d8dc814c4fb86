/**
 * A word index in memory, for texts that belong to no workspace (the documentation). Words, stems, phrases and prefixes are those of
 * `fn_search_words` and `fn_search_parse`, the score is the BM25 of `fn_search_lexical`, snippets are those of hits. Nothing is written,
 * so these texts can never be among the hits of a workspace.
 */
import type { Queryable } from '../kernel/postgres/connection.ts'
import { chunksOf } from './chunks.ts'
import { englishMatch, queryWords, snippetOf } from './hits.ts'

interface IndexedText {
  /** A word in the title counts for more than one in the body. */
  readonly title: string
  /** Its words count once, and are in no snippet: the title of the page that a section is from. */
  readonly context: string
  readonly body: string
  /** Its score is multiplied by this. */
  readonly weight: number
}

interface TextHit {
  /** Position of the text in the list that was indexed. */
  readonly text: number
  readonly score: number
  readonly snippet: string
  /** Half-open, in characters of the snippet. */
  readonly highlights: readonly (readonly [from: number, to: number])[]
}

interface Chunk {
  readonly text: number
  readonly words: string
  readonly shown: string
}

interface Posting {
  readonly chunk: number
  readonly count: number
  /** Whether the title has it. */
  readonly titled: boolean
}

export interface TextIndex {
  /** Best first; each text once, with its best chunk. The last word may be a beginning: people see hits while they type. */
  search(db: Queryable, question: string, limit: number): Promise<TextHit[]>
}

/** As fn_search_lexical: k1 1.2, b 0.75. */
const K1_SHARE = 0.3
const LENGTH_SHARE = 0.9
const FACTOR = 2.2
/** As much as a body that has hardly another word. */
const TITLE_SHARE = 0.8
const MAX_WORDS_OF_PREFIX = 32
/** Chunks that are read for a phrase. */
const MAX_PHRASE_CHUNKS = 500

/** `db`: any role that may search. */
export async function createTextIndex(db: Queryable, texts: readonly IndexedText[]): Promise<TextIndex> {
  const chunks = texts.flatMap(({ title, context, body }, text): Chunk[] => {
    const parts = chunksOf(body)
    return (parts.length > 0 ? parts : [{ text: title }]).map((part) => ({
      text,
      words: `${context}\n${title}\n${part.text}`,
      shown: part.text,
    }))
  })
  const { rows } = await db.query<{ n: number; lexeme: string; count: number; titled: boolean }>(
    `select t.n::integer - 1 as n, w.lexeme, cardinality(w.positions) as count, w.lexeme = any (g.lexemes) as titled
       from unnest($1::text[], $2::text[]) with ordinality as t (text, title, n)
      cross join lateral (select tsvector_to_array(iu_core.fn_search_words(t.title, 'en')) as lexemes offset 0) as g
      cross join lateral unnest(iu_core.fn_search_words(t.text, 'en')) as w`,
    [chunks.map(({ words }) => words), chunks.map(({ text }) => texts[text]!.title)],
  )
  const postings = new Map<string, Posting[]>()
  const lengths = new Array<number>(chunks.length).fill(0)
  for (const { n, lexeme, count, titled } of rows) {
    const posting = { chunk: n, count, titled }
    const list = postings.get(lexeme)
    if (list === undefined) postings.set(lexeme, [posting])
    else list.push(posting)
    lengths[n]! += count
  }
  const mean = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, chunks.length)
  const lexemes = [...postings.keys()].sort()

  function score(words: readonly string[], prefixes: readonly string[]): Map<number, number> {
    const weights = new Map<string, number>()
    const add = (terms: readonly string[]) => {
      const found = terms.filter((term) => postings.has(term))
      // The words of a prefix count as one term.
      const asked = Math.min(
        chunks.length,
        found.reduce((sum, term) => sum + postings.get(term)!.length, 0),
      )
      const weight = Math.log(1 + (chunks.length - asked + 0.5) / (asked + 0.5))
      for (const term of found) weights.set(term, Math.max(weight, weights.get(term) ?? 0))
    }
    for (const word of words) add([word])
    for (const prefix of prefixes) add(beginningWith(lexemes, prefix))
    const scores = new Map<number, number>()
    for (const [term, weight] of weights)
      for (const { chunk, count, titled } of postings.get(term)!) {
        const ofBody = count / (count + K1_SHARE + (LENGTH_SHARE * lengths[chunk]!) / mean)
        const share = ofBody + (titled ? TITLE_SHARE : 0)
        const points = FACTOR * weight * share * texts[chunks[chunk]!.text]!.weight
        scores.set(chunk, (scores.get(chunk) ?? 0) + points)
      }
    return scores
  }

  return {
    async search(db, question, limit) {
      const asked = withPrefix(question)
      const { rows: parsed } = await db.query<
        Record<'words' | 'prefixes' | 'phrases' | 'excluded', string[]>
      >('select words, prefixes, phrases, excluded from iu_core.fn_search_parse($1)', [asked])
      const { words, prefixes, phrases, excluded } = parsed[0]!
      let best = [...score(words, prefixes)].sort((a, b) => b[1] - a[1] || a[0] - b[0])
      if (phrases.length > 0) {
        best = best.slice(0, MAX_PHRASE_CHUNKS)
        const matching = await withPhrases(
          db,
          best.map(([chunk]) => chunks[chunk]!.words),
          phrases,
        )
        best = best.filter((_, index) => matching.has(index))
      }
      if (excluded.length > 0) {
        const texts = chunks.map(({ words }) => words)
        const having = await Promise.all(excluded.map((phrase) => withPhrases(db, texts, [phrase])))
        const out = new Set(having.flatMap((one) => [...one].map((n) => chunks[n]!.text)))
        best = best.filter(([n]) => !out.has(chunks[n]!.text))
      }
      const shown = new Map<number, readonly [chunk: Chunk, score: number]>()
      for (const [n, points] of best) {
        const chunk = chunks[n]!
        if (!shown.has(chunk.text)) shown.set(chunk.text, [chunk, points])
        if (shown.size === limit) break
      }
      const hits = [...shown.values()]
      const match = await englishMatch(
        db,
        queryWords(asked),
        hits.map(([chunk]) => chunk.shown),
      )
      return hits.map(([chunk, points]) => ({
        text: chunk.text,
        score: points,
        ...snippetOf(chunk.shown, match),
      }))
    },
  }
}

/** The last word, as long as nobody has ended it by a blank, a quote or a star. */
function withPrefix(question: string): string {
  const last = /[\p{L}\p{N}_]{2,}$/u.exec(question)?.[0]
  return last === undefined ? question : `${question} ${last}*`
}

/** `lexemes` are sorted. */
function beginningWith(lexemes: readonly string[], prefix: string): string[] {
  let [from, to] = [0, lexemes.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (lexemes[middle]! < prefix) from = middle + 1
    else to = middle
  }
  const found: string[] = []
  for (let at = from; at < lexemes.length && lexemes[at]!.startsWith(prefix); at++) found.push(lexemes[at]!)
  return found.slice(0, MAX_WORDS_OF_PREFIX)
}

/** Positions of the texts that contain every phrase, word for word. */
async function withPhrases(
  db: Queryable,
  texts: readonly string[],
  phrases: readonly string[],
): Promise<Set<number>> {
  const { rows } = await db.query<{ n: number }>(
    `select t.n::integer - 1 as n
       from unnest($1::text[]) with ordinality as t (text, n)
      where not exists (select from unnest($2::text[]) as p (phrase)
                         where not iu_core.fn_search_words(t.text, 'en') @@ phraseto_tsquery('english', iu_core.fn_search_normalize(p.phrase)))`,
    [texts, phrases],
  )
  return new Set(rows.map(({ n }) => n))
}
