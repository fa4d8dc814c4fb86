import { Fragment, type ReactNode } from 'react'
import type { EventPage, Gate } from '../api/types.ts'
import type { Uploads } from '../api/upload-types.ts'
import type { Held } from '../live/held.tsx'
import type { Work } from '../live/work.ts'
import { ROOMS, type Room } from '../rooms.ts'
import { DISPATCH, STAGING_CLEANUP, STAGING_EXCLUDED, STAGING_WRITES, stateOf } from './gates.ts'
import { HeldFacts } from './held-facts.tsx'
import { GatePassage, type Passage, PlainPassage } from './passage.tsx'
import { ProductionFacts } from './production-facts.tsx'
import { SignalsFacts } from './signals-facts.tsx'
import { ProjectionsFacts, WorkFacts } from './work-facts.tsx'

/** What stands before each room. */
const PASSAGES: Record<Room['id'], Passage> = {
  held: { kind: 'gate', gate: STAGING_WRITES, about: 'Gate into Held' },
  production: { kind: 'plain', about: 'a person approves' },
  signals: { kind: 'plain', about: 'same transaction' },
  work: { kind: 'gate', gate: DISPATCH, about: 'Gate between Signals and Work' },
  projections: { kind: 'gate', gate: STAGING_EXCLUDED, about: 'Gate between Production and Projections' },
}

interface Props {
  readonly gates: readonly Gate[] | undefined
  readonly events: EventPage | undefined
  readonly held: Held | undefined
  readonly promoted: Uploads | undefined
  readonly work: Work | undefined
}

export function Flow({ gates, events, held, promoted, work }: Props) {
  const find = (name: string) => gates?.find((gate) => gate.gate === name)
  return (
    <ol className="flow" aria-label="Rooms and gates in the order of the data">
      {ROOMS.map((room) => {
        const passage = PASSAGES[room.id]
        return (
          <Fragment key={room.id}>
            {passage.kind === 'gate' ? (
              <GatePassage passage={passage} state={stateOf(find(passage.gate))} />
            ) : (
              <PlainPassage passage={passage} />
            )}
            <RoomCard room={room}>
              {room.id === 'held' && (
                <HeldFacts held={held}>
                  <CleanupFact gate={find(STAGING_CLEANUP)} />
                </HeldFacts>
              )}
              {room.id === 'production' && <ProductionFacts promoted={promoted} />}
              {room.id === 'signals' && <SignalsFacts page={events} work={work} />}
              {room.id === 'work' && <WorkFacts work={work} />}
              {room.id === 'projections' && <ProjectionsFacts work={work} />}
            </RoomCard>
          </Fragment>
        )
      })}
    </ol>
  )
}

function RoomCard({ room, children }: { room: Room; children: ReactNode }) {
  return (
    <li className="card room">
      <h2>{room.name}</h2>
      <p>{room.purpose}</p>
      {children}
    </li>
  )
}

/** Cleanup leads out of Held to nowhere, so its gate stands inside the room. */
function CleanupFact({ gate }: { gate: Gate | undefined }) {
  const state = stateOf(gate)
  return (
    <div>
      <dt>
        <a href={`#gate-${STAGING_CLEANUP}`}>cleanup gate</a>
      </dt>
      <dd className={state && `is-word is-${state.tone}`}>{state?.word ?? '–'}</dd>
    </div>
  )
}
