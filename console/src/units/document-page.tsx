import { useLiveQuery } from '../live/live.tsx'
import { Ago } from '../parts/ago.tsx'
import { Chip } from '../parts/chip.tsx'
import { Detail } from '../parts/detail.tsx'
import { Facts } from '../parts/facts.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { bytes, count } from '../parts/format.ts'
import { Markdown } from '../parts/markdown.tsx'
import { Person } from '../parts/person.tsx'
import { StatusChip } from './units-page.tsx'
import './units.css'

/** More text than this makes the page slow; the command line prints all of it. */
const MAX_SHOWN = 200_000

/** A document that was cut: which unit holds which of its pieces, and its text. */
export function DocumentPage({ params }: { params: Readonly<Record<string, string>> }) {
  const id = params.id ?? ''
  const { data: found, failure } = useLiveQuery(['units', 'document', id], (api) => api.units.document(id))
  if (found === undefined || found.document_id !== id)
    return (
      <Detail title="Document" back={['Units', '/units?view=documents']}>
        {failure ? <FailureNote failure={failure} /> : <p className="muted">Loading…</p>}
      </Detail>
    )
  return (
    <Detail
      title={found.title}
      back={['Documents', '/units?view=documents']}
      chips={found.deleted_at !== null && <Chip tone="stale">deleted</Chip>}
      aside={
        <section className="card" aria-label="Facts">
          <Facts
            facts={[
              ['Source', <code key="s">{found.source_ref}</code>],
              ['Size', `${bytes(found.bytes)}, ${found.language}`],
              ['Pieces', count(found.pieces)],
              [
                'Last cut',
                <span key="c">
                  <Ago at={found.updated_at} /> by <Person id={found.updated_by} />
                </span>,
              ],
            ]}
          />
        </section>
      }
      tabs={[
        {
          id: 'pieces',
          title: 'Pieces',
          count: found.pieces,
          content: (
            <section className="card" aria-label="Pieces">
              <ul className="edge-list">
                {found.map.map((piece) => (
                  <li key={piece.unit_id}>
                    <span className="edge-target">
                      <a className="link" href={`/units/${piece.unit_id}`}>
                        {piece.title}
                      </a>{' '}
                      <span className="tiny">
                        {piece.unit_kind} · {piece.piece_address}
                      </span>
                    </span>
                    {piece.dropped_at !== null && <Chip tone="stale">no longer a piece</Chip>}
                    <StatusChip
                      unit={{ lifecycle_status: piece.lifecycle_status as never, deleted_at: null }}
                    />
                  </li>
                ))}
              </ul>
              {found.next !== null && <p className="tiny part-note">The first 1,000 pieces are shown.</p>}
            </section>
          ),
        },
        {
          id: 'text',
          title: 'Text',
          content: (
            <section className="card" aria-label="Text">
              <div className="unit-body">
                <Markdown text={found.body.slice(0, MAX_SHOWN)} />
              </div>
              {found.body.length > MAX_SHOWN && (
                <p className="tiny part-note">The beginning is shown: {count(MAX_SHOWN)} characters.</p>
              )}
            </section>
          ),
        },
      ]}
    />
  )
}
