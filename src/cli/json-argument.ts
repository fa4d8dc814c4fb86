import { InvalidArgumentError } from 'commander'

/** A JSON object on the command line. */
export function jsonObject(given: string): Record<string, unknown> {
  try {
    const value = JSON.parse(given)
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value
  } catch {}
  throw new InvalidArgumentError(`A JSON object, as '{"report_id": "r1"}'.`)
}

/** a,b, c → a b c */
export function commaList(given: string): string[] {
  const list = given.split(',').map((one) => one.trim())
  if (list.includes('')) throw new InvalidArgumentError('Names, separated by commas.')
  return list
}
