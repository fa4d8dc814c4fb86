import { useState } from 'react'
import type { Workers } from '../api/jobs.ts'
import type { Issue, Process } from '../api/system.ts'
import type { Gate } from '../api/types.ts'
import { PageHead } from '../frame/page-head.tsx'
import { kindName } from '../jobs/kind-name.ts'
import { useLivePages, useLiveQuery } from '../live/live.tsx'
import { ActionDialog } from '../parts/action-dialog.tsx'
import { Ago } from '../parts/ago.tsx'
import { Card } from '../parts/card.tsx'
import { Chip, type Tone } from '../parts/chip.tsx'
import { Choice } from '../parts/choice.tsx'
import { Command } from '../parts/command.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { bytes, count, counted, duration } from '../parts/format.ts'
import { type Column, ListTable } from '../parts/list.tsx'
import { Person } from '../parts/person.tsx'
import { Prose } from '../parts/prose.tsx'
import { shortId } from '../people.ts'
import { useParameter } from '../route.ts'
import { mayAnywhere, mayEverywhere } from '../session/rights.ts'
import { useSession } from '../session/session.tsx'
import './health.css'

export default function HealthPage() {
  const { me } = useSession()
  const mayOperate = mayAnywhere(me, 'operate')
  return (
    <>
      <PageHead title="Health" />
      <div className="stack">
        {mayOperate ? <Checks /> : <OnlyForOperators />}
        <Issues mayResolve={mayOperate} />
        <Gates />
        {mayOperate && <Processes />}
        {mayOperate && <WhoWorks />}
        {mayEverywhere(me, 'administer') && <StorageCard />}
      </div>
    </>
  )
}

function OnlyForOperators() {
  return (
    <p className="note">
      Checks, workers and storage are shown to people who may operate a workspace. You see its issues and the
      gates.
    </p>
  )
}

function Checks() {
  const health = useLiveQuery(['health', 'checks'], (api) => api.system.health())
  const checks = health.data?.checks ?? []
  const bad = checks.filter(({ ok }) => !ok)
  return (
    <Card
      id="checks"
      title="Checks"
      aside={
        health.data && (
          <span className="tiny">
            {bad.length === 0
              ? `all ${checks.length} are in order`
              : `${bad.length} of ${checks.length} need attention`}{' '}
            · version {health.data.version}
          </span>
        )
      }
    >
      <FailureNote failure={health.failure} />
      <ul className="health-lines">
        {[...bad, ...checks.filter(({ ok }) => ok)].map(({ name, title, ok, severity, detail, remedy }) => (
          <li key={name}>
            <Chip tone={CHECK_STATES[severity].tone}>{CHECK_STATES[severity].text}</Chip>
            <span>
              <b>{title}</b> <span className="muted">{detail}</span>
              {!ok && (
                <div>
                  What to do: <Prose text={remedy} />
                </div>
              )}
            </span>
          </li>
        ))}
      </ul>
      <div className="card-foot">
        <p className="tiny">A full comparison of the database with this version:</p>
        <Command text="npm run -s stagedoor -- doctor" />
      </div>
    </Card>
  )
}

const CHECK_STATES: Record<'ok' | 'warning' | 'error', { tone: Tone; text: string }> = {
  ok: { tone: 'ok', text: 'in order' },
  warning: { tone: 'held', text: 'warning' },
  error: { tone: 'bad', text: 'wrong' },
}

const SEVERITIES: Record<Issue['severity'], Tone> = {
  info: 'stale',
  warning: 'held',
  error: 'bad',
  critical: 'bad',
}
const PAGE = 50

