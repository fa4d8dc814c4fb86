import './json-tree.css'

/** How many levels stand open at first. */
const OPEN_DEPTH = 1
/** More members than this of one object or list are not drawn. */
const MAX_MEMBERS = 500

/** JSON that folds. Numbers beyond 2^53 are shown exactly only as text: see json-text.ts. */
export function JsonTree({ value, label }: { value: unknown; label: string }) {
  return (
    <section className="json" aria-label={label}>
      <Value value={value} depth={0} />
    </section>
  )
}

function Value({ value, depth }: { value: unknown; depth: number }) {
  if (typeof value !== 'object' || value === null) return <Plain value={value} />
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
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return <code className={`json-${value === null ? 'null' : typeof value}`}>{text}</code>
}

function previewOf(members: readonly [string, unknown][]): string {
  const names = members.slice(0, 4).map(([name]) => name)
  return names.join(', ') + (members.length > names.length ? ', …' : '')
}
