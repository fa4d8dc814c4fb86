/**
 * Query rewriting: words that no text has are replaced by the known words nearest to them, synonyms of the workspace are added, and
 * the word that somebody still types is taken for a beginning. What is in quotes or excluded stays as it was typed.
 */
import type { Client } from '../kernel/postgres/connection.ts'
import { editDistance } from '../kernel/text.ts'
import { fold, mapFreeText, wordsOf } from './hits.ts'
import type { Question } from './question.ts'
import type { Correction, UsedSynonym } from './shapes.ts'
import { rowTexts, visibleRows } from './table-hits.ts'

/** Shorter words have too many neighbours; words with digits are numbers and codes. */
const MIN_CORRECTED_LETTERS = 4
/** From this length on two letters may differ, below one. */
const TWO_EDITS_FROM = 8
/** From this length on the ending may be another one, too: `patern`, patterns. Of shorter words too many have such a neighbour: book, boots. */
const ENDING_FROM = 6
/** As fn_search_question. */
const MAX_REWRITTEN_WORDS = 32
/** Of the word that is being typed, as fn_search_completions takes it. */
const MAX_TYPED_LETTERS = 100
const MAX_SUGGESTIONS = 5
const COMPLETIONS_READ = 16
/** Of those that texts have; the others are looked at for those whose rows the caller may read. */
const COMPLETIONS_OF_TEXTS = 8
/** Of the words near to an unknown one that only rows have: their rows are read. */
const MAX_CHECKED_WORDS = 8

/** A word of a question that no text of the workspace has; `known`: words near to it, each with a chunk that has it. */
export interface UnknownWord {
  readonly word: string
  readonly stems: readonly string[]
  readonly known: readonly KnownWord[]
  /** Chunks of rows of tables, if only those have it. */
  readonly rows: readonly string[]
}

/** A chunk of a unit or document that has it, or else chunks of rows of tables: who may read one of those rows knows the word. */
interface KnownWord {
  readonly lexeme: string
  readonly chunks: number
  readonly chunk_id: string | null
  readonly rows: readonly string[]
}

/** A known word with a text that the caller may read. */
interface ReadableWord {
  readonly lexeme: string
  readonly chunks: number
  readonly chunk_id: string
  readonly isRow: boolean
}

interface QuestionWords {
  readonly unknown: readonly UnknownWord[]
  readonly synonyms: readonly { readonly word: string; readonly synonym: string }[]
}

export interface Rewritten {
  readonly question: Question
  readonly corrections: readonly Correction[]
  readonly synonyms: readonly UsedSynonym[]
}

/** Reads under the caller's rights. An exact question stays as it is, but for the word that is still typed. */
export async function rewriteQuestion(client: Client, question: Question): Promise<Rewritten> {
  const typed = withTypedPrefix(question)
  if (question.exact) return { question: typed, corrections: [], synonyms: [] }
  const { workspace_id, typesWord: typing } = question
  const first = await questionWords(client, workspace_id, freeWords(question.text), typing)
  const corrections = await correctionsOf(
    client,
    workspace_id,
    await withoutWordsOfRows(client, workspace_id, first.unknown),
  )
  const text = replaceWords(question.text, corrections)
  // A corrected word may have synonyms, too.
  const { synonyms: found } =
    corrections.length === 0 ? first : await questionWords(client, workspace_id, freeWords(text), typing)
  const synonyms = [...new Set(found.map(({ word }) => word))].map((word) => ({
    word,
    synonyms: found.flatMap((one) => (one.word === word ? [one.synonym] : [])),
  }))
  const added = synonyms.flatMap((one) => one.synonyms).join(' ')
  const corrected = withTypedPrefix({ ...question, text, asked: text })
  return {
    question: { ...corrected, asked: added === '' ? corrected.asked : `${corrected.asked} ${added}` },
    corrections,
    synonyms,
  }
}

/** The text with each corrected word replaced, outside of quotes. */
export function replaceWords(text: string, corrections: readonly Correction[]): string {
  if (corrections.length === 0) return text
  const known = new Map(corrections.map(({ word, replaced_by }) => [word, replaced_by]))
  return mapFreeText(text, (part) =>
    part.replace(/[\p{L}\p{N}\p{M}]+/gu, (word) => known.get(fold(word)) ?? word),
  )
}

