import { useEffect, useState } from 'react'
import { asFailure, type Failure } from '../api/failure.ts'
import type { RecordedEvent, StagingRecord } from '../api/types.ts'
import { ChangeHead } from '../changes/change-head.tsx'
import { Conversation } from '../changes/conversation.tsx'
import { ReviewersCard } from '../changes/reviewers-card.tsx'
import { useChange } from '../changes/use-change.ts'
import { useLiveQuery } from '../live/live.tsx'
import { Ago } from '../parts/ago.tsx'
import { Card } from '../parts/card.tsx'
import { Chip } from '../parts/chip.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { indentJson } from '../parts/json-text.ts'
import { Person } from '../parts/person.tsx'
import { viaText } from '../people.ts'
import { useSession } from '../session/session.tsx'
import { ApprovalCard } from './approval-card.tsx'
import { MarkingCard } from './marking-card.tsx'
import { PartsCard } from './parts-card.tsx'
import { RecordDecision } from './record-decision.tsx'
import { isDecided, kindOf, recordState, sourceOf } from './record-text.ts'
import { useRecord } from './use-record.ts'
import '../upload/upload.css'
import './records.css'

/** One staging record: what is in it, and the decision. */
export function RecordPage({ params }: { params: Readonly<Record<string, string>> }) {
  const { record, failure, take } = useRecord(params.id ?? '')
  const change = useChange(record?.workspace_id ?? null, record?.change ?? null)
  const isRequest = record?.staging_kind === 'approval'
  const approval = useLiveQuery(
    ['records', 'approval', params.id ?? '', record?.lifecycle_status ?? ''],
    (client) => client.records.approval(record?.staging_record_id ?? ''),
    { enabled: isRequest },
  )
  const again = () => {
    void change.refresh()
    if (isRequest) void approval.refresh()
  }
  // Not before both are there: the heading would be another one a moment later.
  const [begun, setBegun] = useState(false)
  if (!begun && record && (record.change === null || change.data || change.failure)) setBegun(true)
  const title = change.data ? `${change.data.title} #${change.data.number}` : record?.purpose
  useEffect(() => {
    if (title) document.title = `${title} · Stagedoor`
  }, [title])
  if (record === undefined || !begun) {
    return (
      <>
        <div className="page-head">
          <h1>Record</h1>
        </div>
        {failure === undefined ? (
          <p className="muted">Loading…</p>
        ) : (
          <section className="card" aria-label="Error">
            <FailureNote failure={failure} />
            <p className="empty">
              <a className="link" href="/records">
                Back to Records
              </a>
            </p>
          </section>
        )}
      </>
    )
  }
  const state = recordState(record)
  return (
    <>
      <ChangeHead
        change={change.data}
        name={record.purpose}
        chips={<Chip tone={state.tone}>{state.word}</Chip>}
        facts={<Facts record={record} />}
        changed={again}
      />
      <div className="upload-columns record-columns">
        <div className="stack">
          <FailureNote failure={failure ?? approval.failure} />
          {approval.data && <ApprovalCard record={record} approval={approval.data} />}
          {record.staging_kind === 'mark_manifest' && record.payload_type === 'manifest_json' && (
            <MarkingCard id={record.staging_record_id} isDecided={isDecided(record)} />
          )}
          <PartsCard record={record} />
          {change.data && (
            <Card id="conversation" title="Conversation">
              <Conversation change={change.data} changed={again} />
            </Card>
          )}
          <History record={record} />
        </div>
        <div className="stack">
          <RecordDecision record={record} approval={approval.data} take={take} />
          {change.data && <ReviewersCard change={change.data} changed={again} />}
        </div>
      </div>
    </>
  )
}

function Facts({ record }: { record: StagingRecord }) {
  return (
    <>
      {kindOf(record)} from {sourceOf(record)} · staged by <Person id={record.owner_actor} />
      {viaText(record.owner_via)} <Ago at={record.created_at} />
      {record.source_ref !== null && (
        <>
          {' '}
          · source <code>{record.source_ref}</code>
        </>
      )}
    </>
  )
}

const WORDS: Record<string, string> = {
  record_created: 'Staged',
  record_approved: 'Approved',
  record_rejected: 'Rejected',
  record_consumed: 'Used',
  record_expired: 'Expired',
  record_withdrawn: 'Withdrawn',
  record_cleaned: 'Deleted',
}

/** A record ends as rejected, too, where nobody decided against it. */
function wordOf({ event_type }: RecordedEvent, { withdrawn }: StagingRecord): string | undefined {
  return WORDS[event_type === 'record_rejected' && withdrawn !== null ? 'record_withdrawn' : event_type]
}

/** What happened to the record, and what was recorded with it. */
function History({ record }: { record: StagingRecord }) {
  const { api } = useSession()
  const [events, setEvents] = useState<RecordedEvent[]>()
  const [failure, setFailure] = useState<Failure>()
  const { staging_record_id: id, lifecycle_status } = record
  // biome-ignore lint/correctness/useExhaustiveDependencies: another status has left an event
  useEffect(() => {
    let wanted = true
    api.records
      .history(id)
      .then((answer) => wanted && setEvents(answer.events))
      .catch((thrown) => wanted && setFailure(asFailure(thrown)))
    return () => {
      wanted = false
    }
  }, [api, id, lifecycle_status])
  return (
    <section className="card record-history" aria-labelledby="record-history">
      <header className="card-head">
        <h2 id="record-history">History</h2>
      </header>
      <FailureNote failure={failure} />
      <ol className="history">
        {events?.map((event) => (
          <li key={event.id}>
            <span className="tiny">
              <Ago at={event.created_at} />
            </span>
            <span>
              <b>{wordOf(event, record) ?? event.event_type.replaceAll('_', ' ')}</b> by{' '}
              <Person id={event.actor} />
            </span>
          </li>
        ))}
      </ol>
      {record.metadata !== null && (
        <details className="part">
          <summary>Metadata</summary>
          <pre className="part-text">{indentJson(JSON.stringify(record.metadata))}</pre>
        </details>
      )}
    </section>
  )
}
