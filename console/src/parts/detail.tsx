import type { ReactNode } from 'react'
import { useParameter } from '../route.ts'
import './detail.css'

interface Tab {
  readonly id: string
  readonly title: string
  /** A number beside the title. */
  readonly count?: string | number | undefined
  readonly content: ReactNode
}

interface Props {
  readonly title: string
  /** The list that it is one of. */
  readonly back: readonly [title: string, href: string]
  readonly chips?: ReactNode
  /** What can be done with it. */
  readonly actions?: ReactNode
  /** Beside the content where there is room, above it on a narrow screen. */
  readonly aside?: ReactNode
  /** The chosen one is kept in the address as `tab`. */
  readonly tabs?: readonly Tab[]
  readonly children?: ReactNode
}

/** The page of one thing: title and state, what can be done, facts beside it, tabs. */
export function Detail({ title, back, chips, actions, aside, tabs = [], children }: Props) {
  return (
    <div className="detail">
      <nav className="crumb" aria-label="Path">
        <a href={back[1]}>{back[0]}</a>
      </nav>
      <header className="detail-head">
        <h1>{title}</h1>
        {chips}
        {actions && <div className="detail-actions">{actions}</div>}
      </header>
      <div className={aside ? 'detail-body has-aside' : 'detail-body'}>
        {aside && <aside className="stack">{aside}</aside>}
        <div className="stack">
          {children}
          {tabs.length > 0 && <Tabs tabs={tabs} />}
        </div>
      </div>
    </div>
  )
}

function Tabs({ tabs }: { tabs: readonly Tab[] }) {
  const [asked, choose] = useParameter('tab')
  const shown = tabs.find(({ id }) => id === asked) ?? tabs[0]!
  return (
    <div>
      <div className="tab-list" role="tablist">
        {tabs.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            id={`tab-${tab.id}`}
            aria-selected={tab === shown}
            aria-controls={`panel-${tab.id}`}
            onClick={() => choose(tab === tabs[0] ? undefined : tab.id)}
          >
            {tab.title}
            {tab.count !== undefined && <span className="tiny"> {tab.count}</span>}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`panel-${shown.id}`} aria-labelledby={`tab-${shown.id}`}>
        {shown.content}
      </div>
    </div>
  )
}
