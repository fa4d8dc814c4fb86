import type { Approval, StagingRecord } from '../api/types.ts'
import { useLiveQuery } from '../live/live.tsx'
import { Ago } from '../parts/ago.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { JsonTree, parseExactJson } from '../parts/json-tree.tsx'
import { Markdown } from '../parts/markdown.tsx'
import { Person } from '../parts/person.tsx'

/** More than this is read in the parts below. */
const SHOWN_BYTES = 262_144

/** What a program asks to approve, as it wants it to be shown; the parts below are the same in full. */
export function ApprovalCard({ record, approval }: { record: StagingRecord; approval: Approval }) {
  const part =
    record.part_digests.find(({ part_name }) => part_name === 'rendered') ??
    record.part_digests.find(({ part_name }) => part_name === 'show')
  // The bytes of a part never change: they are read once.
  const { data: text, failure } = useLiveQuery(
    ['records', 'shown', record.staging_record_id],
    (client) => client.records.partText(record.staging_record_id, part?.part_index ?? 0, SHOWN_BYTES),
    { enabled: part !== undefined && record.cleaned_at === null, once: true },
  )
  return (
    <section className="card approval-card" aria-labelledby="approval-title">
      <header className="card-head">
        <h2 id="approval-title">{approval.title}</h2>
        {approval.kind !== null && (
          <span className="tiny">
            {approval.kind}, revision {approval.kind_revision}
          </span>
        )}
      </header>
      <FailureNote failure={failure} />
      <div className="approval-shown">
        {record.cleaned_at !== null ? (
          <p className="empty">What was shown was deleted when its retention ended.</p>
        ) : text === undefined ? (
          failure === undefined && <p className="muted">Loading…</p>
        ) : (
          <Shown text={text} isJson={part?.payload_kind === 'json'} />
        )}
      </div>
      <ApprovalOutcome approval={approval} />
    </section>
  )
}

function Shown({ text, isJson }: { text: string; isJson: boolean }) {
  const value = isJson ? parseExactJson(text) : undefined
  if (value !== undefined) return <JsonTree value={value} label="What is shown" opensIfSmall />
  return isJson ? <pre className="part-text">{text}</pre> : <Markdown text={text} />
}

function ApprovalOutcome({ approval: { answers, form, run } }: { approval: Approval }) {
  const filled = Object.entries(answers ?? {})
  if (filled.length === 0 && run === null) return null
  return (
    <dl className="decision-facts">
      {filled.map(([name, value]) => (
        <div key={name}>
          <dt>{form.find((field) => field.name === name)?.label ?? name}</dt>
          <dd>{String(value)}</dd>
        </div>
      ))}
      {run !== null && (
        <div>
          <dt>Run</dt>
          <dd>
            {run.status === 'running' && (
              <>
                by <Person id={run.by} />, begun <Ago at={run.started_at} />, no end is known. If its process
                has died, it is not begun again.
              </>
            )}
            {run.status === 'applied' && (
              <>
                done by <Person id={run.by} />
              </>
            )}
            {run.status === 'failed' && `failed: ${run.error}`}
          </dd>
        </div>
      )}
    </dl>
  )
}
