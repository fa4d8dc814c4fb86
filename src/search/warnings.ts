/** Warnings of search answers and hits: what is wrong, and what the reader can do. */
import type { Caution } from './ranking.ts'

interface WarningContext {
  readonly canonical_address?: string | undefined
  /** Which version's text is shown, and which one is current. */
  readonly version_no?: number | undefined
  readonly current_version_no?: number | undefined
}

const QUIET = 'about 2 minutes after an edit'

/** About a unit in the hits. */
export function unitWarning(
  caution: Caution,
  { version_no: shown, current_version_no: current }: WarningContext,
): string {
  const isOlder = shown !== undefined && current !== undefined && shown < current
  const shows = `Shows version ${shown}; version ${current}`
  switch (caution) {
    case 'unit_pending':
      return isOlder
        ? `${shows} is not in search yet (${QUIET}).`
        : `Shows its newest text; it is being indexed (${QUIET}).`
    case 'unit_stale':
      return isOlder
        ? `${shows} has waited too long to be indexed: \`stagedoor search status\` says why.`
        : 'Its text has waited too long to be indexed: `stagedoor search status` says why.'
    case 'unit_error':
      return isOlder
        ? `${shows} could not be indexed: \`stagedoor search dead-letters\` says why.`
        : 'Its text could not be indexed: `stagedoor search dead-letters` says why.'
    case 'document_stale':
      return 'The document that it was cut from has changed since it was indexed.'
    case 'document_error':
      return 'The document that it was cut from could not be indexed: `stagedoor search dead-letters` says why.'
  }
}

/** About a document of the old knowledge base in the hits, and the units cut from it. */
export function documentWarning(caution: Caution, { canonical_address: unit }: WarningContext): string {
  switch (caution) {
    case 'document_stale':
      return `It has changed since it was indexed; the new text follows (${QUIET}).`
    case 'document_error':
      return 'Its newest text could not be indexed: `stagedoor search dead-letters` says why.'
    case 'unit_pending':
      return `A part of it, the unit ${unit}, has a text that is not indexed yet (${QUIET}).`
    case 'unit_stale':
      return `A part of it, the unit ${unit}, has a newer text than the index: \`stagedoor unit show ${unit}\`.`
    case 'unit_error':
      return `A part of it, the unit ${unit}, could not be indexed: \`stagedoor search dead-letters\` says why.`
  }
}

/** About a row of a table in the hits. */
export function rowWarning(state: 'pending' | 'error'): string {
  return state === 'pending'
    ? `The row has changed since it was indexed; its text as it is now follows (${QUIET}).`
    : 'The row could not be indexed: `stagedoor search dead-letters` says why.'
}

export const tableStopped = (table: string, reason: string): string =>
  `${table} is not searched: ${reason}. It goes on by itself when that is corrected.`
export const tableUnreadable = (table: string, problem: string): string =>
  `Rows of ${table} are not shown: they could not be read (${problem}).`
export const tableDenied = (table: string): string =>
  `Rows of ${table} are not shown: you do not have the right to read the table. \`stagedoor search show-table ${table}\` prints the GRANT for its owner.`

/** About the whole answer. */
export const ANSWER_WARNINGS = {
  embedderDown: 'Keyword hits only: the embedder is unreachable. Search again later for hits by meaning.',
  embedderSlow: 'Keyword hits only: the embedder took too long. Search again for hits by meaning.',
  embedderRefused:
    'Keyword hits only: the embedder did not return a usable vector for this question. Try other or fewer words; if every question fails, check its model and dimension.',
  embedderUnknown:
    'Keyword hits only: the embedder of the collection is not configured here. `stagedoor search status` says what it needs.',
  storeDown: 'Keyword hits only: the vector store is unreachable. Search again later for hits by meaning.',
  rerankerDown: 'In the order of the index: the reranker is unreachable.',
  rerankerSlow: 'In the order of the index: the reranker took too long.',
  rerankerRefused:
    'In the order of the index: the reranker did not return a usable answer. Check RERANK_URL and RERANK_MODEL.',
  stopWords: 'The question has only common words: add a more specific word.',
  noWords: 'The question has no searchable word: enter a few words.',
  onlyExcluded: 'The question only excludes words: add what it should find.',
  manyExcluded: 'The question excludes too much: only its first 64 exclusions were applied.',
  phraseNowhere: 'No text has the quoted phrase: these hits were found without the quotes.',
  manyHidden:
    'Only the 1,000 texts that have most of these words were looked at for rows that you may read. Ask for more specific words.',
  nothingFits:
    'Nothing fits well: the best hits have few words of the question. Ask in other words, or what you look for is not here.',
  changedSince:
    'Texts have changed since the first page: no hit comes twice, but one that moved up may be missing. Ask again for a new list.',
  listEnds: 'Only the 1,000 best hits are counted, sorted and listed: ask more precisely for others.',
  manyWords: 'The question is long: only its 64 rarest words were used.',
  legacyByText:
    'The old knowledge base is searched by keywords only: its embedder (text-embedding-3-small) and Qdrant are not configured here.',
  legacyDown: 'The old knowledge base is searched by keywords only: its vectors are unreachable.',
  legacyRefused:
    'The old knowledge base is searched by keywords only: its embedder rejected this question. Try other or fewer words.',
  phaseTwo:
    'The old knowledge base is not searched: phase 2 is closed. `stagedoor search phase 2 open` adds it.',
  phaseOne: 'Units are not indexed: phase 1 is closed. `stagedoor search phase 1 open` starts it.',
  excluded:
    'Nothing new is indexed: the gate iu_core.no_vector_staging_excluded is closed. An administrator can open it.',
} as const
