import { Chip, type Tone } from '../parts/chip.tsx'
import type { Filter } from '../parts/list.tsx'

export type State = 'disabled' | 'dry_run' | 'reviewed' | 'active'

const STATES: Record<State, { tone: Tone; word: string }> = {
  disabled: { tone: 'stale', word: 'disabled' },
  dry_run: { tone: 'held', word: 'dry run' },
  reviewed: { tone: 'held', word: 'reviewed' },
  active: { tone: 'ok', word: 'active' },
}

/** Of a route or a consumer. */
export function StateChip({ state }: { state: State }) {
  return <Chip tone={STATES[state].tone}>{STATES[state].word}</Chip>
}

export const STATE_FILTER: Filter = {
  name: 'state',
  label: 'Status',
  options: [
    ['active', 'active'],
    ['dry_run', 'in dry run'],
    ['disabled', 'disabled'],
  ],
}

/** What was reviewed stays in its dry run until it is activated. */
export function hasState(asked: string | undefined, state: State): boolean {
  return asked === undefined || asked === (state === 'reviewed' ? 'dry_run' : state)
}

/** Both belong to one room: routes make events, consumers make jobs of them. */
export function RoomTabs({ current }: { current: 'consumers' | 'routes' }) {
  return (
    <nav className="room-tabs" aria-label="Consumers and routes">
      <a href="/consumers" aria-current={current === 'consumers' ? 'page' : undefined}>
        Consumers: events make jobs
      </a>
      <a href="/routes" aria-current={current === 'routes' ? 'page' : undefined}>
        Routes: changes of tables make events
      </a>
    </nav>
  )
}
