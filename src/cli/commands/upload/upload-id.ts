import { UUID } from '../../../db/uuid.ts'
import { StagedoorError } from '../../../errors.ts'

/** An upload's id as a command's argument. */
export function uploadId(given: string): string {
  if (UUID.test(given)) return given
  throw new StagedoorError(
    'argument_invalid',
    { reason: `${given} is not an upload id` },
    { hint: '`stagedoor upload list` shows the uploads and their ids.' },
  )
}
