import type { Gate, Gates } from '../api/types.ts'
import type { Polled } from '../live/use-polled.ts'
import { Ago } from '../parts/ago.tsx'
import { Breakable } from '../parts/breakable.tsx'
import { Card } from '../parts/card.tsx'
import { Chip } from '../parts/chip.tsx'
import { Command } from '../parts/command.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { Person } from '../parts/person.tsx'
import { inOrder, KNOWN_GATES, labelOf, stateOf } from './gates.ts'

/** Drawn before the first answer, so that nothing moves when it comes: the gates that every server has. */
const GATES_BEFORE_LOAD = 4

export function GatesCard({ gates }: { gates: Polled<Gates> }) {
  const read = gates.data?.gates
  return (
    <Card id="gates" title="Gates">
      <FailureNote failure={gates.failure} />
      <ul className="lines">
        {read === undefined
          ? KNOWN_GATES.slice(0, GATES_BEFORE_LOAD).map((known) => (
              <Line key={known.gate} name={known.gate} gate={undefined} />
            ))
          : inOrder(read).map((gate) => <Line key={gate.gate} name={gate.gate} gate={gate} />)}
      </ul>
      <div className="card-foot">
        <p className="tiny">An administrator opens or closes a gate by its name. Every change is recorded.</p>
        <Command text="npm run -s stagedoor -- gate list" />
      </div>
    </Card>
  )
}

function Line({ name, gate }: { name: string; gate: Gate | undefined }) {
  const state = stateOf(gate)
  return (
    <li id={`gate-${name}`}>
      <span className="line-state">
        <Chip tone={state?.tone ?? 'stale'}>{state?.word ?? 'loading…'}</Chip>
      </span>
      <span className="line-text">
        <b>{labelOf(name)}</b>
        <span className="muted">{gate === undefined ? '\u00a0' : `When open, ${gate.description}`}</span>
        <span className="tiny">
          <Change gate={gate} />
        </span>
        <details className="tiny">
          <summary>Name</summary>
          <Breakable name={name} />
        </details>
      </span>
    </li>
  )
}

function Change({ gate }: { gate: Gate | undefined }) {
  if (gate === undefined) return '–'
  if (gate.changed_at === null) return 'never changed'
  return (
    <>
      changed <Ago at={gate.changed_at} />
      {gate.changed_by !== null && (
        <>
          {' '}
          by <Person id={gate.changed_by} />
        </>
      )}
    </>
  )
}