function Issues({ mayResolve }: { mayResolve: boolean }) {
  const { api } = useSession()
  const [shown, show] = useParameter('issues')
  const [asked, ask] = useState<Issue>()
  const withResolved = shown === 'all'
  const pages = useLivePages<Issue>(['health', 'issues', withResolved], async (own, after) => {
    const { issues, next } = await own.system.issues({ limit: PAGE, after, resolved: withResolved })
    return { rows: issues, next }
  })
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set())
  const rows = pages.rows.filter(({ issue_id }) => withResolved || !gone.has(issue_id))
  return (
    <Card
      id="issues"
      title="Issues"
      aside={
        <Choice
          label="Show"
          value={withResolved ? 'all' : ''}
          options={[
            ['', 'open ones'],
            ['all', 'also resolved ones'],
          ]}
          choose={(value) => show(value || undefined)}
        />
      }
    >
      <FailureNote failure={pages.failure} />
      {rows.length === 0 && !pages.loading && (
        <EmptyState title="No open issues.">
          Stagedoor opens one when events, jobs or search need a person: a kind of job that no worker handles,
          a consumer that fails, a loop of events.
        </EmptyState>
      )}
      <ul className="health-lines">
        {rows.map((issue) => (
          <li key={issue.issue_id}>
            <Chip tone={issue.resolved_at ? 'ok' : SEVERITIES[issue.severity]}>
              {issue.resolved_at ? 'resolved' : issue.severity}
            </Chip>
            <span>
              <b>{issue.title}</b>{' '}
              <span className="tiny">
                {issue.code} · {counted(Number(issue.occurrences), 'time')}, the last{' '}
                <Ago at={issue.last_seen_at} />
              </span>
              {typeof issue.detail.remedy === 'string' && <div>What to do: {issue.detail.remedy}</div>}
              {issue.resolved_at && (
                <div className="tiny">
                  resolved by <Person id={issue.resolved_by ?? ''} />: {issue.resolution ?? 'no reason given'}
                </div>
              )}
            </span>
            {!issue.resolved_at && (
              <button
                type="button"
                className="button is-small"
                disabled={!mayResolve}
                onClick={() => ask(issue)}
              >
                Resolve<span className="unseen"> {issue.title}</span>
              </button>
            )}
          </li>
        ))}
      </ul>
      {pages.more && (
        <div className="card-foot">
          <button type="button" className="button" disabled={pages.loadingMore} onClick={pages.more}>
            Load more
          </button>
        </div>
      )}
      {asked && (
        <ActionDialog
          title="Resolve this issue"
          verb="Resolve"
          reason="required"
          reasonLabel="What was done"
          close={() => ask(undefined)}
          act={async (reason) => {
            await api.system.resolveIssue(asked.issue_id, reason)
            setGone(new Set([...gone, asked.issue_id]))
          }}
        >
          <p>
            “{asked.title}” is marked as resolved, with your reason, and an event says so. If it happens
            again, a new issue opens.
          </p>
        </ActionDialog>
      )}
    </Card>
  )
}

function Gates() {
  const gates = useLiveQuery(['health', 'gates'], (api) => api.gates())
  const closed = gates.data?.gates.filter(({ open }) => !open) ?? []
  return (
    <Card
      id="gates"
      title="Gates"
      aside={
        gates.data && (
          <span className="tiny">{closed.length === 0 ? 'all are open' : `${closed.length} closed`}</span>
        )
      }
    >
      <FailureNote failure={gates.failure} />
      <ul className="health-lines">
        {gates.data?.gates.map((gate) => (
          <GateLine key={gate.gate} gate={gate} />
        ))}
      </ul>
      <div className="card-foot">
        <p className="tiny">
          A gate is changed by an administrator of the database, on the command line. Each change is kept with
          its reason.
        </p>
        <Command
          text={`npm run -s stagedoor -- gate ${closed[0] ? 'open' : 'close'} ${closed[0]?.gate ?? gates.data?.gates[0]?.gate ?? 'NAME'} --reason "…"`}
        />
      </div>
    </Card>
  )
}

function GateLine({ gate }: { gate: Gate }) {
  return (
    <li>
      <Chip tone={gate.open ? 'ok' : 'held'}>{gate.open ? 'open' : 'closed'}</Chip>
      <span>
        <b>{gate.title}</b> <code className="tiny">{gate.gate}</code>
        <div className="muted">
          {gate.open ? 'If it is closed: ' : 'While it is closed: '}
          {gate.when_closed}
        </div>
        <div className="tiny">
          {gate.changed_by === null || gate.changed_at === null ? (
            'never changed'
          ) : (
            <>
              changed <Ago at={gate.changed_at} /> by <Person id={gate.changed_by} />
            </>
          )}
        </div>
      </span>
    </li>
  )
}

function Processes() {
  const processes = useLiveQuery(['health', 'processes'], (api) => api.system.processes())
  const rows = processes.data?.processes ?? []
  const hosts = new Set(rows.map(({ host }) => host)).size
  const versions = [...new Set(rows.filter(({ is_alive }) => is_alive).map(({ version }) => version))]
  return (
    <Card
      id="processes"
      title="Processes"
      aside={
        processes.data && (
          <span className="tiny">
            {counted(rows.length, 'process', 'processes')} on {counted(hosts, 'host')}
            {versions.length > 1 && ` · versions ${versions.join(', ')}`}
          </span>
        )
      }
    >
      <FailureNote failure={processes.failure} />
      {rows.length > 0 && (
        <ListTable
          label="Processes"
          columns={PROCESS_COLUMNS}
          rows={rows}
          keyOf={({ process_id }) => process_id}
        />
      )}
    </Card>
  )
}

