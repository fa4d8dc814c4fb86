/** Two ends that are found out in the middle of a decision. */
import { ExpressionError } from '../playbook/expressions.ts'
import { KeepNeeded, ValueNeeded } from './decision.ts'

const LONGEST = 4_000

/** The execution fails here. */
export class PlaybookFailure extends Error {
  override readonly name = 'PlaybookFailure'
  readonly node_name: string | undefined
  readonly from: string | undefined
  constructor(message: string, node_name?: string, from?: string) {
    super(shortened(message))
    this.node_name = node_name
    this.from = from
  }
}

/** The step (or the item) cannot begin; its on_error decides. */
export class InputFailure extends Error {
  override readonly name = 'InputFailure'
  constructor(message: string) {
    super(shortened(message))
  }
}

/** In words; what asks the driver for a value is no failure and goes on up. */
export function reasonOf(thrown: unknown): string {
  const needed = thrown instanceof ExpressionError ? thrown.cause : thrown
  if (needed instanceof ValueNeeded || needed instanceof KeepNeeded) throw needed
  return thrown instanceof Error ? thrown.message : String(thrown)
}

export function shortened(message: string): string {
  return message.length > LONGEST ? `${message.slice(0, LONGEST - 3)}...` : message
}
