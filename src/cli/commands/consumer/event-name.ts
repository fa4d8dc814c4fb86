import { InvalidArgumentError } from 'commander'

/** staging.record_created → domain staging, type record_created; a type may have dots of its own. */
export function eventName(given: string): { domain: string; type: string } {
  const [, domain, type] = /^([a-z_]+)\.([a-z][a-z0-9_.]*)$/.exec(given) ?? []
  if (domain !== undefined && type !== undefined) return { domain, type }
  throw new InvalidArgumentError('An event as domain.type, like staging.record_created.')
}
