import type { ReactNode } from 'react'
import './detail.css'

/** Names and values, one below the other; a value that is undefined leaves its line out. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="fact-list">
      {facts
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value ?? <span className="tiny">none</span>}</dd>
          </div>
        ))}
    </dl>
  )
}
