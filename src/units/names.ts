/** Names that programs give: looked at before the database is asked, which would speak of the syntax of a uuid. */
import { UUID } from '../db/uuid.ts'
import { StagedoorError } from '../errors.ts'

export function requireUnitId(given: string): string {
  if (UUID.test(given)) return given
  throw new StagedoorError(
    'argument_invalid',
    { reason: `${given} is not the id of a unit` },
    {
      hint: 'By its address a unit is read as { workspace_id, canonical_address }; what is read has its unit_id.',
    },
  )
}

export function requireWorkspaceId(given: string): string {
  if (UUID.test(given)) return given
  throw new StagedoorError('argument_invalid', { reason: `${given} is not the id of a workspace` })
}

export function requireTime(given: Date): Date {
  if (given instanceof Date && !Number.isNaN(given.getTime())) return given
  throw new StagedoorError('argument_invalid', {
    reason: `asOf is a Date that is a time, not ${JSON.stringify(given)}`,
  })
}
