import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { DeadProjection, SearchAnswer, SearchHit, SearchWaiting } from '../api/types.ts'
import { useLiveQuery } from '../live/live.tsx'
import { ActionDialog } from '../parts/action-dialog.tsx'
import { Ago } from '../parts/ago.tsx'
import { Chip, type Tone } from '../parts/chip.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { Facts } from '../parts/facts.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { count, counted, duration, milliseconds } from '../parts/format.ts'
import { useSession } from '../session/session.tsx'
import { useWorkspace } from '../session/use-workspace.tsx'

export const FRESHNESS: Record<SearchHit['freshness'], { tone: Tone; word: string }> = {
  current: { tone: 'ok', word: 'indexed' },
  pending: { tone: 'work', word: 'being indexed' },
  stale: { tone: 'stale', word: 'older text' },
  error: { tone: 'bad', word: 'could not be indexed' },
}

const MAX_COUNTED = 1000
const orMore = (value: number) => (value >= MAX_COUNTED ? `${count(value)} or more` : count(value))

/** How fresh the whole answer is: when it came, how it was found, and what it may not know yet. */
export function Freshness({ answer, at }: { answer: SearchAnswer; at: number | undefined }) {
  const { data: waiting } = useLiveQuery(['search', 'waiting'], (api) => api.search.waiting())
  const { hits, legs, took_ms } = answer
  const how =
    legs.dense === 'unavailable'
      ? 'by words only: search by meaning does not answer'
      : legs.dense === 'off'
        ? 'by words'
        : 'by words and by meaning'
  const older = hits.filter(({ freshness }) => freshness !== 'current').length
  return (
    <p className="freshness" role="status">
      <span>
        {counted(hits.length, 'hit')} in {milliseconds(took_ms)}, {how}
        {at !== undefined && (
          <>
            , <Ago at={at} />
          </>
        )}
        .
      </span>{' '}
      {older > 0 && <Chip tone="work">{older === 1 ? '1 hit is' : `${older} hits are`} not indexed yet</Chip>}{' '}
      {waiting && <WaitingText waiting={waiting} />}
    </p>
  )
}

function WaitingText({ waiting }: { waiting: SearchWaiting }) {
  if (waiting.pending === 0 && waiting.failed === 0)
    return <Chip tone="ok">all units and documents are in search</Chip>
  return (
    <>
      {waiting.pending > 0 && (
        <span>
          <Chip tone="work">{orMore(waiting.pending)} waiting</Chip>{' '}
          {waiting.oldest_at && (
            <>
              the oldest since <Ago at={waiting.oldest_at} />
            </>
          )}
        </span>
      )}{' '}
      {waiting.failed > 0 && <Chip tone="bad">{orMore(waiting.failed)} failed</Chip>}
    </>
  )
}

/** For operators: what waits, why, and what failed; with what can be done about it. */
export function IndexCard() {
  const { api } = useSession()
  const { id: workspace, rights } = useWorkspace()
  const queries = useQueryClient()
  const [flushing, setFlushing] = useState(false)
  const { data: waiting, failure } = useLiveQuery(['search', 'waiting'], (live) => live.search.waiting())
  const { data: dead } = useLiveQuery(['search', 'dead-letters'], (live) => live.search.deadLetters(100))
  const changed = () => queries.invalidateQueries({ queryKey: ['search'] })
  return (
    <>
      <section className="card" aria-labelledby="index-title">
        <header className="card-head">
          <h2 id="index-title">Index</h2>
          {waiting && <IndexChip waiting={waiting} />}
        </header>
        <FailureNote failure={failure} />
        {waiting && (
          <Facts
            facts={[
              ['Waiting', orMore(waiting.pending)],
              ['Due now', orMore(waiting.due)],
              ['Oldest', waiting.oldest_at ? <Ago key="o" at={waiting.oldest_at} /> : 'nothing waits'],
              [
                'After an edit',
                `indexed ${duration(waiting.quiet_s * 1000)} later; a unit is found by its words at once, a row of a table then`,
              ],
              ['Failed', orMore(waiting.failed)],
            ]}
          />
        )}
        {waiting?.retrying && (
          <p className="note is-held">
            <b>{counted(waiting.retrying.rows, 'text')} will be retried:</b> {waiting.retrying.reason}
          </p>
        )}
        {waiting && waiting.pending > 0 && rights.includes('operate') && (
          <div className="card-foot">
            <button type="button" className="button" onClick={() => setFlushing(true)}>
              Index them now…
            </button>
          </div>
        )}
        {flushing && (
          <ActionDialog
            title="Index what waits"
            verb="Index now"
            close={() => setFlushing(false)}
            act={async () => {
              await api.search.flush(workspace)
              await changed()
            }}
          >
            <p>
              {waiting ? counted(waiting.pending, 'changed text') : 'What waits'} will be indexed as soon as a
              worker is free, without the quiet time after an edit. No text changes. An embedder that is paid
              for is asked once for each.
            </p>
          </ActionDialog>
        )}
      </section>
      <DeadLetters rows={dead?.dead_letters} changed={changed} />
    </>
  )
}

