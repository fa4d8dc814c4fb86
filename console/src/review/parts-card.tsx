import { useEffect, useState } from 'react'
import { asFailure, type Failure } from '../api/failure.ts'
import type { StagingRecord } from '../api/types.ts'
import { bytes } from '../parts/format.ts'
import { indentJson } from '../parts/json-text.ts'
import { RefusalNote } from '../parts/refusal-note.tsx'
import { useSession } from '../session/session.tsx'

/** A person does not read more than this here; the rest is a download away. */
const SHOWN_BYTES = 65_536

type Part = StagingRecord['part_digests'][number]

/** The parts of a record as they were staged: what is approved is exactly this. */
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
        record.part_digests.map((part) => (
          <PartView key={part.part_index} id={record.staging_record_id} part={part} />
        ))
      )}
    </section>
  )
}

function PartView({ id, part }: { id: string; part: Part }) {
  const { api } = useSession()
  const [text, setText] = useState<string>()
  const [failure, setFailure] = useState<Failure>()
  const size = Number(part.byte_len)
  const readable = part.payload_kind !== 'blob_ref'
  const cut = size > SHOWN_BYTES
  useEffect(() => {
    if (!readable || size === 0) return
    let wanted = true
    api.records
      .partText(id, part.part_index, SHOWN_BYTES)
      .then((read) => wanted && setText(read))
      .catch((thrown) => wanted && setFailure(asFailure(thrown)))
    return () => {
      wanted = false
    }
  }, [api, id, part.part_index, readable, size])

  async function download() {
    setFailure(undefined)
    try {
      await api.records.downloadPart(id, part.part_index, part.part_name)
    } catch (thrown) {
      setFailure(asFailure(thrown))
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
        <button type="button" className="button is-small" onClick={download}>
          Download<span className="unseen"> {part.part_name}</span>
        </button>
      </div>
      <RefusalNote failure={failure} />
      {readable && text === undefined && failure === undefined && size > 0 && (
        <p className="muted part-note">Loading…</p>
      )}
      {text !== undefined && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll it
        <pre className="part-text" tabIndex={0}>
          {part.payload_kind === 'json' ? indentJson(text) : text}
        </pre>
      )}
      {cut && readable && (
        <p className="tiny part-note">
          Only the first {bytes(SHOWN_BYTES)} of {bytes(size)} are shown. Download the part to read all of it
          before you approve.
        </p>
      )}
      {!readable && <p className="tiny part-note">Files are not shown here. Download it to read it.</p>}
    </div>
  )
}
