import { type GateState, labelOf } from './gates.ts'

interface Gated {
  readonly kind: 'gate'
  readonly gate: string
}

interface Plain {
  readonly kind: 'plain'
  readonly about: string
}

/** From one stage to the next: through a gate that can be closed, or directly. */
export type Passage = Gated | Plain

export function GateLink({ passage, state }: { passage: Gated; state: GateState | undefined }) {
  const word = state?.word ?? 'loading…'
  return (
    <li className="passage">
      <a href={`#gate-${passage.gate}`} className={`gate is-${state?.tone ?? 'stale'}`}>
        <GateMark state={state} />
        <span className="gate-text">
          <span className="unseen">Gate: </span>
          {labelOf(passage.gate)} <b>{word}</b>
        </span>
      </a>
    </li>
  )
}

export function StepArrow({ passage }: { passage: Plain }) {
  return (
    <li className="passage">
      <span className="gate">
        <svg viewBox="0 0 26 26" aria-hidden="true">
          <path className="arrow" d="M6 13h13M14 8l5 5-5 5" />
        </svg>
        <span className="gate-text">
          <span>{passage.about}</span>
        </span>
      </span>
    </li>
  )
}

/** Open is a tick, closed a lowered bar, unknown an empty square. */
function GateMark({ state }: { state: GateState | undefined }) {
  return (
    <svg viewBox="0 0 26 26" aria-hidden="true">
      {state === undefined && <rect className="shape" x="3" y="3" width="20" height="20" rx="3" />}
      {state !== undefined && <circle className="shape" cx="13" cy="13" r="12" />}
      {state?.tone === 'ok' && <path className="sign" d="M8 13.5l3.4 3.4L18.5 9" />}
      {state?.tone === 'held' && <path className="sign" d="M7 13h12" />}
    </svg>
  )
}
