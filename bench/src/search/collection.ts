/**
 * A collection in Cranfield's format: documents and questions as records of `.I`, `.T`, `.W` …, and a list of which document
 * answers which question. A question is known by its place in the file: in Cranfield's list the numbers are places.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { BenchError, EXIT_BAD_INPUT } from '../errors.ts'

export interface Collection {
  readonly documents: readonly { readonly id: string; readonly title?: string; readonly text: string }[]
  readonly questions: readonly {
    readonly text: string
    /** Ids of documents. Every judged pair counts alike. */
    readonly answers: ReadonlySet<string>
  }[]
}

const FILES = {
  documents: /\.all(\.\d+)?$/i,
  questions: /\.qry$|^query\.text$/i,
  judgements: /qrels?$|\.rel$|^qrels\.text$/i,
}

export function readCollection(folder: string): Collection {
  const file = (kind: keyof typeof FILES): string => {
    const found = listed(folder).find((name) => FILES[kind].test(name))
    if (found === undefined) throw unusable(`${folder} has no file of ${kind}.`)
    return readFileSync(join(folder, found), 'utf8')
  }
  const answers = readJudgements(file('judgements'))
  const documents = readRecords(file('documents')).map(({ id, title, words }) => ({
    id,
    // Units have titles of one line.
    ...(title !== '' && { title: title.replace(/\s+/g, ' ').slice(0, 500) }),
    // Cranfield's text begins with its title; elsewhere it stands by itself.
    text: words.startsWith(title) ? words : `${title}\n\n${words}`,
  }))
  const questions = readRecords(file('questions')).map(({ words }, place) => ({
    text: words,
    answers: answers.get(place + 1) ?? new Set<string>(),
  }))
  const judged = questions.filter((question) => question.answers.size > 0)
  if (documents.length === 0 || judged.length === 0) {
    throw unusable(`${folder} has ${documents.length} documents and ${judged.length} questions with answers.`)
  }
  return { documents, questions: judged }
}

/** The folders in a folder that hold a collection each. */
export function collectionsIn(folder: string): string[] {
  const found = listed(folder)
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isDirectory() && listed(path).some((name) => FILES.questions.test(name)))
  if (found.length === 0) throw unusable(`${folder} has no folder with a collection.`)
  return found
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch (cause) {
    throw unusable(`${folder} cannot be read: ${(cause as NodeJS.ErrnoException).code ?? cause}.`)
  }
}

interface Entry {
  id: string
  title: string
  words: string
}

export function readRecords(text: string): Entry[] {
  const entries: Entry[] = []
  let field = ''
  for (const line of text.split(/\r?\n/)) {
    const begins = /^\.([A-Z])(?:\s+(.*))?$/.exec(line)
    if (begins) field = begins[1]!
    if (begins && field === 'I') entries.push({ id: String(Number(begins[2])), title: '', words: '' })
    const entry = entries.at(-1)
    if (begins || !entry) continue
    if (field === 'T') entry.title += `${line}\n`
    if (field === 'W') entry.words += `${line}\n`
  }
  return entries.map(({ id, title, words }) => ({ id, title: title.trim(), words: words.trim() }))
}

/** `question document …`, or as TREC writes it: `question 0 document relevance`. */
export function readJudgements(text: string): Map<number, Set<string>> {
  const lines = text
    .split(/\r?\n/)
    .map((line) => line.trim().split(/\s+/).map(Number))
    .filter((numbers) => numbers.length >= 2)
  const trec = lines.every((numbers) => numbers.length === 4 && numbers[1] === 0)
  const answers = new Map<number, Set<string>>()
  for (const numbers of lines) {
    if (trec && numbers[3]! <= 0) continue
    const question = numbers[0]!
    const known = answers.get(question) ?? new Set()
    answers.set(question, known.add(String(trec ? numbers[2] : numbers[1])))
  }
  return answers
}

function unusable(message: string): BenchError {
  return new BenchError(message, {
    remedy:
      'A collection in Cranfield’s format has three files: cran.all.1400, cran.qry and cranqrel, or alike.',
    exitCode: EXIT_BAD_INPUT,
  })
}
