/** The stages that data passes through, in order. The navigation and the picture on the overview are drawn from this list. */
export interface Stage {
  readonly id: 'held' | 'production' | 'signals' | 'work' | 'projections'
  readonly name: string
  readonly purpose: string
}

export const STAGES: readonly Stage[] = [
  {
    id: 'held',
    name: 'Held',
    purpose: 'Files, API data and agents’ output wait here until a person approves them.',
  },
  {
    id: 'production',
    name: 'Production',
    purpose: 'Approved data is promoted into your tables in one transaction, and undone the same way.',
  },
  {
    id: 'signals',
    name: 'Signals',
    purpose: 'Every change records an event in the same transaction. Events start jobs.',
  },
  {
    id: 'work',
    name: 'Work',
    purpose: 'Playbooks run steps, loops and waits. Every step is logged.',
  },
  {
    id: 'projections',
    name: 'Projections',
    purpose: 'The search index is built from production. Every hit says how fresh it is.',
  },
]
