import type { LoggedEvent } from '../api/types.ts'
import { useLivePages } from '../live/live.tsx'
import { Ago } from '../parts/ago.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { JsonTree } from '../parts/json-tree.tsx'
import { type Column, Filters, PagedList, useFilters } from '../parts/list.tsx'

const PAGE = 100

/** The log of an execution, oldest first; without single items unless asked for. */
export function HistoryTab({ id, steps }: { id: string; steps: readonly string[] }) {
  const { in: step, items, failures, from } = useFilters(['in', 'items', 'failures', 'from'])
  const pages = useLivePages<LoggedEvent>(
    ['executions', id, 'history', step, items, failures, from],
    async (api, after) => {
      const { events, next } = await api.executions.history(id, {
        after: after ?? from,
        limit: PAGE,
        items: items === 'yes',
        failed: failures === 'yes',
        step,
      })
      return { rows: events, next: next === null ? null : String(next) }
    },
  )
  return (
    <>
      <Filters
        filters={[
          { name: 'in', label: 'Step', options: steps.map((name) => [name, name] as const) },
          { name: 'failures', label: 'Show', options: [['yes', 'only what failed']] },
          { name: 'items', label: 'Items of loops', options: [['yes', 'with single items']] },
          { name: 'from', label: 'After number', kind: 'text' },
        ]}
      />
      <PagedList
        label="History"
        columns={COLUMNS}
        pages={pages}
        keyOf={({ event_id }) => event_id}
        empty={<EmptyState title="Nothing of this kind happened." />}
      />
    </>
  )
}

const COLUMNS: readonly Column<LoggedEvent>[] = [
  { title: 'No.', figures: true, tight: true, cell: ({ seq }) => seq },
  { title: 'When', tight: true, cell: ({ created_at }) => <Ago at={created_at} />, wideOnly: true },
  {
    title: 'What',
    cell: (event) => (
      <>
        <code>{event.event_type}</code>
        {event.node_name !== null && (
          <>
            {' '}
            <b>{event.node_name}</b>
          </>
        )}
        {event.current_index !== null && <span className="tiny"> item {event.current_index}</span>}
        {event.error !== null && <span className="execution-error is-wrong">{event.error}</span>}
        <Details event={event} />
      </>
    ),
  },
]

function Details({ event }: { event: LoggedEvent }) {
  const { meta, context, result, current_item } = event
  const known = Object.entries({ meta, context, result, item: current_item }).filter(
    ([, value]) => value !== null,
  )
  if (known.length === 0) return null
  return (
    <details className="event-details">
      <summary className="tiny">Details</summary>
      <JsonTree label={`Details of event ${event.seq}`} value={Object.fromEntries(known)} />
    </details>
  )
}
