/**
 * Why something failed, in words that everybody may read: members see them as the error of a dead letter. What the database or
 * a library says may quote a text, so of theirs only the code is told.
 */
import { StagedoorError } from '../errors.ts'
import { EmbedderRefused, EmbedderUnavailable } from './embedders/embedder.ts'
import { StoreUnavailable } from './stores/store.ts'

const OURS = [EmbedderRefused, EmbedderUnavailable, StoreUnavailable]

export function reasonOf(error: unknown): string {
  if (OURS.some((kind) => error instanceof kind)) return (error as Error).message
  const state = sqlstateOf(error) ?? (error instanceof StagedoorError ? sqlstateOf(error.cause) : undefined)
  if (state !== undefined && !state.startsWith('SD'))
    return `The database did not take it (SQLSTATE ${state})`
  if (error instanceof StagedoorError) return error.message
  const { name, code } = error as { name?: string; code?: unknown }
  if (name === 'AbortError' || name === 'TimeoutError') return 'The time for it was up'
  if (state !== undefined) return `Stagedoor refused it (${state})`
  const kind = typeof code === 'string' && /^[A-Z][A-Z_]{2,40}$/.test(code) ? code : name
  return `It failed for a reason that nobody thought of (${kind ?? 'unknown'})`
}

function sqlstateOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | undefined)?.code
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && /[0-9]/.test(code) ? code : undefined
}
