import type { ReactNode } from 'react'
import type { Consumer, EventRoute } from '../api/types.ts'
import { PageHead } from '../frame/page-head.tsx'
import { type LiveQuery, useLiveQuery } from '../live/live.tsx'
import { Ago } from '../parts/ago.tsx'
import { Breakable } from '../parts/breakable.tsx'
import { Card } from '../parts/card.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { counted } from '../parts/format.ts'
import { type Column, Filters, ListTable, useFilters } from '../parts/list.tsx'
import { Person } from '../parts/person.tsx'
import { hasState, RoomTabs, STATE_FILTER, type State, StateChip } from './state.tsx'
import './consumers.css'

/** Which events start which jobs. */
export function ConsumersPage() {
  const consumers = useLiveQuery(['consumers', 'list'], async (api) => (await api.consumers.list()).consumers)
  return (
    <>
      <PageHead title="Consumers" />
      <RoomTabs current="consumers" />
      <List
        title="Consumers"
        query={consumers}
        columns={CONSUMERS}
        keyOf={(consumer) => consumer.consumer_id}
        empty={
          <EmptyState
            title="No consumer is registered."
            command="npm run -s stagedoor -- consumer register --help"
          >
            A consumer makes a job of every event that it matches. An administrator registers it, it runs dry,
            a second person looks at what it would have done, then it is activated.
          </EmptyState>
        }
      />
    </>
  )
}

const CONSUMERS: readonly Column<Consumer>[] = [
  {
    title: 'Consumer',
    cell: (consumer) => (
      <>
        <a href={`/consumers/${encodeURIComponent(consumer.consumer_id)}`}>
          <b>
            <Breakable name={consumer.consumer_id} />
          </b>
        </a>
        <div className="tiny">
          {consumer.event_domain}.{consumer.event_type} → {consumer.job_kind}
        </div>
      </>
    ),
  },
  { title: 'Status', tight: true, cell: (consumer) => <StateChip state={consumer.state} /> },
  {
    title: 'Registered',
    wideOnly: true,
    cell: (consumer) => (
      <>
        <Ago at={consumer.registered_at} /> by <Person id={consumer.registered_by} />
      </>
    ),
  },
  {
    title: 'Reviewed',
    wideOnly: true,
    cell: (consumer) =>
      consumer.reviewed_by === null ? 'by nobody yet' : <Person id={consumer.reviewed_by} />,
  },
]

/** Which changes of tables, and calls of procedures, become events. */
export function RoutesPage() {
  const routes = useLiveQuery(['consumers', 'routes'], async (api) => (await api.consumers.routes()).routes)
  return (
    <>
      <PageHead title="Routes" />
      <RoomTabs current="routes" />
      <List
        title="Routes"
        query={routes}
        columns={ROUTES}
        keyOf={(route) => route.route_code}
        empty={
          <EmptyState title="No route is registered." command="npm run -s stagedoor -- route register --help">
            A route makes events of what happens to one of your tables. An administrator registers it and
            starts its dry run, a second person looks at the evidence and activates it here.
          </EmptyState>
        }
      />
    </>
  )
}

const ROUTES: readonly Column<EventRoute>[] = [
  {
    title: 'Route',
    cell: (route) => (
      <>
        <a href={`/routes/${encodeURIComponent(route.route_code)}`}>
          <b>{route.route_code}</b>
        </a>
        <div className="tiny">
          {sourceOf(route)} → {route.target_event_domain}.{route.target_event_type}
        </div>
      </>
    ),
  },
  { title: 'Status', tight: true, cell: (route) => <StateChip state={route.state} /> },
  { title: 'Evidence', wideOnly: true, cell: (route) => counted(route.evidence, 'statement') },
  {
    title: 'Failures',
    wideOnly: true,
    cell: (route) =>
      route.failures === '0' ? 'none' : <span className="is-wrong">{route.failures} failed</span>,
  },
]

export function sourceOf({ sql_event, source_schema, source_table }: EventRoute): string {
  return source_table === null ? sql_event : `${sql_event} of ${source_schema}.${source_table}`
}

function List<Row extends { readonly state: State }>({
  title,
  query,
  columns,
  keyOf,
  empty,
}: {
  title: string
  query: LiveQuery<Row[]>
  columns: readonly Column<Row>[]
  keyOf(row: Row): string
  empty: ReactNode
}) {
  const { state } = useFilters(['state'])
  const rows = query.data?.filter((row) => hasState(state, row.state))
  return (
    <>
      <Filters filters={[STATE_FILTER]} />
      <Card id="list" title={title} aside={rows && <span className="tiny">{rows.length}</span>}>
        <FailureNote failure={query.failure} />
        {query.loading && <p className="empty">Loading…</p>}
        {query.data?.length === 0 && empty}
        {query.data?.length !== 0 && rows?.length === 0 && <p className="empty">None has this status.</p>}
        {rows !== undefined && rows.length > 0 && (
          <ListTable label={title} columns={columns} rows={rows} keyOf={keyOf} />
        )}
      </Card>
    </>
  )
}
