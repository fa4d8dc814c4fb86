import { useEffect, useRef, useState } from 'react'
import type { Cut, Marking } from '../api/types.ts'
import { useLiveQuery } from '../live/live.tsx'
import { ActionDialog } from '../parts/action-dialog.tsx'
import { Chip } from '../parts/chip.tsx'
import { Detail } from '../parts/detail.tsx'
import { Facts } from '../parts/facts.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { bytes, counted, shortHash } from '../parts/format.ts'
import { PREVIEWS } from '../records/marking-card.tsx'
import { isDecided, recordState } from '../records/record-text.ts'
import { useParameter } from '../route.ts'
import { useSession } from '../session/session.tsx'
import './units.css'

type Piece = Marking['pieces'][number]
type LeftOut = NonNullable<Marking['left_out']>['parts'][number]

/** A marking beside the text of its document: what each piece takes, what is left out, and what the cut will do. */
export function MarkingPage({ params }: { params: Readonly<Record<string, string>> }) {
  const id = params.id ?? ''
  const {
    data: marking,
    failure,
    refresh,
  } = useLiveQuery(['records', 'marking', id], (api) => api.units.marking(id))
  if (marking === undefined || marking.staging_record_id !== id)
    return (
      <Detail title="Cut of a document" back={['Units', '/units']}>
        {failure ? <FailureNote failure={failure} /> : <p className="muted">Loading…</p>}
      </Detail>
    )
  const { tone, word } = recordState({ lifecycle_status: marking.lifecycle_status as never })
  return (
    <Detail
      title={`Cut of ${marking.document.title}`}
      back={['Units', '/units']}
      chips={<Chip tone={tone}>{word}</Chip>}
      actions={<CutActions marking={marking} refresh={refresh} />}
    >
      <Summary marking={marking} />
      <BesideText marking={marking} />
      {!isDecided(marking) && <Removed marking={marking} />}
    </Detail>
  )
}

function counts(marking: Marking) {
  const of = (what: Piece['preview']['what']) =>
    marking.pieces.filter(({ preview }) => preview.what === what).length
  return {
    created: of('created'),
    versioned: of('versioned'),
    successor: of('successor'),
    unchanged: of('unchanged'),
    retired: marking.removed.reduce((sum, { retired }) => sum + retired.length, 0),
  }
}

/** What the cut will do, in a sentence. */
function happensText(marking: Marking): string {
  const { created, versioned, successor, unchanged, retired } = counts(marking)
  const parts = [
    created > 0 && `${counted(created, 'unit')} will be created`,
    versioned > 0 && `${counted(versioned, 'draft')} will get a new version`,
    successor > 0 && `${counted(successor, 'unit')} in force will get a new draft beside it`,
    retired > 0 && `${counted(retired, 'draft')} will be retired`,
    unchanged > 0 && `${counted(unchanged, 'unit')} will stay as ${unchanged === 1 ? 'it is' : 'they are'}`,
  ].filter((part) => part !== false)
  return parts.length === 0 ? 'Nothing will change.' : `${parts.join(', ')}.`
}

function Summary({ marking }: { marking: Marking }) {
  const { document: source, left_out } = marking
  return (
    <section className="card" aria-label="Summary">
      <Facts
        facts={[
          ['Document', <code key="d">{source.source_ref}</code>],
          // What it would change in the units of today is not what it changed then.
          ...(isDecided(marking) ? [] : [['The cut', happensText(marking)] as const]),
          [
            'Left out',
            left_out === null
              ? 'nothing: every text is in a piece'
              : `${bytes(left_out.bytes)} of ${bytes(source.bytes)} will be in no unit`,
          ],
          [
            'Digest',
            <code key="h" title={marking.digest}>
              {shortHash(marking.digest, 3)}
            </code>,
          ],
        ]}
      />
      {marking.legacy && (
        <p className="note is-held">
          The old knowledge base has a document of this source, “{marking.legacy.title}”. It stays as it is.
        </p>
      )}
    </section>
  )
}

/** The address that those of all pieces begin with. */
function rootOf({ pieces }: Marking): string {
  return pieces[0]?.address.split('/')[0] ?? ''
}

function CutActions({ marking, refresh }: { marking: Marking; refresh(): Promise<unknown> }) {
  const { api } = useSession()
  const [cutting, setCutting] = useState(false)
  const [done, setDone] = useState<Cut>()
  const { staging_record_id: id, lifecycle_status: status, digest } = marking
  return (
    <>
      {done && (
        <a className="button" href={`/documents/${done.document_id}`}>
          See the units
        </a>
      )}
      {done === undefined && status === 'consumed' && (
        <a className="button" href={`/units?under=${encodeURIComponent(rootOf(marking))}`}>
          See the units
        </a>
      )}
      {status === 'approved' && (
        <button type="button" className="button is-next" onClick={() => setCutting(true)}>
          Cut it into units…
        </button>
      )}
      <a className={status === 'pending' ? 'button is-next' : 'button'} href={`/records/${id}`}>
        {status === 'pending' ? 'Decide' : 'The record'}
      </a>
      {cutting && (
        <ActionDialog
          title={`Cut ${marking.document.title}`}
          verb="Cut"
          close={() => setCutting(false)}
          act={async () => {
            setDone(await api.units.cut(id, digest))
            await refresh()
          }}
        >
          <p>
            In one transaction: {happensText(marking)}{' '}
            {marking.left_out && `${bytes(marking.left_out.bytes)} of the document will be in no unit.`}
          </p>
        </ActionDialog>
      )}
    </>
  )
}

