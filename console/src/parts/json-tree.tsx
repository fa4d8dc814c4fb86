import './json-tree.css'

/** How many levels stand open at first. */
const OPEN_DEPTH = 1
/** So many values are read at a glance: with `opensIfSmall` all of them stand open. */
const SMALL = 200
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
export function JsonTree({
  value,
  label,
  opensIfSmall = false,
}: {
  value: unknown
  label: string
  opensIfSmall?: boolean
}) {
  const isOpen = opensIfSmall && countUpTo(value, SMALL + 1) <= SMALL
  return (
    <section className="json" aria-label={label}>
      <Value value={value} levels={isOpen ? Number.POSITIVE_INFINITY : OPEN_DEPTH} />
    </section>
  )
}

/** How many values it holds; more than `most` are not counted. */
function countUpTo(value: unknown, most: number): number {
  if (typeof value !== 'object' || value === null || value instanceof WrittenNumber) return 1
  let count = 1
  for (const member of Object.values(value)) {
    if (count >= most) break
    count += countUpTo(member, most - count)
  }
  return count
}

/** `levels`: how many stand open. */
function Value({ value, levels }: { value: unknown; levels: number }) {
  if (typeof value !== 'object' || value === null || value instanceof WrittenNumber)
    return <Plain value={value} />
  const isList = Array.isArray(value)
  const members = Object.entries(value)
  if (members.length === 0) return <code>{isList ? '[]' : '{}'}</code>
  return (
    <details open={levels > 0}>
      <summary>
        <code>{isList ? `[ ${members.length} ]` : `{ ${previewOf(members)} }`}</code>
      </summary>
      <ul>
        {members.slice(0, MAX_MEMBERS).map(([name, member]) => (
          <li key={name}>
            <code className="json-name">{name}</code> <Value value={member} levels={levels - 1} />
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
