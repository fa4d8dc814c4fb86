/**
 * What a tool gave back, as JSON that PostgreSQL can hold. What JSON would change without a word (a Date, NaN, a Map) or
 * jsonb would refuse (NUL, half a character) is an error that names the place.
 */
import type { Json } from '../playbook/definition.ts'
import { ToolError } from '../tool.ts'

/** Deeper than any data, and well below the stack of those who walk it. */
const DEEPEST = 500
const NOT_HELD = /[\0\p{Surrogate}]/u

/** The same object unless a field of it is undefined: that field is left out, as JSON leaves it out. */
export function asJson(value: unknown): Json {
  return value === undefined ? null : checked(value, [])
}

type Place = (string | number)[]

function checked(value: unknown, place: Place): Json {
  switch (typeof value) {
    case 'boolean':
      return value
    case 'string':
      return checkedText(value, place)
    case 'number':
      if (!Number.isFinite(value)) throw refused(place, `is ${value}, which JSON cannot hold`)
      return value
    case 'object':
      return value === null ? null : checkedObject(value, place)
    case 'bigint':
      throw refused(place, 'is a BigInt; give back a string, or a number below 2^53')
    default:
      throw refused(place, `is ${value === undefined ? 'undefined' : `a ${typeof value}`}, which is not data`)
  }
}

function checkedText(text: string, place: Place): string {
  if (!NOT_HELD.test(text)) return text
  const what = text.includes('\0') ? 'the character NUL' : 'half of a surrogate pair'
  throw refused(place, `contains ${what}, which PostgreSQL cannot hold`)
}

function checkedObject(value: object, place: Place): Json {
  if (place.length > DEEPEST) {
    throw new ToolError(
      `The result is not JSON: it contains itself, or is nested deeper than ${DEEPEST} levels`,
    )
  }
  if (Array.isArray(value)) return checkedList(value, place)
  const prototype = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null) {
    return checkedMap(value as Record<string, unknown>, place)
  }
  if (value instanceof Date) throw refused(place, 'is a Date; give back its toISOString()')
  const kind = (value.constructor as { name?: string } | undefined)?.name || 'object of a class'
  throw refused(place, `is a ${kind}; give back plain objects and lists`)
}

function checkedList(list: readonly unknown[], place: Place): Json {
  for (let index = 0; index < list.length; index++) {
    place.push(index)
    const before = list[index]
    const after = checked(before, place)
    place.pop()
    if (after !== before) return copiedList(list, index, after, place)
  }
  return list as readonly Json[]
}

function copiedList(list: readonly unknown[], from: number, first: Json, place: Place): Json {
  const copy = [...(list.slice(0, from) as Json[]), first]
  for (let index = from + 1; index < list.length; index++) {
    place.push(index)
    copy.push(checked(list[index], place))
    place.pop()
  }
  return copy
}

function checkedMap(map: Record<string, unknown>, place: Place): Json {
  let copy: Record<string, Json> | undefined
  for (const key of Object.keys(map)) {
    place.push(key)
    checkedText(key, place)
    const before = map[key]
    if (before === undefined) {
      copy ??= { ...map } as Record<string, Json>
      delete copy[key]
    } else {
      const after = checked(before, place)
      if (after !== before) {
        copy ??= { ...map } as Record<string, Json>
        copy[key] = after
      }
    }
    place.pop()
  }
  return copy ?? (map as Record<string, Json>)
}

function refused(place: Place, reason: string): ToolError {
  const path = place.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('')
  return new ToolError(`The result is not JSON: result${shortened(path)} ${reason}`)
}

function shortened(path: string): string {
  return path.length > 200 ? `${path.slice(0, 100)}…${path.slice(-80)}` : path
}
