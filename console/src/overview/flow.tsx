import { Fragment, type ReactNode } from 'react'
import type { EventPage, Gate, OverviewFacts } from '../api/types.ts'
import type { Uploads } from '../api/upload-types.ts'
import type { PendingWork } from '../live/pending-work.tsx'
import { countOf, type Work } from '../live/work.ts'
import { Chip, type Tone } from '../parts/chip.tsx'
import { count } from '../parts/format.ts'
import { STAGES, type Stage } from '../stages.ts'
import { EventsFacts } from './events-facts.tsx'
import { GateLink, type Passage, StepArrow } from './gate-link.tsx'
import { DISPATCH, STAGING_CLEANUP, STAGING_EXCLUDED, STAGING_WRITES, stateOf } from './gates.ts'
import { ProductionFacts } from './production-facts.tsx'
import { StagingFacts } from './staging-facts.tsx'
import { upTo } from './work-cards.tsx'
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
  readonly facts: OverviewFacts | undefined
  readonly gates: readonly Gate[] | undefined
  readonly events: EventPage | undefined
  readonly pendingWork: PendingWork | undefined
  readonly promoted: Uploads | undefined
  readonly work: Work | undefined
}

/** The way of the data: each stage with its count, its rate, what waits longest, and its trouble. */
export function Flow({ facts, gates, events, pendingWork, promoted, work }: Props) {
  const find = (name: string) => gates?.find((gate) => gate.gate === name)
  const states = statesOf(pendingWork, facts, work)
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
            <StageCard stage={stage} state={states[stage.id]}>
              {stage.id === 'held' && (
                <StagingFacts pendingWork={pendingWork} facts={facts}>
                  <CleanupFact gate={find(STAGING_CLEANUP)} />
                </StagingFacts>
              )}
              {stage.id === 'production' && <ProductionFacts promoted={promoted} facts={facts} />}
              {stage.id === 'signals' && <EventsFacts page={events} work={work} facts={facts} />}
              {stage.id === 'work' && <PlaybooksFacts work={work} facts={facts} />}
              {stage.id === 'projections' && <SearchFacts work={work} facts={facts} />}
            </StageCard>
          </Fragment>
        )
      })}
    </ol>
  )
}

interface StageState {
  readonly tone: Tone
  readonly word: string
}

const CALM: StageState = { tone: 'ok', word: 'in order' }
const UNKNOWN: StageState = { tone: 'stale', word: 'loading…' }

/** Trouble first, then what is in hand. */
function statesOf(
  pendingWork: PendingWork | undefined,
  facts: OverviewFacts | undefined,
  work: Work | undefined,
): Record<Stage['id'], StageState> {
  const waiting = pendingWork && pendingWork.waiting.length + pendingWork.records.length
  return {
    held: waiting === undefined ? UNKNOWN : waiting > 0 ? { tone: 'held', word: `${waiting} waiting` } : CALM,
    production: facts === undefined ? UNKNOWN : CALM,
    signals:
      work === undefined
        ? UNKNOWN
        : work.dead.rows.length > 0
          ? { tone: 'bad', word: `${countOf(work.dead)} dead` }
          : CALM,
    work:
      work === undefined
        ? UNKNOWN
        : work.failed.rows.length > 0
          ? { tone: 'bad', word: `${countOf(work.failed)} failed` }
          : work.executing.rows.length > 0
            ? { tone: 'work', word: `${countOf(work.executing)} running` }
            : CALM,
    projections:
      work === undefined
        ? UNKNOWN
        : work.search.failed > 0
          ? { tone: 'bad', word: `${upTo(work.search.failed)} failed` }
          : work.search.pending > 0
            ? { tone: 'stale', word: `${upTo(work.search.pending)} pending` }
            : CALM,
  }
}

function StageCard({ stage, state, children }: { stage: Stage; state: StageState; children: ReactNode }) {
  return (
    <li className="card stage">
      <div className="stage-head">
        <h2>{stage.name}</h2>
        <Chip tone={state.tone}>{state.word}</Chip>
      </div>
      <p>{stage.purpose}</p>
      {children}
    </li>
  )
}

/** One line of a stage. */
export function Fact({ name, href, children }: { name: string; href?: string; children: ReactNode }) {
  return (
    <div>
      <dt>{href === undefined ? name : <a href={href}>{name}</a>}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** Up to ten thousand are counted. */
export function rate(value: number | undefined): string {
  if (value === undefined) return '–'
  return value >= 10_000 ? `${count(10_000)}+` : count(value)
}

/** Cleanup leads to no other stage, so its gate is shown inside Held. */
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
