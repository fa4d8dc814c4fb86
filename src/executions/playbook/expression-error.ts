/** An expression or a template that cannot be compiled or computed; the message names it and says what is wrong. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError'
  readonly expression: string
  /** Where in the expression, counted from 0; absent when it is about the whole. */
  readonly offset?: number

  constructor(
    expression: string,
    reason: string,
    { offset, cause }: { offset?: number; cause?: unknown } = {},
  ) {
    super(`${shortened(expression)}: ${reason}`, { cause })
    this.expression = expression
    if (offset !== undefined) this.offset = offset
  }

  /** The message without the expression, for one who shows where it stands. */
  get reason(): string {
    return this.message.slice(shortened(this.expression).length + 2)
  }
}

function shortened(expression: string): string {
  const line = expression.trim().replaceAll(/\s+/g, ' ')
  return `\`${line.length > 120 ? `${line.slice(0, 117)}...` : line}\``
}
