/**
 * JSON as CEL sees it, and back. CEL tells whole numbers (BigInt here) from doubles (Number here), JSON does not: a whole
 * number is an int, so that `args.n == 3` and `list[args.n]` mean what they say.
 */
import { Optional } from '@marcbachmann/cel-js'
import { Duration, UnsignedInt } from '@marcbachmann/cel-js/evaluator'
import { FORMAT_STEPS, spend } from './budget.ts'
import type { Json } from './definition.ts'

/** What the language has no value for; the caller knows the expression. */
export class ValueError extends Error {}

/** The same object when nothing in it is a whole number: most results pass uncopied. */
export function toCel(value: Json): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return listToCel(value)
  return mapToCel(value as { readonly [key: string]: Json })
}

function listToCel(list: readonly Json[]): readonly unknown[] {
  spend(list.length >> 3)
  let copy: unknown[] | undefined
  for (let index = 0; index < list.length; index++) {
    const before = list[index] as Json
    const after = toCel(before)
    if (copy === undefined && after !== before) copy = list.slice(0, index)
    copy?.push(after)
  }
  return copy ?? list
}

function mapToCel(map: { readonly [key: string]: Json }): unknown {
  spend(1)
  // The library knows a map by its constructor: one with such a key of its own would be taken for something else.
  if (Object.hasOwn(map, 'constructor') || Object.hasOwn(map, '__proto__')) {
    const entries = Object.entries(map)
    spend(entries.length)
    return new Map(entries.map(([key, value]) => [key, toCel(value)]))
  }
  let copy: Record<string, unknown> | undefined
  let keys = 0
  for (const key in map) {
    if (++keys > FEW_KEYS) spend(1)
    const before = map[key] as Json
    const after = toCel(before)
    if (after === before) continue
    copy ??= { ...map }
    copy[key] = after
  }
  return copy ?? map
}

/** A map with few keys counts as one value: most are rows. */
const FEW_KEYS = 8

export function fromCel(value: unknown): Json {
  switch (typeof value) {
    case 'string':
      spend(value.length >> 4)
      return value
    case 'boolean':
      return value
    case 'bigint':
      return wholeNumber(value)
    case 'number':
      if (!Number.isFinite(value)) throw new ValueError(`the result is ${value}, which JSON cannot hold`)
      return value
    case 'object':
      return value === null ? null : objectFromCel(value)
    default:
      throw new ValueError(`the result is a ${typeof value}, which is no value`)
  }
}

function wholeNumber(value: bigint): number {
  const number = Number(value)
  if (Number.isSafeInteger(number)) return number
  throw new ValueError(`${value} is beyond 2^53, where JSON numbers are no longer exact; use string(...)`)
}

/** Parts may be shared and the whole much larger than what was computed: it is counted as it will be written. */
function objectFromCel(value: object): Json {
  spend(1)
  if (Array.isArray(value)) return listFromCel(value)
  if (value instanceof Map) return mapFromCel(value)
  if (value instanceof Optional) return value.hasValue() ? fromCel(value.value()) : null
  if (value instanceof Date) return value.toISOString()
  if (value instanceof UnsignedInt) return wholeNumber(value.valueOf())
  if (value instanceof Duration) {
    spend(FORMAT_STEPS)
    return value.toString()
  }
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  const prototype = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null)
    return plainFromCel(value as Record<string, unknown>)
  throw new ValueError('the result is neither data nor a time; a field of it may be meant')
}

function listFromCel(list: readonly unknown[]): Json {
  spend(list.length >> 3)
  let copy: Json[] | undefined
  for (let index = 0; index < list.length; index++) {
    const after = fromCel(list[index])
    if (copy === undefined && after !== list[index]) copy = list.slice(0, index) as Json[]
    copy?.push(after)
  }
  return copy ?? (list as readonly Json[])
}

function mapFromCel(map: ReadonlyMap<unknown, unknown>): Json {
  spend(map.size)
  return Object.fromEntries([...map].map(([key, value]) => [String(key), fromCel(value)]))
}

function plainFromCel(map: Record<string, unknown>): Json {
  let copy: Record<string, Json> | undefined
  let keys = 0
  for (const key in map) {
    if (++keys > FEW_KEYS) spend(1)
    const after = fromCel(map[key])
    if (after === map[key]) continue
    copy ??= { ...map } as Record<string, Json>
    copy[key] = after
  }
  return copy ?? (map as Record<string, Json>)
}
