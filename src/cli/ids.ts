import { UUID } from '../db/uuid.ts'
import { StagedoorError } from '../errors.ts'

/** Parses an id; `shown` is the command that lists them. */
export function idOf(what: string, shown: string): (given: string) => string {
  return (given) => {
    if (UUID.test(given)) return given.toLowerCase()
    throw new StagedoorError(
      'argument_invalid',
      { reason: `${given} is not the id of ${what}` },
      { hint: `\`${shown}\` shows the ids.` },
    )
  }
}

/** The same for an argument that may be given several times. */
export function idsOf(what: string, shown: string): (given: string, before?: string[]) => string[] {
  const parse = idOf(what, shown)
  return (given, before = []) => [...before, parse(given)]
}
