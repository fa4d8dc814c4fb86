/** An expected failure: shown as its message and remedy, without a stack. */
export class BenchError extends Error {
  readonly remedy: string
  readonly exitCode: number

  constructor(message: string, options: { remedy: string; exitCode: number; cause?: unknown }) {
    super(message, { cause: options.cause })
    this.name = 'BenchError'
    this.remedy = options.remedy
    this.exitCode = options.exitCode
  }
}

/** The product's exit codes for the same things. */
export const EXIT_BAD_INPUT = 2
export const EXIT_ENVIRONMENT = 9
