import type { Gate } from '../api/types.ts'
import type { Tone } from '../parts/chip.tsx'

/** What the console knows of a gate beyond what the server says: where it stands and what its states mean. */
interface GateMeaning {
  readonly gate: string
  readonly place: string
  readonly on: GateState
  readonly off: GateState
}

export interface GateState {
  readonly tone: Tone & ('ok' | 'held')
  readonly word: string
  /** What the picture says in place of the word, where the word alone would mislead. */
  readonly said?: string
}

const OPEN: GateState = { tone: 'ok', word: 'open' }
const CLOSED: GateState = { tone: 'held', word: 'closed' }

export const STAGING_WRITES = 'iu_core.staging_writes_enabled'
export const STAGING_CLEANUP = 'iu_core.staging_cleanup_enabled'
export const DISPATCH = 'queue.consumer_dispatch.enabled'
export const STAGING_EXCLUDED = 'iu_core.no_vector_staging_excluded'

/** In the order in which data meets them. */
export const KNOWN_GATES: readonly GateMeaning[] = [
  { gate: STAGING_WRITES, place: 'into Held', on: OPEN, off: CLOSED },
  { gate: STAGING_CLEANUP, place: 'cleanup of Held', on: OPEN, off: CLOSED },
  { gate: DISPATCH, place: 'Signals to Work', on: OPEN, off: CLOSED },
  // Closed, this one lets nothing at all into search; open, everything but what is staged.
  {
    gate: STAGING_EXCLUDED,
    place: 'Production to Projections',
    on: { ...OPEN, said: 'staging excluded' },
    off: CLOSED,
  },
]

/** Undefined: not read yet, or the server has no such gate. */
export function stateOf(gate: Gate | undefined): GateState | undefined {
  if (gate === undefined) return undefined
  const meaning = KNOWN_GATES.find((known) => known.gate === gate.gate)
  return gate.open ? (meaning?.on ?? OPEN) : (meaning?.off ?? CLOSED)
}

export function placeOf(name: string): string | undefined {
  return KNOWN_GATES.find((known) => known.gate === name)?.place
}

/** The server's gates in the order of the data, those that we do not know last. */
export function inOrder(gates: readonly Gate[]): Gate[] {
  const rank = (gate: Gate) => {
    const index = KNOWN_GATES.findIndex((known) => known.gate === gate.gate)
    return index === -1 ? KNOWN_GATES.length : index
  }
  return [...gates].sort((a, b) => rank(a) - rank(b) || a.gate.localeCompare(b.gate))
}