/** The last word that nobody has ended by a blank, a quote or a star, as a word and as a beginning. */
function withTypedPrefix(question: Question): Question {
  const last = question.typesWord ? lastWord(question.text) : undefined
  return last === undefined ? question : { ...question, asked: `${question.text} ${last}*` }
}

function lastWord(text: string): string | undefined {
  const quotes = text.match(/["“”„«»]/g)?.length ?? 0
  // Of the end alone: at each letter of a long run the expression would look for its end.
  return quotes % 2 === 1 ? undefined : /[\p{L}\p{N}\p{M}]{2,}$/u.exec(text.slice(-MAX_TYPED_LETTERS))?.[0]
}

/** Words outside of quotes and without prefixes, in order. */
function freeWords(text: string): string[] {
  const words: string[] = []
  mapFreeText(text, (part) => {
    for (const token of part.split(/\s+/)) if (!token.endsWith('*')) words.push(...wordsOf(token))
    return part
  })
  return words.slice(0, MAX_REWRITTEN_WORDS)
}

async function questionWords(
  client: Client,
  workspace: string,
  words: readonly string[],
  typing: boolean,
): Promise<QuestionWords> {
  if (words.length === 0) return { unknown: [], synonyms: [] }
  const { rows } = await client.query<{ words: QuestionWords }>({
    name: 'search_question',
    text: 'select iu_core.fn_search_question($1, $2, $3) as words',
    values: [workspace, words, typing],
  })
  return rows[0]!.words
}

/** A word of a row is known to whoever may read it now, and to nobody else: a hidden row must not be told by what is corrected. */
export async function withoutWordsOfRows(
  client: Client,
  workspace: string,
  unknown: readonly UnknownWord[],
): Promise<UnknownWord[]> {
  const { visible } = await visibleRows(
    client,
    workspace,
    unknown.flatMap(({ rows }) => rows),
  )
  const readable = new Set(visible.map(({ chunk_id }) => chunk_id))
  return unknown.filter(({ rows }) => !rows.some((chunk) => readable.has(chunk)))
}

async function correctionsOf(
  client: Client,
  workspace: string,
  unknown: readonly UnknownWord[],
): Promise<Correction[]> {
  const near = unknown.map((one) => ({
    word: one.word,
    words: withFewOfRows(nearWords(one), MAX_CHECKED_WORDS),
  }))
  const readable = await readableWords(
    client,
    workspace,
    near.flatMap(({ words }) => words),
  )
  const meant = near.flatMap(({ word, words }) => {
    const known = words.map(({ lexeme }) => readable.get(lexeme)).find((one) => one !== undefined)
    return known === undefined ? [] : [{ word, known }]
  })
  const written = await writtenWords(
    client,
    workspace,
    meant.map(({ known }) => known),
  )
  return meant.flatMap(({ word, known }) => {
    const replaced_by = nearestTo(word, written.get(known.lexeme) ?? [known.lexeme])
    // Stems may be near to each other where the words are not: besides, resident.
    const ending = [...word].length < ENDING_FROM ? 0 : 1
    const isNear = editDistance(word, fold(replaced_by)) <= mostEdits(word) + ending
    return replaced_by === word || !isNear ? [] : [{ word, replaced_by }]
  })
}

/** By lexeme. Of words that only rows have, those of which the caller may read a row now that still says what it did. */
export async function readableWords(
  client: Client,
  workspace: string,
  known: readonly KnownWord[],
): Promise<Map<string, ReadableWord>> {
  const { visible } = await visibleRows(
    client,
    workspace,
    known.flatMap(({ chunk_id, rows }) => (chunk_id === null ? rows : [])),
  )
  const current = new Set(visible.filter((row) => row.is_as_projected).map((row) => row.chunk_id))
  return new Map(
    known.flatMap(({ lexeme, chunks, chunk_id, rows }): [string, ReadableWord][] => {
      if (chunk_id !== null) return [[lexeme, { lexeme, chunks, chunk_id, isRow: false }]]
      const seen = rows.filter((id) => current.has(id))
      return seen.length === 0
        ? []
        : [[lexeme, { lexeme, chunks: seen.length, chunk_id: seen[0]!, isRow: true }]]
    }),
  )
}

/** Words of texts, and the first of those that only rows have: whatever a caller may not read, it takes nobody's place. */
export function withFewOfRows(words: readonly KnownWord[], most: number): KnownWord[] {
  let left = most
  return words.filter(({ chunk_id }) => chunk_id !== null || left-- > 0)
}

/** The known words that an unknown one may have been meant to be, most probable first: fewest edits, then the same first letter, then most texts. */
function nearWords({ word, stems, known }: UnknownWord): KnownWord[] {
  if ([...word].length < MIN_CORRECTED_LETTERS || /\p{N}/u.test(word)) return []
  const most = mostEdits(word)
  const forms = [word, ...stems]
  const near = known.flatMap((one) => {
    const edits = Math.min(...forms.map((form) => editDistance(form, one.lexeme)))
    return edits > most ? [] : [{ one, edits, begins: one.lexeme[0] === word[0] ? 0 : 1 }]
  })
  near.sort((a, b) => a.edits - b.edits || a.begins - b.begins || b.one.chunks - a.one.chunks)
  return near.map(({ one }) => one)
}

function mostEdits(word: string): number {
  return [...word].length < TWO_EDITS_FROM ? 1 : 2
}

/** Lexemes as texts write them: `policies` for `polici`. */
export async function writtenWords(
  client: Client,
  workspace: string,
  known: readonly ReadableWord[],
): Promise<Map<string, string[]>> {
  const words = new Map<string, string[]>()
  if (known.length === 0) return words
  const ofRows = known.filter(({ isRow }) => isRow)
  const texts = await rowTexts(
    client,
    workspace,
    ofRows.map(({ chunk_id }) => chunk_id),
  )
  const { rows } = await client.query<{ lexeme: string; word: string }>(
    'select lexeme, word from iu_core.fn_search_written($1, $2, $3, $4)',
    [
      workspace,
      known.map(({ lexeme }) => lexeme),
      known.map(({ chunk_id }) => chunk_id),
      known.map(({ chunk_id }) => texts.get(chunk_id) ?? null),
    ],
  )
  for (const { lexeme, word } of rows) words.set(lexeme, [...(words.get(lexeme) ?? []), word])
  return words
}

export function nearestTo(word: string, words: readonly string[]): string {
  return words.toSorted(
    (a, b) => editDistance(word, fold(a)) - editDistance(word, fold(b)) || (a < b ? -1 : 1),
  )[0]!
}

/** The question with its last word completed, as texts write it; the most frequent words first. */
export async function suggestQuestions(client: Client, question: Question): Promise<string[]> {
  const { workspace_id, text } = question
  const last = question.typesWord ? lastWord(text) : undefined
  if (last === undefined) return []
  const { rows } = await client.query<KnownWord>(
    'select lexeme, chunks, chunk_id, rows from iu_core.fn_search_completions($1, $2, $3)',
    [workspace_id, last, COMPLETIONS_READ],
  )
  let left = COMPLETIONS_OF_TEXTS
  const few = rows.filter(({ chunk_id }) => chunk_id === null || left-- > 0)
  const readable = [...(await readableWords(client, workspace_id, few)).values()].sort(
    (a, b) => b.chunks - a.chunks || (a.lexeme < b.lexeme ? -1 : 1),
  )
  const written = await writtenWords(client, workspace_id, readable)
  const prefix = fold(last)
  const words = readable.flatMap(({ lexeme }) => {
    const some = (written.get(lexeme) ?? []).filter((word) => fold(word).startsWith(prefix))
    return some.length === 0 ? [] : [nearestTo(prefix, some)]
  })
  const others = [...new Set(words)].filter((word) => fold(word) !== prefix)
  return others.slice(0, MAX_SUGGESTIONS).map((word) => text.slice(0, text.length - last.length) + word)
}
