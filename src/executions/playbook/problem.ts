/** What is wrong with a playbook, and where. */
import { StagedoorError } from '../../errors.ts'

export interface Problem {
  /** An error refuses the playbook, a warning does not. */
  readonly severity: 'error' | 'warning'
  /** From 1; absent for a playbook that was not read from text. */
  readonly line?: number
  readonly column?: number
  /** As in `steps[2].tools[0].args.url`. */
  readonly path: string
  readonly message: string
  readonly remedy?: string
}

/** Keys and places in lists, from the outside in. */
export type Place = readonly (string | number)[]

export interface Finding {
  readonly severity: 'error' | 'warning'
  readonly place: Place
  readonly message: string
  readonly remedy?: string
  /** It is about the key itself, not about what stands there. */
  readonly key?: boolean
  /** How far into the text that stands there. */
  readonly offset?: number
}

type About = Pick<Finding, 'remedy' | 'key' | 'offset'>

/** Collects, so that a person sees everything at once. */
export class Findings {
  readonly all: Finding[] = []

  error(place: Place, message: string, about: About = {}): void {
    this.all.push({ severity: 'error', place, message, ...about })
  }

  warning(place: Place, message: string, about: About = {}): void {
    this.all.push({ severity: 'warning', place, message, ...about })
  }

  get hasErrors(): boolean {
    return this.all.some(({ severity }) => severity === 'error')
  }
}

export function written(place: Place): string {
  let text = ''
  for (const key of place) {
    if (typeof key === 'number') text += `[${key}]`
    else if (/^[\w-]+$/.test(key)) text += text === '' ? key : `.${key}`
    else text += `[${JSON.stringify(key)}]`
  }
  return text
}

/** `12:5 steps[2].next: there is no step repar. Did you mean repair?` */
export function problemText({ line, column, path, message, remedy }: Problem): string {
  const at = line === undefined ? '' : `${line}:${column} `
  const about = path === '' ? '' : `${path}: `
  return `${at}${about}${message}${remedy === undefined ? '' : `. ${remedy}`}`
}

/** The one error for a playbook that cannot be used, with every problem in its details. */
export function playbookInvalid(playbook: string, problems: readonly Problem[]): StagedoorError {
  const errors = problems.filter(({ severity }) => severity === 'error')
  const first = errors[0]
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  const reason = first === undefined ? 'it is not valid' : problemText(first) + more
  return new StagedoorError('playbook_invalid', { playbook, reason, problems: errors.map(problemText) })
}