function IndexChip({ waiting }: { waiting: SearchWaiting }) {
  if (waiting.failed > 0) return <Chip tone="bad">{orMore(waiting.failed)} failed</Chip>
  if (waiting.pending > 0) return <Chip tone="work">{orMore(waiting.pending)} waiting</Chip>
  return <Chip tone="ok">up to date</Chip>
}

function DeadLetters({
  rows,
  changed,
}: {
  rows: readonly DeadProjection[] | undefined
  changed(): Promise<unknown>
}) {
  const { api } = useSession()
  const { id: workspace, rights } = useWorkspace()
  const [chosen, setChosen] = useState<readonly string[]>([])
  const [asking, setAsking] = useState(false)
  if (rows === undefined) return null
  const ids = rows.map(({ outbox_id }) => outbox_id)
  const selected = chosen.filter((id) => ids.includes(id))
  const replayed = selected.length > 0 ? selected : ids
  return (
    <section className="card" aria-labelledby="dead-title">
      <header className="card-head">
        <h2 id="dead-title">Dead letters</h2>
        {rows.length > 0 && <span className="tiny">{counted(rows.length, 'text')}</span>}
      </header>
      {rows.length === 0 ? (
        <EmptyState title="Nothing failed.">
          <p>A text that could not be indexed after all its tries is listed here with the reason.</p>
        </EmptyState>
      ) : (
        <ul className="dead-letters">
          {rows.map((row) => (
            <li key={row.outbox_id}>
              <input
                type="checkbox"
                aria-label={`Choose ${row.name}`}
                checked={selected.includes(row.outbox_id)}
                onChange={(event) =>
                  setChosen(
                    event.target.checked
                      ? [...selected, row.outbox_id]
                      : selected.filter((id) => id !== row.outbox_id),
                  )
                }
              />
              <span>
                {row.unit_id === null ? (
                  <b>{row.name}</b>
                ) : (
                  <a className="link" href={`/units/${row.unit_id}`}>
                    {row.name}
                  </a>
                )}
                <span className="tiny">
                  {' '}
                  <Ago at={row.failed_at} />, after {counted(row.tries, 'try', 'tries')}
                </span>
                <span className="dead-error">{row.error ?? 'no reason was recorded'}</span>
              </span>
            </li>
          ))}
        </ul>
      )}
      {rows.length > 0 && (
        <div className="card-foot">
          <button
            type="button"
            className="button"
            disabled={!rights.includes('administer')}
            onClick={() => setAsking(true)}
          >
            Try {selected.length > 0 ? counted(selected.length, 'text') : `all ${rows.length}`} again…
          </button>
          {!rights.includes('administer') && (
            <p className="tiny">You do not have the right to administer in this workspace.</p>
          )}
        </div>
      )}
      {asking && (
        <ActionDialog
          title="Try dead letters again"
          verb={`Try ${counted(replayed.length, 'text')} again`}
          close={() => setAsking(false)}
          act={async () => {
            await api.search.replay(workspace, replayed)
            setChosen([])
            await changed()
          }}
        >
          <p>
            {counted(replayed.length, 'text')} will be indexed again, with all tries from the beginning. If
            the cause is still there, they come back here.
          </p>
        </ActionDialog>
      )}
    </section>
  )
}
