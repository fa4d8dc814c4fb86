/** Two edits at once: one wins, the other is told what changed. */
import type { Client } from '../db/connection.ts'
import { StagedoorError } from '../errors.ts'
import { diffUnit } from './history.ts'

/** One transaction, as whoever edits. */
export type Transaction = <T>(work: (client: Client) => Promise<T>) => Promise<T>

/**
 * Runs an edit; a conflict then carries `diff`, from the version that was expected to the current one. The edit's transaction is over
 * when that is known, so the two are read in another one: versions do not change.
 */
export async function withConflictDiff<T>(
  transaction: Transaction,
  edit: (client: Client) => Promise<T>,
): Promise<T> {
  try {
    return await transaction(edit)
  } catch (error) {
    throw isConflict(error) ? await explained(error, transaction) : error
  }
}

function isConflict(error: unknown): error is StagedoorError {
  return error instanceof StagedoorError && error.code === 'unit_version_conflict'
}

/** An expectation that never was a version has no text to compare with. */
async function explained(conflict: StagedoorError, transaction: Transaction): Promise<StagedoorError> {
  const { unit, expected_version: from, current_version: to } = conflict.details
  const found = await transaction((client) =>
    diffUnit(client, String(unit), { from: Number(from), to: Number(to) }),
  ).catch(() => undefined)
  if (!found) return conflict
  const { message, hint, cause } = conflict
  return new StagedoorError(
    conflict.code,
    { ...conflict.details, diff: found.diff },
    { message, hint, cause },
  )
}
