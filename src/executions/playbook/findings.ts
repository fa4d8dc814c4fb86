/** Findings: the problems of a playbook and their places. */
import { MAX_DURATION_MS, parseDuration } from '../../kernel/duration.ts'
import { StagedoorError } from '../../kernel/errors.ts'
import type { Json, JsonObject } from '../../kernel/json.ts'
import { didYouMean } from '../../kernel/text.ts'

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

type FindingDetails = Pick<Finding, 'remedy' | 'key' | 'offset'>

/** Collects, so that a person sees everything at once. */
export class Findings {
  readonly all: Finding[] = []

  error(place: Place, message: string, about: FindingDetails = {}): void {
    this.all.push({ severity: 'error', place, message, ...about })
  }

  warning(place: Place, message: string, about: FindingDetails = {}): void {
    this.all.push({ severity: 'warning', place, message, ...about })
  }

  get hasErrors(): boolean {
    return this.all.some(({ severity }) => severity === 'error')
  }
}

export function pathText(place: Place): string {
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

export function isMap(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The fields of a written map, read one by one. A wrong field is a finding, and the others are still read. */
export class Fields {
  readonly map: JsonObject
  readonly place: Place
  readonly findings: Findings

  private constructor(map: JsonObject, place: Place, findings: Findings) {
    this.map = map
    this.place = place
    this.findings = findings
  }

  /** Undefined, with a finding, for what is no map. `known` are the keys that may stand in it. */
  static of(
    value: Json | undefined,
    { place, findings }: Pick<Fields, 'place' | 'findings'>,
    what: string,
    known: readonly string[],
  ): Fields | undefined {
    if (!isMap(value)) {
      findings.error(place, `${what} is written as a map of ${known.slice(0, 4).join(', ')} …`)
      return undefined
    }
    for (const key of Object.keys(value)) {
      if (known.includes(key)) continue
      const remedy =
        didYouMean(key, known) ?? `Known are ${known.filter((one) => !one.endsWith('_ms')).join(', ')}`
      findings.error([...place, key], `${what} has no ${key}`, { key: true, remedy })
    }
    return new Fields(value, place, findings)
  }

  has(key: string): boolean {
    return Object.hasOwn(this.map, key)
  }

  value(key: string): Json | undefined {
    return this.has(key) ? this.map[key] : undefined
  }

  at(key: string): Place {
    return [...this.place, key]
  }

  error(key: string, message: string, remedy?: string): undefined {
    this.findings.error(this.at(key), message, remedy === undefined ? {} : { remedy })
    return undefined
  }

  text(key: string, maxLength = 10_000): string | undefined {
    const value = this.value(key)
    if (value === undefined) return undefined
    if (typeof value !== 'string') return this.error(key, `${key} is a text`, 'Put it in quotes')
    if (value.trim() === '') return this.error(key, `${key} is empty`)
    if (value.length > maxLength) return this.error(key, `${key} is longer than ${maxLength} characters`)
    return value
  }

  required(key: string, what: string): boolean {
    if (this.has(key)) return true
    this.findings.error(this.place, `${what} needs ${key}`)
    return false
  }

  flag(key: string, otherwise: boolean): boolean {
    const value = this.value(key)
    if (value === undefined) return otherwise
    if (typeof value === 'boolean') return value
    this.error(key, `${key} is true or false`)
    return otherwise
  }

  whole(key: string, min: number, max: number): number | undefined {
    const value = this.value(key)
    if (value === undefined) return undefined
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value
    return this.error(key, `${key} is a whole number from ${min} to ${max}`)
  }

  choice<Choice extends string>(key: string, known: readonly Choice[]): Choice | undefined {
    const value = this.value(key)
    if (value === undefined) return undefined
    const found = known.find((one) => one === value)
    if (found !== undefined) return found
    const meant = typeof value === 'string' ? didYouMean(value, known) : undefined
    return this.error(key, `${key} is one of ${known.join(', ')}`, meant)
  }

  /** `key` in words, or `key`_ms as it is run. */
  duration(key: string, least: number): number | undefined {
    const exact = `${key}_ms`
    if (this.has(exact)) return this.whole(exact, least, MAX_DURATION_MS)
    const value = this.value(key)
    if (value === undefined) return undefined
    const found = typeof value === 'string' ? parseDuration(value.trim()) : undefined
    if (found === undefined) return this.error(key, `${key} is a duration such as 500ms, 30s, 5m, 2h or 2d`)
    if (found < least) return this.error(key, `${key} must be longer than nothing`)
    if (found > MAX_DURATION_MS) return this.error(key, `${key} is longer than 366 days`)
    return found
  }
}
