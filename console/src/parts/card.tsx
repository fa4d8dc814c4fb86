import type { ReactNode } from 'react'

interface Props {
  /** Names the section, and is where links from the rail lead. */
  readonly id: string
  readonly title: string
  readonly aside?: ReactNode
  readonly children: ReactNode
}

export function Card({ id, title, aside, children }: Props) {
  return (
    <section className="card" id={id} aria-labelledby={`${id}-title`}>
      <header className="card-head">
        <h2 id={`${id}-title`}>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  )
}
