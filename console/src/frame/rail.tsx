import { useState } from 'react'
import { type PendingWork, usePendingWork } from '../live/pending-work.tsx'
import { PAGES, type Page } from '../pages.ts'
import { Brand } from '../parts/brand.tsx'
import { usePath } from '../route.ts'
import { STAGES } from '../stages.ts'

/** Pages of the system that are not the console's. */
const API_REFERENCE = [{ title: 'API reference', href: '/api/v1/docs' }]

/** The number of waiting items of a page, next to its name. */
const COUNTS: Record<string, (pendingWork: PendingWork) => string> = {
  '/uploads': (pendingWork) => orMore(pendingWork.uploads.length, pendingWork.moreUploads),
  '/changes': (pendingWork) =>
    orMore(
      pendingWork.waiting.length + pendingWork.records.length,
      pendingWork.moreWaiting || pendingWork.moreRecords,
    ),
}

function orMore(count: number, more: boolean): string {
  return count === 0 ? '' : `${count}${more ? '+' : ''}`
}

export function Rail() {
  // Only a narrow window has a menu to open; elsewhere the rail always stands open.
  const [open, setOpen] = useState(false)
  const close = () => setOpen(false)
  return (
    <nav className={open ? 'rail is-open' : 'rail'} aria-label="Navigation">
      <div className="rail-inner">
        <div className="rail-head">
          <Brand />
          <button
            type="button"
            className="button is-small rail-menu"
            aria-expanded={open}
            aria-controls="rail-list"
            onClick={() => setOpen(!open)}
          >
            Menu
          </button>
        </div>
        <div className="rail-list" id="rail-list">
          <Links follow={close} pages={PAGES.filter((page) => page.path === '/')} />
          <ol className="rail-stages">
            {STAGES.map((stage) => (
              <li key={stage.id} className="rail-stage">
                <span className="rail-title">{stage.name}</span>
                <Links follow={close} pages={PAGES.filter((page) => page.stage === stage.id)} />
              </li>
            ))}
          </ol>
          <span className="rail-title">System</span>
          <Links
            follow={close}
            pages={PAGES.filter((page) => page.stage === 'system')}
            shortcuts={API_REFERENCE}
          />
        </div>
      </div>
    </nav>
  )
}

interface LinksProps {
  /** Called when a link is followed. */
  follow(): void
  readonly pages: readonly Page[]
  readonly shortcuts?: readonly { title: string; href: string }[] | undefined
}

function Links({ follow, pages, shortcuts = [] }: LinksProps) {
  const path = usePath()
  const { data: pendingWork } = usePendingWork()
  const shown = pages.filter((page) => !page.path.includes(':'))
  if (shown.length + shortcuts.length === 0) return null
  return (
    <ul>
      {shown.map((page) => (
        <li key={page.path}>
          <a href={page.path} onClick={follow} aria-current={currentness(page.path, path)}>
            {page.title}
            {pendingWork && <Count text={COUNTS[page.path]?.(pendingWork) ?? ''} />}
          </a>
        </li>
      ))}
      {shortcuts.map((shortcut) => (
        <li key={shortcut.href}>
          <a href={shortcut.href} onClick={follow}>
            {shortcut.title}
          </a>
        </li>
      ))}
    </ul>
  )
}

/** On the page of one upload one is still in Uploads. */
function currentness(page: string, path: string): 'page' | 'true' | undefined {
  if (page === path) return 'page'
  return page !== '/' && path.startsWith(`${page}/`) ? 'true' : undefined
}

function Count({ text }: { text: string }) {
  if (text === '') return null
  return (
    <span className="rail-count">
      <span className="unseen">, </span>
      {text}
    </span>
  )
}
