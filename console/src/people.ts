import { useSyncExternalStore } from 'react'

/** Names of people and of files as the server has sent them so far: an event has only their ids. */
let known: Readonly<Record<string, string>> = {}
const listeners = new Set<() => void>()

export function learnNames(names: Readonly<Record<string, string | null>>): void {
  const fresh = Object.entries(names).filter(([id, name]) => name && known[id] !== name)
  if (fresh.length === 0) return
  known = { ...known, ...(Object.fromEntries(fresh) as Record<string, string>) }
  for (const listener of listeners) listener()
}

export function useNames(): Readonly<Record<string, string>> {
  return useSyncExternalStore(subscribe, () => known)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** The end of a uuid tells ids of one day apart, its beginning does not. */
export function shortId(id: string): string {
  return UUID.test(id) ? `…${id.slice(-6)}` : id
}

/** Through whom somebody acted, in brackets: a login of the server and the id of whoever made a token say nothing to people. */
export function viaText(via: string | null): string {
  return via === null || via.startsWith('stagedoor_') || UUID.test(via) ? '' : ` (${via})`
}