const PROCESS_COLUMNS: readonly Column<Process>[] = [
  {
    title: 'Host',
    cell: ({ host, pid, roles }) => (
      <>
        <b>{host}</b> <span className="tiny">process {pid}</span>
        <div className="tiny">{roles.join(', ')}</div>
      </>
    ),
  },
  {
    title: 'State',
    tight: true,
    cell: ({ is_alive, draining_at }) =>
      is_alive && draining_at ? <Chip tone="held">draining</Chip> : <Alive alive={is_alive} />,
  },
  { title: 'Version', tight: true, cell: ({ version }) => version },
  { title: 'Heartbeat', tight: true, wideOnly: true, cell: ({ seen_at }) => <Ago at={seen_at} /> },
  { title: 'Since', tight: true, wideOnly: true, cell: ({ started_at }) => <Ago at={started_at} /> },
]

function WhoWorks() {
  const workers = useLiveQuery(['jobs', 'workers'], (api) => api.queue.workers())
  return (
    <Card id="workers" title="Workers and engines">
      <FailureNote failure={workers.failure} />
      {workers.data && workers.data.workers.length === 0 && (
        <EmptyState title="No worker of jobs is registered." command="npm run -s stagedoor -- worker">
          Jobs wait until one runs. `npm start` brings one, and so does:
        </EmptyState>
      )}
      {workers.data && workers.data.workers.length > 0 && (
        <ListTable
          label="Workers"
          columns={WORKER_COLUMNS}
          rows={workers.data.workers}
          keyOf={({ worker_id }) => worker_id}
        />
      )}
      {workers.data && workers.data.remote_workers.length > 0 && (
        <ListTable
          label="Workers behind gateways"
          columns={REMOTE_COLUMNS}
          rows={workers.data.remote_workers}
          keyOf={({ gateway_process, session }) => `${gateway_process} ${session}`}
        />
      )}
      {workers.data && workers.data.engines.length > 0 && (
        <ListTable
          label="Engines of executions"
          columns={ENGINE_COLUMNS}
          rows={workers.data.engines}
          keyOf={({ engine_id }) => engine_id}
        />
      )}
      {workers.data && workers.data.leaders.length > 0 && (
        <ListTable
          label="Leaders"
          columns={LEADER_COLUMNS}
          rows={workers.data.leaders}
          keyOf={({ name }) => name}
        />
      )}
    </Card>
  )
}

function Alive({ alive }: { alive: boolean }) {
  return <Chip tone={alive ? 'ok' : 'bad'}>{alive ? 'alive' : 'silent'}</Chip>
}

const WORKER_COLUMNS: readonly Column<Workers['workers'][number]>[] = [
  {
    title: 'Job worker',
    cell: ({ name, worker_id, executor, kinds }) => (
      <>
        <b title={worker_id}>{name ?? shortId(worker_id)}</b>
        <div className="tiny">
          {executor === 'PG_worker' ? '' : `${executor} · `}
          {counted(kinds.length, 'kind')}: {kinds.slice(0, 6).join(', ')}
          {kinds.length > 6 && ', …'}
        </div>
      </>
    ),
  },
  { title: 'State', tight: true, cell: ({ is_alive }) => <Alive alive={is_alive} /> },
  {
    title: 'Runs now',
    cell: ({ running, running_count }) =>
      running_count === 0 ? (
        <span className="tiny">none of yours</span>
      ) : (
        <>
          {running.slice(0, 3).map(({ job_id, job_kind }) => (
            <div key={job_id}>
              <a href={`/jobs/${job_id}`}>{kindName(job_kind)}</a>
            </div>
          ))}
          {running_count > 3 && <span className="tiny">and {count(running_count - 3)} more</span>}
        </>
      ),
  },
  { title: 'Heartbeat', tight: true, wideOnly: true, cell: ({ heartbeat_at }) => <Ago at={heartbeat_at} /> },
  { title: 'Since', tight: true, wideOnly: true, cell: ({ started_at }) => <Ago at={started_at} /> },
]

