/** Synonyms of a workspace, and the log of its questions without hits. */
import type { Queryable } from '../kernel/postgres/connection.ts'
import type { MissedLog, MissedQuestion, Synonyms } from './shapes.ts'

export interface NewSynonyms {
  readonly word: string
  readonly synonyms: readonly string[]
  /** Questions with a synonym also ask for the word. */
  readonly both?: boolean
}

/** For those who administer. Returns how many were new. */
export async function addSynonyms(
  db: Queryable,
  workspace: string,
  { word, synonyms, both = false }: NewSynonyms,
): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'select iu_core.fn_search_synonym_add($1, $2, $3, $4) as count',
    [workspace, word, synonyms, both],
  )
  return rows[0]!.count
}

export interface OldSynonyms extends Omit<NewSynonyms, 'synonyms'> {
  /** Default: all of the word. */
  readonly synonyms?: readonly string[] | undefined
}

/** For those who administer. Returns how many there were. */
export async function deleteSynonyms(
  db: Queryable,
  workspace: string,
  { word, synonyms, both = false }: OldSynonyms,
): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'select iu_core.fn_search_synonym_delete($1, $2, $3, $4) as count',
    [workspace, word, synonyms ?? null, both],
  )
  return rows[0]!.count
}

/** By word; `after` is the last word of the page before. */
export async function listSynonyms(
  db: Queryable,
  workspace: string,
  { limit = 100, after }: { limit?: number; after?: string | undefined } = {},
): Promise<Synonyms[]> {
  const { rows } = await db.query<Synonyms>('select * from iu_core.fn_search_synonyms($1, $2, $3)', [
    workspace,
    limit,
    after ?? null,
  ])
  return rows
}

export async function missedLog(db: Queryable, workspace: string): Promise<MissedLog> {
  const { rows } = await db.query<{ log: MissedLog }>('select iu_core.fn_search_log($1) as log', [workspace])
  return rows[0]!.log
}

/** For those who administer. Off deletes the log. Returns whether anything changed. */
export async function setMissedLog(
  db: Queryable,
  workspace: string,
  { on, days }: { on: boolean; days?: number | undefined },
): Promise<boolean> {
  const { rows } = await db.query<{ changed: boolean }>(
    'select iu_core.fn_search_log_set($1, $2, $3) as changed',
    [workspace, on, days ?? null],
  )
  return rows[0]!.changed
}

/** For those who administer: they are what others typed. Those asked most often come first. */
export async function missedQuestions(
  db: Queryable,
  workspace: string,
  { limit = 100 }: { limit?: number } = {},
): Promise<MissedQuestion[]> {
  const { rows } = await db.query<MissedQuestion>('select * from iu_core.fn_search_missed($1, $2)', [
    workspace,
    limit,
  ])
  return rows
}
