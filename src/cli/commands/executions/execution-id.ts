import { StagedoorError } from '../../../errors.ts'

const LARGEST = 9_223_372_036_854_775_807n

export function executionId(given: string): string {
  if (/^\d{1,19}$/.test(given) && BigInt(given) <= LARGEST) return String(BigInt(given))
  throw new StagedoorError(
    'argument_invalid',
    { reason: `${given} is not the id of an execution` },
    { hint: '`stagedoor executions list` shows the ids.' },
  )
}

/** The same for an argument that may be given several times. */
export function executionIds(given: string, before: string[] = []): string[] {
  return [...before, executionId(given)]
}