/** Pieces on the left, the text of the document on the right; to choose a piece shows its text. */
function BesideText({ marking }: { marking: Marking }) {
  const [chosen, choose] = useParameter('piece')
  const text = useRef<HTMLElement>(null)
  useEffect(() => {
    if (chosen === undefined) return
    const shown = text.current?.querySelector(`[data-piece="${CSS.escape(chosen)}"]`)
    shown?.scrollIntoView({ block: 'nearest' })
  }, [chosen])
  const depths = depthsOf(marking.pieces)
  const decided = isDecided(marking)
  return (
    <div className="marking">
      <section className="card marking-pieces" aria-labelledby="pieces-title">
        <header className="card-head">
          <h2 id="pieces-title">Pieces</h2>
          <span className="tiny">{counted(marking.pieces.length, 'piece')}</span>
        </header>
        <ol>
          {marking.pieces.map((piece) => {
            const { tone, word } = PREVIEWS[piece.preview.what]
            return (
              <li
                key={piece.address}
                style={{ paddingLeft: `${12 + 14 * (depths.get(piece.address) ?? 0)}px` }}
              >
                <button
                  type="button"
                  className="marking-piece"
                  aria-pressed={chosen === piece.address}
                  onClick={() => choose(chosen === piece.address ? undefined : piece.address)}
                >
                  <b>{piece.title}</b>
                  <span className="tiny">
                    {piece.kind} · {decided ? piece.address : (piece.preview.unit ?? piece.address)}
                  </span>
                </button>
                {!decided && <Chip tone={tone}>{word}</Chip>}
              </li>
            )
          })}
        </ol>
      </section>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll it */}
      <section ref={text} className="card marking-text" aria-labelledby="text-title" tabIndex={0}>
        <header className="card-head">
          <h2 id="text-title">Text of the document</h2>
          {marking.left_out && <span className="tiny">marked with a bar: left out</span>}
        </header>
        {segmentsOf(marking).map((segment) =>
          'piece' in segment ? (
            <PieceText
              key={segment.piece.address}
              piece={segment.piece}
              chosen={chosen === segment.piece.address}
              isDecided={decided}
            />
          ) : (
            <div key={`left-${segment.left.from}`} className="marking-left">
              <Chip tone="held">
                left out, {segment.left.first_line === segment.left.last_line ? 'line' : 'lines'}{' '}
                {segment.left.first_line}
                {segment.left.first_line !== segment.left.last_line && `–${segment.left.last_line}`}
              </Chip>
              <pre>{segment.left.text}</pre>
            </div>
          ),
        )}
        {marking.left_out && marking.left_out.parts.length >= 50 && (
          <p className="tiny part-note">The first fifty parts that are left out are shown.</p>
        )}
      </section>
    </div>
  )
}

interface PieceTextProps {
  readonly piece: Piece
  readonly chosen: boolean
  readonly isDecided: boolean
}

function PieceText({ piece, chosen, isDecided }: PieceTextProps) {
  const { preview } = piece
  const changed = !isDecided && piece.before !== null && piece.before !== piece.text
  return (
    <div data-piece={piece.address} className={chosen ? 'marking-segment is-chosen' : 'marking-segment'}>
      <p className="tiny">{piece.title}</p>
      {!isDecided && preview.replaced_version !== undefined && (
        <p className="note is-held">
          This text replaces version {preview.replaced_version}, which a person wrote after the last cut.
        </p>
      )}
      {changed && (
        <pre className="is-old">
          <span className="unseen">Before: </span>
          {piece.before}
        </pre>
      )}
      <pre className={changed ? 'is-new' : ''}>{piece.text}</pre>
    </div>
  )
}

function Removed({ marking }: { marking: Marking }) {
  if (marking.removed.length === 0) return null
  return (
    <section className="card" aria-labelledby="removed-title">
      <header className="card-head">
        <h2 id="removed-title">No longer pieces</h2>
      </header>
      <ul className="edge-list">
        {marking.removed.map((removed) => (
          <li key={removed.address}>
            <span className="edge-target">
              {removed.title} <span className="tiny">{removed.address}</span>
            </span>
            <span className="muted">
              {removed.retired.length > 0
                ? `${counted(removed.retired.length, 'draft')} will be retired`
                : 'nothing is retired'}
              {removed.kept.length > 0 && `, ${counted(removed.kept.length, 'unit')} in force will stay`}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Pieces and left-out text in the order of the document. */
function segmentsOf({ pieces, left_out }: Marking): ({ piece: Piece } | { left: LeftOut })[] {
  const all = [
    ...pieces
      .filter(({ text }) => text.trim() !== '')
      .map((piece) => ({ from: piece.from, segment: { piece } })),
    ...(left_out?.parts ?? []).map((left) => ({ from: left.from, segment: { left } })),
  ]
  return all.sort((left, right) => left.from - right.from).map(({ segment }) => segment)
}

/** How deep a piece stands in others; parents come before what is in them. */
function depthsOf(pieces: readonly Piece[]): Map<string, number> {
  const depths = new Map<string, number>()
  for (const { address, parent } of pieces)
    depths.set(address, parent === null ? 0 : Math.min(8, (depths.get(parent) ?? 0) + 1))
  return depths
}
