import { useEffect, useState } from 'react'
import { asFailure, type Failure } from '../api/failure.ts'
import type { Marking } from '../api/types.ts'
import { Chip, type Tone } from '../parts/chip.tsx'
import { bytes, counted } from '../parts/format.ts'
import { RefusalNote } from '../parts/refusal-note.tsx'
import { useSession } from '../session/session.tsx'

type Piece = Marking['pieces'][number]

/** What a cut does with the unit of a piece. */
export const PREVIEWS: Record<Piece['preview']['what'], { tone: Tone; word: string }> = {
  created: { tone: 'ok', word: 'new unit' },
  versioned: { tone: 'work', word: 'new version' },
  successor: { tone: 'work', word: 'new draft' },
  unchanged: { tone: 'stale', word: 'unchanged' },
}

/**
 * What a cut would make of the document, piece by piece: the text before and after. Of a cut that was decided, its pieces alone: what it
 * would change in the units of today is not what it changed then.
 */
export function MarkingCard({ id, isDecided }: { id: string; isDecided: boolean }) {
  const { api } = useSession()
  const [marking, setMarking] = useState<Marking>()
  const [failure, setFailure] = useState<Failure>()
  useEffect(() => {
    let wanted = true
    api.records
      .marking(id)
      .then((read) => wanted && setMarking(read))
      .catch((thrown) => wanted && setFailure(asFailure(thrown)))
    return () => {
      wanted = false
    }
  }, [api, id])
  return (
    <section className="card" aria-labelledby="marking-title">
      <header className="card-head">
        <h2 id="marking-title">{isDecided ? 'Pieces of the cut' : 'Preview of the cut'}</h2>
        {marking && (
          <span className="tiny">
            {isDecided
              ? `${marking.document.source_ref} · ${counted(marking.pieces.length, 'piece')}`
              : summaryOf(marking)}{' '}
            ·{' '}
            <a className="link" href={`/marks/${id}`}>
              beside the text of the document
            </a>
          </span>
        )}
      </header>
      <RefusalNote failure={failure} />
      {marking === undefined && failure === undefined && <p className="empty">Loading…</p>}
      {!isDecided && marking?.left_out && (
        <p className="note is-held">
          <b>{bytes(marking.left_out.bytes)} of the document are not part of any piece</b> and will not be in
          any unit:{' '}
          {marking.left_out.parts
            .slice(0, 5)
            .map(({ first_line, last_line }) =>
              first_line === last_line ? `line ${first_line}` : `lines ${first_line}–${last_line}`,
            )
            .join(', ')}
          {marking.left_out.parts.length > 5 && ' and more'}.
        </p>
      )}
      {marking?.pieces.map((piece) => (
        <PieceView key={piece.address} piece={piece} isDecided={isDecided} />
      ))}
      {(isDecided ? [] : (marking?.removed ?? [])).map((removed) => (
        <div key={removed.address} className="part">
          <div className="part-head">
            <Chip tone="held">removed</Chip>
            <h3>{removed.title}</h3>
            <code>{removed.address}</code>
          </div>
          <p className="tiny part-note">
            {removed.retired.length > 0
              ? `${counted(removed.retired.length, 'draft')} will be retired. `
              : 'Nothing is retired. '}
            {removed.kept.length > 0 && `${counted(removed.kept.length, 'unit')} in force will stay.`}
          </p>
        </div>
      ))}
    </section>
  )
}

function PieceView({ piece, isDecided }: { piece: Piece; isDecided: boolean }) {
  const { tone, word } = PREVIEWS[piece.preview.what]
  const changed = !isDecided && piece.before !== null && piece.before !== piece.text
  return (
    <details className="part" open={!isDecided && piece.preview.what !== 'unchanged'}>
      <summary className="part-head">
        {!isDecided && <Chip tone={tone}>{word}</Chip>}
        <b>{piece.title}</b>
        <code>{isDecided ? piece.address : (piece.preview.unit ?? piece.address)}</code>
      </summary>
      {!isDecided && piece.preview.replaced_version !== undefined && (
        <p className="note is-held">
          This text replaces version {piece.preview.replaced_version}, which a person wrote after the last
          cut.
        </p>
      )}
      {changed && (
        <pre className="part-text is-old">
          <span className="unseen">Before: </span>
          {piece.before}
        </pre>
      )}
      <pre className={changed ? 'part-text is-new' : 'part-text'}>
        {changed && <span className="unseen">After: </span>}
        {piece.text}
      </pre>
    </details>
  )
}

function summaryOf({ pieces, removed, document }: Marking): string {
  const changed = pieces.filter(({ preview }) => preview.what !== 'unchanged').length
  const parts = [counted(pieces.length, 'piece'), `${changed} changed`]
  if (removed.length > 0) parts.push(`${removed.length} removed`)
  return `${document.source_ref} · ${parts.join(', ')}`
}
