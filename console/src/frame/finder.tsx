import { type KeyboardEvent, useDeferredValue, useState } from 'react'
import type { Found } from '../api/types.ts'
import { useLiveQuery } from '../live/live.tsx'
import { PAGES } from '../pages.ts'
import { Dialog } from '../parts/dialog.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { go } from '../route.ts'

interface Result {
  readonly kind: string
  readonly title: string
  readonly detail: string | null
  readonly path: string
}

const PATHS: Record<Found['kind'], (id: string) => string> = {
  change: (id) => `/changes/${id}`,
  upload: (id) => `/uploads/${id}`,
  record: (id) => `/records/${id}`,
  job: (id) => `/jobs/${id}`,
  execution: (id) => `/executions/${id}`,
  event: (id) => `/events/${id}`,
  unit: (id) => `/units/${id}`,
  playbook: (id) => `/playbooks/${encodeURIComponent(id)}`,
  dataset: () => '/settings/datasets',
}

/** Finds pages by their title at once, and everything else by name or id on the server. */
export function Finder({ close }: { close(): void }) {
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const asked = useDeferredValue(text.trim())
  const answer = useLiveQuery(['search', 'find', asked], (api) => api.find(asked), { enabled: asked !== '' })
  const found = asked === '' ? [] : (answer.data?.found ?? [])
  const results = [...pagesNamed(asked), ...found.map(toResult)]
  const current = results[Math.min(chosen, results.length - 1)]

  function open(result: Result | undefined) {
    if (result === undefined) return
    close()
    go(result.path)
  }

  function press(event: KeyboardEvent) {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) {
      event.preventDefault()
      setChosen((before) => Math.max(0, Math.min(results.length - 1, before + step)))
    } else if (event.key === 'Enter') {
      event.preventDefault()
      open(current)
    }
  }

  return (
    <Dialog title="Find anything" close={close}>
      <input
        type="search"
        className="finder-field"
        aria-label="Name or id"
        placeholder="A file, a record, a unit, #128, an id…"
        role="combobox"
        aria-expanded={results.length > 0}
        aria-controls="finder-results"
        aria-activedescendant={current && `found-${results.indexOf(current)}`}
        maxLength={200}
        autoFocus
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          setChosen(0)
        }}
        onKeyDown={press}
      />
      <FailureNote failure={answer.failure} />
      <div id="finder-results" className="finder-results" role="listbox" aria-label="Found">
        {results.map((result, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the focus and takes the keys
          <div
            key={result.path}
            id={`found-${index}`}
            className="finder-result"
            role="option"
            tabIndex={-1}
            aria-selected={result === current}
            onClick={() => open(result)}
          >
            <span className="trace-kind">{result.kind}</span>
            <b>{result.title}</b>
            {result.detail !== null && <span className="tiny">{result.detail}</span>}
          </div>
        ))}
      </div>
      <p className="tiny" role="status">
        {results.length === 0 && asked !== '' && !answer.loading
          ? 'Nothing has this name or id, or you may not see it.'
          : '↑ ↓ choose, Enter opens, Esc closes.'}
      </p>
    </Dialog>
  )
}

function toResult({ kind, id, title, detail }: Found): Result {
  return { kind, title, detail, path: PATHS[kind](id) }
}

function pagesNamed(text: string): Result[] {
  return PAGES.filter(
    ({ path, title, stage }) =>
      (stage !== undefined || path === '/') && title.toLowerCase().includes(text.toLowerCase()),
  ).map(({ path, title }) => ({ kind: 'page', title, detail: null, path }))
}
