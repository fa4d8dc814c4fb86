import type { Problem } from './types.ts'

/** The server answered, and the answer is a refusal that it explains. */
export class ApiProblem extends Error {
  readonly status: number
  readonly code: string
  readonly hint: string
  readonly requestId: string
  /** What a page needs to go on; see the error. */
  readonly details: Readonly<Record<string, unknown>>

  constructor(problem: Partial<Problem>, status: number) {
    super(problem.detail || problem.title || `The server answered ${status} without an explanation.`)
    this.name = 'ApiProblem'
    this.status = status
    this.code = problem.code ?? 'unknown'
    this.hint = problem.hint ?? ''
    this.requestId = problem.request_id ?? ''
    this.details = problem.details ?? {}
  }
}

/** Nothing of Stagedoor answered: it is stopped, out of reach, or something in between answered instead. */
export class NoAnswer extends Error {
  constructor(reason: string, cause?: unknown) {
    super(reason, { cause })
    this.name = 'NoAnswer'
  }
}

export type Failure = ApiProblem | NoAnswer

/** What a promise rejects with may be anything; what is not a failure of the API is a bug and stays one. */
export function asFailure(thrown: unknown): Failure {
  if (thrown instanceof ApiProblem || thrown instanceof NoAnswer) return thrown
  throw thrown
}
