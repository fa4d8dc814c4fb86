import { useState } from 'react'
import { type Held, useHeld } from '../live/held.tsx'
import { PAGES, type Page } from '../pages.ts'
import { Brand } from '../parts/brand.tsx'
import { ROOMS } from '../rooms.ts'
import { usePath } from '../route.ts'

/** Parts of the overview that have a link of their own until they are pages. */
const SHORTCUTS: Record<string, readonly { title: string; href: string }[]> = {
  signals: [
    { title: 'Latest events', href: '/#events' },
    { title: 'Jobs', href: '/#jobs' },
  ],
  work: [{ title: 'Executions', href: '/#executions' }],
  projections: [{ title: 'Search', href: '/#search' }],
  system: [
    { title: 'Health', href: '/#health' },
    { title: 'Gates', href: '/#gates' },
    { title: 'API reference', href: '/api/docs' },
  ],
}

/** How much waits on a page, beside its name. */
const COUNTS: Record<string, (held: Held) => string> = {
  '/uploads': (held) => orMore(held.uploads.length, held.moreUploads),
  '/review': (held) =>
    orMore(held.waiting.length + held.records.length, held.moreWaiting || held.moreRecords),
}

function orMore(count: number, more: boolean): string {
  return count === 0 ? '' : `${count}${more ? '+' : ''}`
}

export function Rail() {
  // Only a narrow window has a menu to open; elsewhere the rail always stands open.
  const [open, setOpen] = useState(false)
  const close = () => setOpen(false)
  return (
    <nav className={open ? 'rail is-open' : 'rail'} aria-label="Rooms">
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
          <Links follow={close} pages={PAGES.filter((page) => page.room === undefined)} />
          <ol className="rail-rooms">
            {ROOMS.map((room) => (
              <li key={room.id} className="rail-room">
                <span className="rail-title">{room.name}</span>
                <Links
                  follow={close}
                  pages={PAGES.filter((page) => page.room === room.id)}
                  shortcuts={SHORTCUTS[room.id]}
                />
              </li>
            ))}
          </ol>
          <span className="rail-title">System</span>
          <Links
            follow={close}
            pages={PAGES.filter((page) => page.room === 'system')}
            shortcuts={SHORTCUTS.system}
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
  const { data: held } = useHeld()
  const shown = pages.filter((page) => !page.path.includes(':'))
  if (shown.length + shortcuts.length === 0) return null
  return (
    <ul>
      {shown.map((page) => (
        <li key={page.path}>
          <a href={page.path} onClick={follow} aria-current={currentness(page.path, path)}>
            {page.title}
            {held && <Count text={COUNTS[page.path]?.(held) ?? ''} />}
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
