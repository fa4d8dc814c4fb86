interface DiffLine {
  readonly sign: '+' | '-' | ' ' | '@'
  readonly text: string
  readonly before: number | undefined
  readonly after: number | undefined
}

/** A unified diff, with the number of each line on both sides. Signs say what colours say. */
export function DiffLines({ patch }: { patch: string }) {
  const lines = readPatch(patch)
  const added = lines.filter(({ sign }) => sign === '+').length
  const removed = lines.filter(({ sign }) => sign === '-').length
  return (
    <>
      <p className="card-text tiny">
        {added} {added === 1 ? 'line' : 'lines'} added, {removed} removed
      </p>
      <table className="diff" aria-label="Changed lines">
        <thead className="unseen">
          <tr>
            <th scope="col">Old line</th>
            <th scope="col">New line</th>
            <th scope="col">Change</th>
            <th scope="col">Text</th>
          </tr>
        </thead>
        <tbody>
          {lines.map((line, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a line of a patch is its place
            <tr key={index} className={CLASSES[line.sign]}>
              <td className="diff-number">{line.before}</td>
              <td className="diff-number">{line.after}</td>
              <td className="diff-sign">
                <span aria-hidden="true">{line.sign === '@' ? '⋯' : line.sign}</span>
                <span className="unseen">{SAID[line.sign]}</span>
              </td>
              <td>
                <code>{line.sign === '@' ? '' : line.text}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}

const CLASSES = { '+': 'is-added', '-': 'is-removed', ' ': '', '@': 'is-gap' } as const
const SAID = { '+': 'added', '-': 'removed', ' ': 'same', '@': 'lines left out' } as const

function readPatch(patch: string): DiffLine[] {
  const lines: DiffLine[] = []
  let before = 0
  let after = 0
  for (const line of patch.split('\n')) {
    const place = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line)
    if (place) {
      before = Number(place[1])
      after = Number(place[2])
      if (lines.length > 0 || before > 1)
        lines.push({ sign: '@', text: line, before: undefined, after: undefined })
    } else if (before === 0 || line === '' || line.startsWith('\\')) {
      // The header, the end of the text, and a note on a missing newline.
    } else if (line.startsWith('+'))
      lines.push({ sign: '+', text: line.slice(1), before: undefined, after: after++ })
    else if (line.startsWith('-'))
      lines.push({ sign: '-', text: line.slice(1), before: before++, after: undefined })
    else lines.push({ sign: ' ', text: line.slice(1), before: before++, after: after++ })
  }
  return lines
}
