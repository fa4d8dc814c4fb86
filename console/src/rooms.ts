/** The rooms in the order in which data passes. Navigation and picture are both drawn from this list. */
export interface Room {
  readonly id: 'held' | 'production' | 'signals' | 'work' | 'projections'
  readonly name: string
  readonly purpose: string
}

export const ROOMS: readonly Room[] = [
  {
    id: 'held',
    name: 'Held',
    purpose: 'Files, API pulls and agents’ output wait here until a person approves them.',
  },
  {
    id: 'production',
    name: 'Production',
    purpose: 'What was approved is promoted into your tables in one transaction, and undone the same way.',
  },
  {
    id: 'signals',
    name: 'Signals',
    purpose: 'Events, recorded in the transaction that makes the change, and the jobs they start.',
  },
  {
    id: 'work',
    name: 'Work',
    purpose: 'Playbooks run here: steps, loops and waits on an append-only log.',
  },
  {
    id: 'projections',
    name: 'Projections',
    purpose: 'Search is built from production. It says how fresh it is.',
  },
]
