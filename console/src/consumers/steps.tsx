import type { ReactNode } from 'react'
import './consumers.css'

export interface Step {
  readonly title: string
  /** Where it stands: done, to do now, or later. */
  readonly state: 'done' | 'now' | 'later'
  readonly children?: ReactNode
}

/** The way from registered to active: what is done, what to do now, and who can do it. */
export function Steps({ steps }: { steps: readonly Step[] }) {
  return (
    <ol className="guide">
      {steps.map(({ title, state, children }, index) => (
        <li
          key={title}
          className={`guide-step is-${state}`}
          aria-current={state === 'now' ? 'step' : undefined}
        >
          <span className="guide-mark" aria-hidden="true">
            {state === 'done' ? '✓' : index + 1}
          </span>
          <div>
            <b>{title}</b>
            <span className="unseen">
              {state === 'done' ? ' (done)' : state === 'later' ? ' (later)' : ''}
            </span>
            {children}
          </div>
        </li>
      ))}
    </ol>
  )
}
