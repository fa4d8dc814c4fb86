import { useState } from 'react'
import { asFailure, type Failure } from '../api/failure.ts'
import type { StagingRecord } from '../api/types.ts'
import { useLiveQuery } from '../live/live.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { bytes } from '../parts/format.ts'
import { indentJson } from '../parts/json-text.ts'
import { JsonTree, parseExactJson } from '../parts/json-tree.tsx'
import { Markdown } from '../parts/markdown.tsx'
import { RefusalNote } from '../parts/refusal-note.tsx'
import { useSession } from '../session/session.tsx'

/** A person does not read more than this here; the rest is a download away. */
const SHOWN_BYTES = 65_536

type Part = StagingRecord['part_digests'][number]

/** The parts of a record as they were staged, side by side where there is room: what is approved is exactly this. */
export function PartsCard({ record }: { record: StagingRecord }) {
  return (
    <section className="card" aria-labelledby="parts-title">
      <header className="card-head">
        <h2 id="parts-title">Parts</h2>
        <span className="tiny">{bytes(Number(record.byte_len))}</span>
      </header>
      {record.cleaned_at !== null ? (
        <p className="empty">The parts were deleted when their retention ended.</p>
      ) : (
        <div className={record.part_digests.length > 1 ? 'parts is-side-by-side' : 'parts'}>
          {record.part_digests.map((part) => (
            <PartView key={part.part_index} id={record.staging_record_id} part={part} />
          ))}
        </div>
      )}
    </section>
  )
}

function PartView({ id, part }: { id: string; part: Part }) {
  const { api } = useSession()
  const [refusal, setRefusal] = useState<Failure>()
  const [asText, setAsText] = useState(false)
  const size = Number(part.byte_len)
  const isReadable = part.payload_kind !== 'blob_ref'
  // The bytes of a part never change: they are read once.
  const { data: text, failure } = useLiveQuery(
    ['records', 'part', id, part.part_index],
    (client) => client.records.partText(id, part.part_index, SHOWN_BYTES),
    { enabled: isReadable && size > 0, once: true },
  )
  const isCut = size > SHOWN_BYTES
  const view = text === undefined ? undefined : rendered(part, text, isCut)

  async function download() {
    setRefusal(undefined)
    try {
      await api.records.downloadPart(id, part.part_index, part.part_name)
    } catch (thrown) {
      setRefusal(asFailure(thrown))
    }
  }

  return (
    <div className="part">
      <div className="part-head">
        <h3>{part.part_name}</h3>
        <span className="tiny">
          {part.payload_kind === 'blob_ref' ? 'file' : part.payload_kind === 'json' ? 'JSON' : 'text'},{' '}
          {bytes(size)} · <code title={part.content_hash}>sha256 {part.content_hash.slice(0, 8)}…</code>
        </span>
        <span className="part-actions">
          {view !== undefined && (
            <button
              type="button"
              className="button is-small"
              aria-pressed={asText}
              onClick={() => setAsText(!asText)}
            >
              As text<span className="unseen"> {part.part_name}</span>
            </button>
          )}
          <button type="button" className="button is-small" onClick={download}>
            Download<span className="unseen"> {part.part_name}</span>
          </button>
        </span>
      </div>
      <FailureNote failure={failure} />
      <RefusalNote failure={refusal} />
      {isReadable && text === undefined && failure === undefined && size > 0 && (
        <p className="muted part-note">Loading…</p>
      )}
      {view !== undefined && !asText && <div className="part-view">{view}</div>}
      {text !== undefined && (view === undefined || asText) && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll it
        <pre className="part-text" tabIndex={0}>
          {part.payload_kind === 'json' ? indentJson(text) : text}
        </pre>
      )}
      {isCut && isReadable && (
        <p className="tiny part-note">
          Only the first {bytes(SHOWN_BYTES)} of {bytes(size)} are shown. Download the part to read all of it
          before you approve.
        </p>
      )}
      {!isReadable && <p className="tiny part-note">Files are not shown here. Download it to read it.</p>}
    </div>
  )
}

/** JSON folds, Markdown is rendered; undefined: plain text, or JSON that is not whole here. */
function rendered(part: Part, text: string, isCut: boolean) {
  if (part.payload_kind === 'json' && !isCut) {
    const value = parseExactJson(text)
    return value === undefined ? undefined : <JsonTree value={value} label={part.part_name} />
  }
  return /\.(md|markdown)$/i.test(part.part_name) ? <Markdown text={text} /> : undefined
}
