/** The fields of a written map, read one by one; what is wrong with one is a finding, and the others are still read. */
import type { Json, JsonObject } from './definition.ts'
import { LONGEST_MS, milliseconds } from './duration.ts'
import type { Findings, Place } from './problem.ts'
import { didYouMean } from './suggestion.ts'

export function isMap(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

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
    place: Place,
    findings: Findings,
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

  text(key: string, most = 10_000): string | undefined {
    const value = this.value(key)
    if (value === undefined) return undefined
    if (typeof value !== 'string') return this.error(key, `${key} is a text`, 'Put it in quotes')
    if (value.trim() === '') return this.error(key, `${key} is empty`)
    if (value.length > most) return this.error(key, `${key} is longer than ${most} characters`)
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

  whole(key: string, least: number, most: number): number | undefined {
    const value = this.value(key)
    if (value === undefined) return undefined
    if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value
    return this.error(key, `${key} is a whole number from ${least} to ${most}`)
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
    if (this.has(exact)) return this.whole(exact, least, LONGEST_MS)
    const value = this.value(key)
    if (value === undefined) return undefined
    const found = typeof value === 'string' ? milliseconds(value.trim()) : undefined
    if (found === undefined) return this.error(key, `${key} is a duration such as 500ms, 30s, 5m, 2h or 2d`)
    if (found < least) return this.error(key, `${key} must be longer than nothing`)
    if (found > LONGEST_MS) return this.error(key, `${key} is longer than 366 days`)
    return found
  }
}
