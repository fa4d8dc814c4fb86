import { type KeyboardEvent, useRef, useState } from 'react'
import type { Change } from '../api/changes.ts'
import type { Dataset, UploadDetail } from '../api/upload-types.ts'
import { Conversation } from '../changes/conversation.tsx'
import { count, counted } from '../parts/format.ts'
import { useParameter } from '../route.ts'
import { HistoryTab } from './history-tab.tsx'
import { LineageTab } from './lineage-tab.tsx'
import { PlanTab } from './plan/plan-tab.tsx'
import { useDraftCount } from './problems/drafts.ts'
import { ProblemsTab } from './problems/problems-tab.tsx'
import { RowsTab } from './rows/rows-tab.tsx'
import { invalidText } from './state.ts'
import type { MovedRows } from './use-stale.ts'

interface Props {
  readonly upload: UploadDetail
  /** Undefined: not read yet, or a dry run, which has none. */
  readonly change: Change | undefined
  /** Something of the change was changed: read it again. */
  changed(): void
  take(upload: UploadDetail): void
  readonly dataset: Dataset | undefined
  readonly stale: MovedRows | undefined
  /** These three: see ProblemsTab. */
  readonly toFirst: number
  readonly toSave: boolean
  saved(): void
}

const TABS = ['plan', 'conversation', 'problems', 'rows', 'lineage', 'history'] as const
type Tab = (typeof TABS)[number]

export function Tabs({ upload, change, changed, take, dataset, stale, toFirst, toSave, saved }: Props) {
  const [asked, setTab] = useParameter('tab')
  // The tab stays: correcting the last invalid line must not switch the tab while a person works in it. Until there is a plan, or the
  // reason why there is none, nobody knows which one it is.
  const [first, setFirst] = useState<Tab>()
  const isKnown = upload.status !== 'staged' || upload.plan_refusal !== null
  if (first === undefined && isKnown) setFirst(firstTab(upload))
  const tab = TABS.find((one) => one === asked) ?? first ?? firstTab(upload)
  const list = useRef<HTMLDivElement>(null)
  const unsaved = useDraftCount(upload.upload_id)

  function move(event: KeyboardEvent) {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (by === 0) return
    event.preventDefault()
    const next = TABS[(TABS.indexOf(tab) + by + TABS.length) % TABS.length]!
    setTab(next)
    list.current?.querySelector<HTMLElement>(`#tab-${next}`)?.focus()
  }

  return (
    <>
      <div className="tabs" role="tablist" aria-label="Views of the upload" ref={list} onKeyDown={move}>
        {TABS.map((one) => (
          <button
            key={one}
            id={`tab-${one}`}
            type="button"
            role="tab"
            aria-selected={one === tab}
            aria-controls="tab-panel"
            tabIndex={one === tab ? 0 : -1}
            onClick={() => setTab(one)}
          >
            {one[0]?.toUpperCase() + one.slice(1)}
            <TabCount tab={one} upload={upload} />
            {one === 'conversation' && change !== undefined && change.comment_count > 0 && (
              <span className="tiny"> {count(change.comment_count)}</span>
            )}
            {one === 'problems' && unsaved > 0 && <span className="tiny"> · {unsaved} unsaved</span>}
          </button>
        ))}
      </div>
      <div id="tab-panel" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {tab === 'plan' && <PlanTab upload={upload} change={change} dataset={dataset} stale={stale} />}
        {tab === 'conversation' &&
          (change === undefined ? (
            <p className="empty">
              {upload.change === null
                ? 'A dry run is not reviewed, so nobody talks about it here.'
                : 'Loading…'}
            </p>
          ) : (
            <Conversation change={change} changed={changed} />
          ))}
        {tab === 'problems' && (
          <ProblemsTab upload={upload} take={take} toFirst={toFirst} toSave={toSave} saved={saved} />
        )}
        {tab === 'rows' && <RowsTab upload={upload} take={take} />}
        {tab === 'lineage' && <LineageTab upload={upload} />}
        {tab === 'history' && <HistoryTab upload={upload} />}
      </div>
    </>
  )
}

/** The tab that is shown first: problems if invalid lines block the plan, else the plan. */
function firstTab(upload: UploadDetail): Tab {
  return upload.plan_refusal !== null && (upload.invalid_count ?? 0) > 0 ? 'problems' : 'plan'
}

function TabCount({ tab, upload }: { tab: Tab; upload: UploadDetail }) {
  if (tab === 'rows' && upload.line_count !== null)
    return <span className="tiny"> {count(upload.line_count)}</span>
  if (tab !== 'problems') return null
  if (upload.invalid_count) {
    const { text, open } = invalidText(upload)
    return <span className={open ? 'tiny is-wrong' : 'tiny'}> {text}</span>
  }
  return upload.warning_count ? (
    <span className="tiny"> {counted(upload.warning_count, 'warning')}</span>
  ) : null
}
