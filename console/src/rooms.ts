/** The rooms in the order in which data passes. Navigation and picture are both drawn from this list. */
export interface Room {
  readonly id: 'held' | 'production' | 'signals' | 'work' | 'projections'
  readonly name: string
  /** What the room does; in the future tense until it does it. */
  readonly purpose: string
  /** False: the room is drawn as not built yet and nothing leads into it. */
  readonly built: boolean
}

export const ROOMS: readonly Room[] = [
  {
    id: 'held',
    name: 'Held',
    purpose: 'Files, API pulls and agents’ output wait here until a person approves them.',
    built: true,
  },
  {
    id: 'production',
    name: 'Production',
    purpose: 'What was approved is promoted into your tables in one transaction, and undone the same way.',
    built: true,
  },
  {
    id: 'signals',
    name: 'Signals',
    purpose: 'Events, recorded in the very transaction that makes the change.',
    built: true,
  },
  {
    id: 'work',
    name: 'Work',
    purpose: 'Events will start jobs and long-running executions here.',
    built: false,
  },
  {
    id: 'projections',
    name: 'Projections',
    purpose: 'Search will be built here from production, and will say how fresh it is.',
    built: false,
  },
]
