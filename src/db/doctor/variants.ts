/** What is rightly not the same everywhere. */
import type { Entry } from './catalogue.ts'

/**
 * iu_core.fn_time_uuid() calls uuidv7() where PostgreSQL has it and is written out where not (0001_foundation).
 * A database that was upgraded to 18 keeps the written-out one, so either is right on any version.
 */
const WRITTEN_OUT: Entry['attributes'] = {
  language: 'plpgsql',
  settings: ['search_path=pg_catalog, pg_temp'],
  source: '5b236589b54048ef2dee077aad01cf90f34d5608b8bbd3330eff26b4e8ff5832',
}

export function acceptedForms(entry: Entry): [Entry, ...Entry[]] {
  if (entry.kind !== 'function' || entry.name !== 'iu_core.fn_time_uuid()') return [entry]
  return [entry, { ...entry, attributes: { ...entry.attributes, ...WRITTEN_OUT } }]
}

const MAINTAIN_SINCE = 170000

/** An expectation from the newest server as an older one can meet it. */
export function forServer(entries: readonly Entry[], version: number): Entry[] {
  if (version >= MAINTAIN_SINCE) return [...entries]
  return entries.map((entry) => {
    const { privileges } = entry.attributes
    if (entry.kind !== 'grant' || !Array.isArray(privileges)) return entry
    const known = privileges.filter((privilege: string) => !privilege.startsWith('MAINTAIN'))
    return { ...entry, attributes: { ...entry.attributes, privileges: known } }
  })
}
