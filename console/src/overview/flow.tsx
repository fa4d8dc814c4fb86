import { Fragment, type ReactNode } from 'react'
import type { EventPage, Gate } from '../api/types.ts'
import type { Uploads } from '../api/upload-types.ts'
import type { PendingWork } from '../live/pending-work.tsx'
import type { Work } from '../live/work.ts'
import { STAGES, type Stage } from '../stages.ts'
import { EventsFacts } from './events-facts.tsx'
import { GateLink, type Passage, StepArrow } from './gate-link.tsx'
import { DISPATCH, STAGING_CLEANUP, STAGING_EXCLUDED, STAGING_WRITES, stateOf } from './gates.ts'
import { ProductionFacts } from './production-facts.tsx'
import { StagingFacts } from './staging-facts.tsx'
import { PlaybooksFacts, SearchFacts } from './work-facts.tsx'

/** How data gets into each stage. */
const PASSAGES: Record<Stage['id'], Passage> = {
  held: { kind: 'gate', gate: STAGING_WRITES },
  production: { kind: 'plain', about: 'a person approves' },
  signals: { kind: 'plain', about: 'same transaction' },
  work: { kind: 'gate', gate: DISPATCH },
  projections: { kind: 'gate', gate: STAGING_EXCLUDED },
}

interface Props {
  readonly gates: readonly Gate[] | undefined
  readonly events: EventPage | undefined
  readonly pendingWork: PendingWork | undefined
  readonly promoted: Uploads | undefined
  readonly work: Work | undefined
}

export function Flow({ gates, events, pendingWork, promoted, work }: Props) {
  const find = (name: string) => gates?.find((gate) => gate.gate === name)
  return (
    <ol className="flow" aria-label="Stages and gates in the order in which data passes">
      {STAGES.map((stage) => {
        const passage = PASSAGES[stage.id]
        return (
          <Fragment key={stage.id}>
            {passage.kind === 'gate' ? (
              <GateLink passage={passage} state={stateOf(find(passage.gate))} />
            ) : (
              <StepArrow passage={passage} />
            )}
            <StageCard stage={stage}>
              {stage.id === 'held' && (
                <StagingFacts pendingWork={pendingWork}>
                  <CleanupFact gate={find(STAGING_CLEANUP)} />
                </StagingFacts>
              )}
              {stage.id === 'production' && <ProductionFacts promoted={promoted} />}
              {stage.id === 'signals' && <EventsFacts page={events} work={work} />}
              {stage.id === 'work' && <PlaybooksFacts work={work} />}
              {stage.id === 'projections' && <SearchFacts work={work} />}
            </StageCard>
          </Fragment>
        )
      })}
    </ol>
  )
}

function StageCard({ stage, children }: { stage: Stage; children: ReactNode }) {
  return (
    <li className="card stage">
      <h2>{stage.name}</h2>
      <p>{stage.purpose}</p>
      {children}
    </li>
  )
}

/** Cleanup leads to no other stage, so its gate is shown inside Staging. */
function CleanupFact({ gate }: { gate: Gate | undefined }) {
  const state = stateOf(gate)
  return (
    <div>
      <dt>
        <a href={`#gate-${STAGING_CLEANUP}`}>cleanup</a>
      </dt>
      <dd className={state && `is-word is-${state.tone}`}>{state?.word ?? '–'}</dd>
    </div>
  )
}
