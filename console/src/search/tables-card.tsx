import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { SearchTable } from '../api/types.ts'
import { useLiveQuery } from '../live/live.tsx'
import { ActionDialog } from '../parts/action-dialog.tsx'
import { Chip, type Tone } from '../parts/chip.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { count } from '../parts/format.ts'
import { useSession } from '../session/session.tsx'
import { useWorkspace } from '../session/use-workspace.tsx'

const STATE: Record<SearchTable['state'], { tone: Tone; word: string }> = {
  registered: { tone: 'held', word: 'registered' },
  dry_run: { tone: 'held', word: 'waits for a review' },
  reviewed: { tone: 'held', word: 'waits for its activation' },
  active: { tone: 'ok', word: 'searched' },
  stopped: { tone: 'bad', word: 'stopped' },
}

/** Your own tables in search: how far their rows are read, and what waits for a second person. */
export function TablesCard() {
  const queries = useQueryClient()
  const { data, failure } = useLiveQuery(['search', 'tables'], (api) => api.search.tables())
  const changed = () => queries.invalidateQueries({ queryKey: ['search'] })
  return (
    <section className="card" aria-labelledby="tables-title">
      <header className="card-head">
        <h2 id="tables-title">Your tables</h2>
      </header>
      <FailureNote failure={failure} />
      {data?.tables.length === 0 && (
        <EmptyState title="No table is searched.">
          <p>
            An administrator of the database adds one: <code>stagedoor search add-table</code>
          </p>
        </EmptyState>
      )}
      <ul className="search-tables">
        {data?.tables.map((table) => (
          <Table key={table.code} table={table} changed={changed} />
        ))}
      </ul>
    </section>
  )
}

function Table({ table, changed }: { table: SearchTable; changed(): Promise<unknown> }) {
  const { api } = useSession()
  const { rights } = useWorkspace()
  const [deciding, setDeciding] = useState(false)
  const { tone, word } = STATE[table.state]
  const action = table.state === 'dry_run' ? 'review' : table.state === 'reviewed' ? 'activate' : undefined
  return (
    <li>
      <p className="search-table-head">
        <b>{table.source}</b> <Chip tone={tone}>{word}</Chip>
      </p>
      <p className="tiny">
        {table.text_columns.join(', ')}
        {table.filter_columns.length > 0 && ` · filters: ${table.filter_columns.join(', ')}`}
        {` · ${progressOf(table)}`}
      </p>
      {table.stopped_reason && <p className="note is-bad">{table.stopped_reason}</p>}
      {action && rights.includes('review') && (
        <button type="button" className="button" onClick={() => setDeciding(true)}>
          {action === 'review' ? 'Review…' : 'Activate…'}
        </button>
      )}
      {deciding && action && (
        <ActionDialog
          title={action === 'review' ? `Review ${table.source}` : `Search ${table.source}`}
          verb={action === 'review' ? 'I have checked it' : 'Activate'}
          close={() => setDeciding(false)}
          act={async () => {
            await (action === 'review'
              ? api.search.reviewTable(table.code)
              : api.search.activateTable(table.code))
            await changed()
          }}
        >
          <p>
            {action === 'review'
              ? `Search will read ${columnsOf(table)} of every row. A hit is shown only to those who may read the row. Whoever added the table cannot review it.`
              : 'Its rows come into search now, and every change from now on.'}
          </p>
        </ActionDialog>
      )}
    </li>
  )
}

function columnsOf({ text_columns, title_column, filter_columns, key_columns }: SearchTable): string {
  const columns = [
    ...key_columns,
    ...text_columns,
    ...(title_column ? [title_column] : []),
    ...filter_columns,
  ]
  return [...new Set(columns)].join(', ')
}

function progressOf({ scan_state, scanned, scan_total }: SearchTable): string {
  if (scan_state === 'none') return 'no row is read yet'
  if (scan_state === 'waiting') return 'waits for transactions that write it'
  if (scan_state === 'scanning') return `${count(Number(scanned))} of ${count(Number(scan_total))} rows read`
  return `${count(Number(scanned))} rows read`
}
