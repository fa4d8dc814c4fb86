import { UUID } from '../../../db/uuid.ts'
import { StagedoorError } from '../../../errors.ts'

/** A record's id as a command's argument. What PostgreSQL says of a malformed uuid says nothing about records. */
export function recordId(given: string): string {
  if (UUID.test(given)) return given
  throw new StagedoorError(
    'argument_invalid',
    { reason: `${given} is not a record id` },
    { hint: '`stagedoor staging list` shows the records and their ids.' },
  )
}
