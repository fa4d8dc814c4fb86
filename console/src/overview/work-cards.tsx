import type { DeadProjection, Execution, ReadyCheck } from '../api/types.ts'
import type { Polled } from '../live/use-polled.ts'
import { countOf, type DeadKind, deadKinds, type Work } from '../live/work.ts'
import { Ago } from '../parts/ago.tsx'
import { Card } from '../parts/card.tsx'
import { Chip, type Tone } from '../parts/chip.tsx'
import { Command } from '../parts/command.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { count, counted, duration } from '../parts/format.ts'

/** Waiting, running and failed jobs that the person may see. */
export function JobsCard({ work }: { work: Polled<Work> }) {
  const { data } = work
  const dead = data === undefined ? [] : deadKinds(data.dead)
  return (
    <Card
      id="jobs"
      title="Jobs"
      aside={
        data && (
          <span className="tiny">
            {countOf(data.waiting)} waiting · {countOf(data.running)} running · {countOf(data.dead)} failed
          </span>
        )
      }
    >
      <FailureNote failure={work.failure} />
      {data === undefined && <p className="empty">Loading…</p>}
      {data !== undefined && dead.length === 0 && (
        <p className="empty">
          {data.waiting.rows.length + data.running.rows.length === 0
            ? 'No job is waiting or running, and none has failed.'
            : 'No job has failed.'}
        </p>
      )}
      <ul className="lines">
        {dead.map((kind) => (
          <DeadLine key={kind.kind} {...kind} />
        ))}
      </ul>
      {dead.length > 0 && (
        <div className="card-foot">
          <p className="tiny">A failed job stays here until somebody replays it. Fix the cause first.</p>
          <Command text="npm run -s stagedoor -- job list --status dead" />
        </div>
      )}
    </Card>
  )
}

function DeadLine({ kind, jobs, newest }: DeadKind) {
  return (
    <li>
      <span className="line-state">
        <Chip tone="bad">failed</Chip>
      </span>
      <span className="line-text">
        <b>
          {kind}
          {jobs.length > 1 && ` × ${jobs.length}`}
        </b>
        <span className="muted">{newest.last_error ?? 'no error was recorded'}</span>
        <span className="tiny">
          {counted(newest.attempts, 'attempt')}
          {newest.finished_at && (
            <>
              , the last <Ago at={newest.finished_at} />
            </>
          )}
        </span>
      </span>
    </li>
  )
}

const STATES: Record<Execution['status'], { tone: Tone; word: string }> = {
  PENDING: { tone: 'held', word: 'pending' },
  RUNNING: { tone: 'work', word: 'running' },
  PAUSED: { tone: 'held', word: 'paused' },
  COMPLETED: { tone: 'ok', word: 'completed' },
  FAILED: { tone: 'bad', word: 'failed' },
  CANCELLED: { tone: 'stale', word: 'cancelled' },
}

/** The newest executions of playbooks. */
export function ExecutionsCard({ work }: { work: Polled<Work> }) {
  const { data } = work
  return (
    <Card
      id="executions"
      title="Executions"
      aside={
        data && (
          <span className="tiny">
            {countOf(data.executing)} running · {countOf(data.failed)} failed
          </span>
        )
      }
    >
      {data === undefined && <p className="empty">Loading…</p>}
      {data?.newest.length === 0 && (
        <div className="empty">
          <b>No playbook has run yet.</b>
          <Command text="npm run -s stagedoor -- playbook list" />
        </div>
      )}
      <ul className="lines">
        {data?.newest.map((execution) => (
          <ExecutionLine key={execution.execution_id} execution={execution} />
        ))}
      </ul>
      {data !== undefined && data.newest.length > 0 && (
        <div className="card-foot">
          <Command text="npm run -s stagedoor -- execution list" />
        </div>
      )}
    </Card>
  )
}

function ExecutionLine({ execution }: { execution: Execution }) {
  const { tone, word } = STATES[execution.status]
  return (
    <li>
      <span className="line-state">
        <Chip tone={tone}>{word}</Chip>
      </span>
      <span className="line-text">
        <b title={execution.execution_id}>{execution.playbook ?? 'a playbook that you may not see'}</b>
        {execution.status === 'FAILED' && execution.error !== null ? (
          <span className="muted">{execution.error}</span>
        ) : (
          <span className="muted">{progressOf(execution)}</span>
        )}
        <span className="tiny">
          {execution.end_time ? 'ended ' : 'started '}
          <Ago at={execution.end_time ?? execution.start_time ?? execution.created_at} />
        </span>
      </span>
    </li>
  )
}

/** Progress of a running execution, or the duration of one that has ended. */
function progressOf({ items, items_done, items_failed, ...execution }: Execution): string {
  if (items) {
    const failed = items_failed ? `, ${count(items_failed)} failed` : ''
    return `${count(items_done ?? 0)} of ${counted(items, 'item')} done${failed}`
  }
  const { start_time, end_time, last_node_name } = execution
  if (start_time !== null && end_time !== null)
    return `took ${duration(Date.parse(end_time) - Date.parse(start_time))}`
  return last_node_name === null ? 'no step yet' : `step ${last_node_name}`
}

/** How far the search index is behind production, and what could not be indexed. */
export function SearchCard({ work, check }: { work: Polled<Work>; check: ReadyCheck | undefined }) {
  const { data } = work
  return (
    <Card
      id="search"
      title="Search"
      aside={
        data && (
          <span className="tiny">
            {upTo(data.search.pending)} pending · {upTo(data.search.failed)} failed
          </span>
        )
      }
    >
      {data === undefined && <p className="empty">Loading…</p>}
      <ul className="lines">
        {data !== undefined && (
          <li>
            <span className="line-state">
              <Chip tone={check?.ok === false ? 'bad' : data.search.pending > 0 ? 'stale' : 'ok'}>
                {check?.ok === false ? 'failing' : data.search.pending > 0 ? 'catching up' : 'up to date'}
              </Chip>
            </span>
            <span className="line-text">
              <span>
                {data.search.pending === 0
                  ? 'Search is up to date.'
                  : `${upTo(data.search.pending)} ${data.search.pending === 1 ? 'unit or document is' : 'units or documents are'} waiting to be indexed.`}
              </span>
              {check && <span className="muted">{check.detail}</span>}
            </span>
          </li>
        )}
        {data?.unsearchable.map((dead) => (
          <UnsearchableLine key={dead.outbox_id} dead={dead} />
        ))}
      </ul>
    </Card>
  )
}

function UnsearchableLine({ dead }: { dead: DeadProjection }) {
  return (
    <li>
      <span className="line-state">
        <Chip tone="bad">not indexed</Chip>
      </span>
      <span className="line-text">
        <b>{dead.name}</b>
        <span className="muted">{dead.error ?? 'no error was recorded'}</span>
        <span className="tiny">
          {counted(dead.tries, 'attempt')}, the last <Ago at={dead.failed_at} />
        </span>
      </span>
    </li>
  )
}

/** The server counts up to a thousand. */
export function upTo(value: number): string {
  return value >= 1000 ? `${count(value)}+` : count(value)
}