const REMOTE_COLUMNS: readonly Column<Workers['remote_workers'][number]>[] = [
  {
    title: 'Worker behind a gateway',
    cell: ({ name, host, pid, pool, gateway_host, gateway_process }) => (
      <>
        <b>{name}</b>{' '}
        <span className="tiny">
          {host}, process {pid}
        </span>
        <div className="tiny">
          pool {pool} · gateway {gateway_host ?? shortId(gateway_process)}
        </div>
      </>
    ),
  },
  { title: 'Version', tight: true, wideOnly: true, cell: ({ version }) => version },
  {
    title: 'Holds',
    cell: ({ held, concurrency, oldest_call_at }) => (
      <>
        {count(held)} of {count(concurrency)}
        {oldest_call_at && (
          <div className="tiny">
            the oldest <Ago at={oldest_call_at} />
          </div>
        )}
      </>
    ),
  },
  { title: 'Heartbeat', tight: true, wideOnly: true, cell: ({ seen_at }) => <Ago at={seen_at} /> },
  { title: 'Since', tight: true, wideOnly: true, cell: ({ attached_at }) => <Ago at={attached_at} /> },
]

const LEADER_COLUMNS: readonly Column<Workers['leaders'][number]>[] = [
  {
    title: 'Work that one process does',
    cell: ({ name }) => (
      <>
        <b>{name}</b>
        {LEADS[name] && <div className="tiny">{LEADS[name]}</div>}
      </>
    ),
  },
  {
    title: 'Leader',
    cell: ({ host, pid }) => (
      <>
        {host} <span className="tiny">process {pid}</span>
      </>
    ),
  },
  { title: 'Since', tight: true, wideOnly: true, cell: ({ since }) => <Ago at={since} /> },
]

const LEADS: Readonly<Record<string, string>> = {
  'jobs.reap': 'takes jobs back from dead workers',
  'jobs.schedules': 'fires schedules',
  executions: 'ends waits, takes over from dead engines',
  events: 'turns events into jobs',
  maintenance: 'cleans up and creates partitions',
  wakeups: 'forwards notifications of the database to NATS',
}

const ENGINE_COLUMNS: readonly Column<Workers['engines'][number]>[] = [
  {
    title: 'Engine of executions',
    cell: ({ name, engine_id, drives, runs, handlers }) => (
      <>
        <b title={engine_id}>{name ?? shortId(engine_id)}</b>
        <div className="tiny">
          {[drives && 'drives executions', runs && 'runs steps'].filter(Boolean).join(', ')}
          {handlers.length > 0 && ` · handlers ${handlers.join(', ')}`}
        </div>
      </>
    ),
  },
  { title: 'State', tight: true, cell: ({ is_alive }) => <Alive alive={is_alive} /> },
  { title: 'Heartbeat', tight: true, wideOnly: true, cell: ({ heartbeat_at }) => <Ago at={heartbeat_at} /> },
  { title: 'Since', tight: true, wideOnly: true, cell: ({ started_at }) => <Ago at={started_at} /> },
]

function StorageCard() {
  const storage = useLiveQuery(['health', 'storage'], (api) => api.system.storage())
  const { data } = storage
  return (
    <Card
      id="storage"
      title="Storage"
      aside={data && <span className="tiny">database {bytes(data.database_bytes)}</span>}
    >
      <FailureNote failure={storage.failure} />
      {data && (
        <>
          <ul className="health-lines">
            <li>
              <Chip tone="stale">spool</Chip>
              <span>
                {data.spool.files === 0
                  ? 'No file is being received or read.'
                  : `${counted(data.spool.files, 'file')} of ${bytes(data.spool.bytes)} are being received or read.`}
              </span>
            </li>
            {data.readers.length === 0 && (
              <li>
                <Chip tone="stale">events</Chip>
                <span>No consumer reads events yet, so none is behind.</span>
              </li>
            )}
            {data.readers.map(({ reader, unread, lag_s }) => (
              <li key={reader}>
                <Chip tone={unread === 0 ? 'ok' : 'held'}>{unread === 0 ? 'up to date' : 'behind'}</Chip>
                <span>
                  <b>{reader}</b>{' '}
                  <span className="muted">
                    {unread === 0
                      ? 'has read every event'
                      : `has ${counted(unread, 'event')} to read, the oldest from ${duration(Math.round(lag_s * 1000))} ago`}
                  </span>
                </span>
              </li>
            ))}
          </ul>
          <ListTable
            label="Largest tables"
            columns={TABLE_COLUMNS}
            rows={data.tables}
            keyOf={({ schema_name, table_name }) => `${schema_name}.${table_name}`}
          />
        </>
      )}
    </Card>
  )
}

const TABLE_COLUMNS: readonly Column<{
  schema_name: string
  table_name: string
  bytes: number
  row_estimate: number
}>[] = [
  {
    title: 'Table',
    cell: ({ schema_name, table_name }) => (
      <code>
        {schema_name}.{table_name}
      </code>
    ),
  },
  { title: 'Size', figures: true, cell: (table) => bytes(table.bytes) },
  { title: 'Rows, about', figures: true, cell: ({ row_estimate }) => count(row_estimate) },
]
