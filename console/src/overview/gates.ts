import type { Gate } from '../api/types.ts'
import type { Tone } from '../parts/chip.tsx'

/** A plain label for each gate; its technical name is shown in the details of the gates card. */
interface KnownGate {
  readonly gate: string
  readonly label: string
}

export interface GateState {
  readonly tone: Tone & ('ok' | 'held')
  readonly word: string
}

const OPEN: GateState = { tone: 'ok', word: 'open' }
const CLOSED: GateState = { tone: 'held', word: 'closed' }

export const STAGING_WRITES = 'iu_core.staging_writes_enabled'
export const STAGING_CLEANUP = 'iu_core.staging_cleanup_enabled'
export const DISPATCH = 'queue.consumer_dispatch.enabled'
export const STAGING_EXCLUDED = 'iu_core.no_vector_staging_excluded'

/** In the order in which data passes them. */
export const KNOWN_GATES: readonly KnownGate[] = [
  { gate: STAGING_WRITES, label: 'Uploads and staging' },
  { gate: STAGING_CLEANUP, label: 'Cleanup of staging' },
  { gate: DISPATCH, label: 'Events start jobs' },
  // Open: everything but staged data is indexed. Closed: nothing is.
  { gate: STAGING_EXCLUDED, label: 'Search indexing' },
  { gate: 'search.phase_1.enabled', label: 'Search phase 1: index units' },
  { gate: 'search.phase_2.enabled', label: 'Search phase 2: include the old knowledge base' },
  { gate: 'search.phase_3.enabled', label: 'Search phase 3: smaller chunks' },
]

/** Undefined: not read yet, or the server has no such gate. */
export function stateOf(gate: Gate | undefined): GateState | undefined {
  if (gate === undefined) return undefined
  return gate.open ? OPEN : CLOSED
}

/** A gate that the console does not know is shown by its technical name. */
export function labelOf(name: string): string {
  return KNOWN_GATES.find((known) => known.gate === name)?.label ?? name
}

/** The server's gates in the order in which data passes them, unknown ones last. */
export function inOrder(gates: readonly Gate[]): Gate[] {
  const rank = (gate: Gate) => {
    const index = KNOWN_GATES.findIndex((known) => known.gate === gate.gate)
    return index === -1 ? KNOWN_GATES.length : index
  }
  return [...gates].sort((a, b) => rank(a) - rank(b) || a.gate.localeCompare(b.gate))
}
