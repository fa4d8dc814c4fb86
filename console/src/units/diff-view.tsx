import { useState } from 'react'
import { useNarrow } from '../parts/use-narrow.ts'
import { type DiffLine, type DiffRow, readDiff } from './unified-diff.ts'

/** Old and new text: one below the other, or beside each other where there is room. */
export function DiffView({ diff }: { diff: string }) {
  const narrow = useNarrow(760)
  const [wanted, setWanted] = useState<'unified' | 'beside'>('unified')
  const beside = wanted === 'beside' && !narrow
  const rows = readDiff(diff)
  return (
    <div className="diff">
      {!narrow && (
        <div className="diff-views">
          {(['unified', 'beside'] as const).map((view) => (
            <button
              key={view}
              type="button"
              className="button is-small"
              aria-pressed={wanted === view}
              onClick={() => setWanted(view)}
            >
              {view === 'unified' ? 'Unified' : 'Side by side'}
            </button>
          ))}
        </div>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll it */}
      <div className="diff-scroll" tabIndex={0}>
        <table className={beside ? 'diff-table is-beside' : 'diff-table'}>
          <caption className="unseen">Old and new lines</caption>
          <tbody>{rows.map((row, index) => (beside ? besideRow(row, index) : unifiedRow(row, index)))}</tbody>
        </table>
      </div>
    </div>
  )
}

function unifiedRow(row: DiffRow, index: number) {
  if (row.kind === 'gap') return <Gap key={index} text={row.text} columns={3} />
  if (row.kind === 'same')
    return (
      <tr key={index}>
        <td className="diff-number">{row.now?.number}</td>
        <td className="diff-sign" />
        <td>{row.now && <Parts line={row.now} as="span" />}</td>
      </tr>
    )
  return [
    row.old && (
      <tr key={`${index}-`} className="is-old">
        <td className="diff-number">{row.old.number}</td>
        <td className="diff-sign">−</td>
        <td>
          <Parts line={row.old} as="del" />
        </td>
      </tr>
    ),
    row.now && (
      <tr key={`${index}+`} className="is-new">
        <td className="diff-number">{row.now.number}</td>
        <td className="diff-sign">+</td>
        <td>
          <Parts line={row.now} as="ins" />
        </td>
      </tr>
    ),
  ]
}

function besideRow(row: DiffRow, index: number) {
  if (row.kind === 'gap') return <Gap key={index} text={row.text} columns={4} />
  const changed = row.kind === 'changed'
  return (
    <tr key={index}>
      <td className="diff-number">{row.old?.number}</td>
      <td className={changed && row.old ? 'is-old' : ''}>
        {row.old && <Parts line={row.old} as={changed ? 'del' : 'span'} />}
      </td>
      <td className="diff-number">{row.now?.number}</td>
      <td className={changed && row.now ? 'is-new' : ''}>
        {row.now && <Parts line={row.now} as={changed ? 'ins' : 'span'} />}
      </td>
    </tr>
  )
}

function Gap({ text, columns }: { text: string; columns: number }) {
  return (
    <tr className="diff-gap">
      <td colSpan={columns}>… {text}</td>
    </tr>
  )
}

function Parts({ line, as: Line }: { line: DiffLine; as: 'span' | 'del' | 'ins' }) {
  return (
    <Line>
      {line.parts.map(({ text, changed }, index) =>
        changed && line.parts.length > 1 ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one line never change places
          <mark key={index}>{text}</mark>
        ) : (
          text
        ),
      )}
    </Line>
  )
}
