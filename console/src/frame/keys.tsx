import { useEffect, useState } from 'react'
import { PAGES } from '../pages.ts'
import { Dialog } from '../parts/dialog.tsx'
import { go } from '../route.ts'
import { Finder } from './finder.tsx'

/** After g: the letter of each room. */
const LETTERS: Readonly<Record<string, string>> = {
  o: '/',
  c: '/changes',
  u: '/uploads',
  r: '/records',
  p: '/promotions',
  n: '/units',
  e: '/events',
  s: '/consumers',
  j: '/jobs',
  x: '/executions',
  b: '/playbooks',
  f: '/search',
  h: '/health',
  t: '/settings/members',
  d: '/docs',
}
/** How long g waits for its letter. */
const LETTER_MS = 1_500

const ROOMS = Object.entries(LETTERS).flatMap(([letter, path]) => {
  const page = PAGES.find((one) => one.path === path)
  return page === undefined ? [] : [{ letter, path, title: page.title }]
})

type Open = 'finder' | 'help' | undefined

/** The keys of the whole console, and the button that shows the finder to those who use none. */
export function Keys() {
  const [open, setOpen] = useState<Open>()
  useEffect(() => listenForKeys(setOpen), [])
  const close = () => setOpen(undefined)
  return (
    <>
      <button type="button" className="button is-small top-find" onClick={() => setOpen('finder')}>
        Find<span className="top-find-more"> anything…</span> <span className="key">Ctrl K</span>
      </button>
      {open === 'finder' && <Finder close={close} />}
      {open === 'help' && <KeysHelp close={close} />}
    </>
  )
}

function listenForKeys(show: (open: Open) => void): () => void {
  let wentAt = Number.NEGATIVE_INFINITY
  const press = (event: KeyboardEvent) => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'k') {
      event.preventDefault()
      show('finder')
      return
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
    if ((event.target as Element).closest?.('input, textarea, select, dialog, [contenteditable]')) return
    const wentNow = event.timeStamp - wentAt < LETTER_MS
    wentAt = Number.NEGATIVE_INFINITY
    const room = wentNow ? ROOMS.find(({ letter }) => letter === event.key) : undefined
    if (room !== undefined) go(room.path)
    else if (event.key === 'g') wentAt = event.timeStamp
    else if (event.key === '?') show('help')
    // A page with a search field of its own takes the key; its listener may be called after this one.
    else if (event.key === '/') setTimeout(() => !event.defaultPrevented && show('finder'))
  }
  addEventListener('keydown', press)
  return () => removeEventListener('keydown', press)
}

const GENERAL: readonly (readonly [keys: string, what: string])[] = [
  ['Ctrl K', 'find anything by name or id'],
  ['/', 'the search field of the page, or the finder'],
  ['c', 'in a diff: comment on the row or cell that has the focus'],
  ['?', 'these keys'],
  ['Esc', 'close a dialog'],
]

function KeysHelp({ close }: { close(): void }) {
  return (
    <Dialog title="Keys" close={close}>
      <dl className="keys">
        {GENERAL.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
        {ROOMS.map(({ letter, title }) => (
          <div key={letter}>
            <dt>
              <kbd>g</kbd> <kbd>{letter}</kbd>
            </dt>
            <dd>go to {title}</dd>
          </div>
        ))}
      </dl>
      <div className="dialog-foot">
        <button type="button" className="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  )
}
