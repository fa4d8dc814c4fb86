import './json-tree.css'

/** How many levels stand open at first. */
const OPEN_DEPTH = 1
/** More members than this of one object or list are not drawn. */
const MAX_MEMBERS = 500

/** A number as it was written: parsing would round what is beyond 2^53. */
class WrittenNumber {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** JSON whose numbers stay as they are written; undefined where it is not JSON, or the browser cannot tell how a number is written. */
export function parseExactJson(text: string): unknown {
  try {
    return JSON.parse(text, (_name, value, context?: { source?: string }) => {
      if (typeof value !== 'number') return value
      if (context?.source === undefined) throw new SyntaxError('the source of numbers is not told')
      return new WrittenNumber(context.source)
    })
  } catch {
    return undefined
  }
}

/** JSON that folds. For what people decide on, give it a value of `parseExactJson`. */
export function JsonTree({ value, label }: { value: unknown; label: string }) {
  return (
    <section className="json" aria-label={label}>
      <Value value={value} depth={0} />
    </section>
  )
}

function Value({ value, depth }: { value: unknown; depth: number }) {
  if (typeof value !== 'object' || value === null || value instanceof WrittenNumber)
    return <Plain value={value} />
  const isList = Array.isArray(value)
  const members = Object.entries(value)
  if (members.length === 0) return <code>{isList ? '[]' : '{}'}</code>
  return (
    <details open={depth < OPEN_DEPTH}>
      <summary>
        <code>{isList ? `[ ${members.length} ]` : `{ ${previewOf(members)} }`}</code>
      </summary>
      <ul>
        {members.slice(0, MAX_MEMBERS).map(([name, member]) => (
          <li key={name}>
            <code className="json-name">{name}</code> <Value value={member} depth={depth + 1} />
          </li>
        ))}
        {members.length > MAX_MEMBERS && (
          <li className="tiny">and {members.length - MAX_MEMBERS} more that are not shown</li>
        )}
      </ul>
    </details>
  )
}

function Plain({ value }: { value: unknown }) {
  if (value instanceof WrittenNumber) return <code className="json-number">{value.text}</code>
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return <code className={`json-${value === null ? 'null' : typeof value}`}>{text}</code>
}

function previewOf(members: readonly [string, unknown][]): string {
  const names = members.slice(0, 4).map(([name]) => name)
  return names.join(', ') + (members.length > names.length ? ', …' : '')
}
