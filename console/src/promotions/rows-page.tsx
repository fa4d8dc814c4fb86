import { useMemo } from 'react'
import { PageHead } from '../frame/page-head.tsx'
import { useLiveQuery } from '../live/live.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { go, useParameters } from '../route.ts'
import { useWorkspace, WorkspaceChoice } from '../session/use-workspace.tsx'
import { type NamedRow, RowOrigin, rowAddress } from '../upload/row-origin.tsx'
import { ProductionLinks } from './production-links.tsx'

/** Every promotion that wrote a row of production. The address holds the table and the key: it can be kept and sent. */
export default function RowsPage() {
  const { id: workspace } = useWorkspace()
  const [parameters] = useParameters()
  const datasets = useLiveQuery(
    ['settings', 'datasets', workspace],
    (api) => api.system.datasets(workspace),
    { enabled: workspace !== '' },
  )
  const tables = useMemo(() => {
    const keys = new Map<string, readonly string[]>()
    for (const { target, key } of (datasets.data?.datasets ?? []).flatMap(({ row_types }) => row_types))
      if (!keys.has(target)) keys.set(target, key)
    return keys
  }, [datasets.data])
  const row = rowIn(parameters)
  const isChosen = parameters.has('workspace')
  return (
    <>
      <PageHead title="Where a row comes from" />
      <ProductionLinks />
      <WorkspaceChoice />
      <section className="card" aria-label="A row of production">
        <FailureNote failure={datasets.failure} />
        <RowOrigin
          workspace={workspace}
          tables={tables}
          table={parameters.get('table') ?? undefined}
          row={row}
          ask={(asked) => go(rowAddress(asked, isChosen ? workspace : undefined))}
        />
        {row === undefined &&
          (datasets.data !== undefined && tables.size === 0 ? (
            <EmptyState
              title="No dataset writes a table of this workspace yet."
              command="npm run -s stagedoor -- init SCHEMA.TABLE FILE"
            >
              A dataset says which table a file is for, and which columns tell its rows apart.
            </EmptyState>
          ) : (
            <EmptyState title="Choose a table and give the key of a row.">
              You then see every promotion that wrote it, newest first: file and line, old and new values, who
              approved and promoted it, and whether it was undone. The rows of an upload, in its tab Lineage,
              lead here too.
            </EmptyState>
          ))}
      </section>
    </>
  )
}

function rowIn(parameters: URLSearchParams): NamedRow | undefined {
  const table = parameters.get('table')
  const id = parameters.get('id')
  if (table === null) return undefined
  if (id !== null) return { table, id }
  const key = keyFrom(parameters.get('key'))
  return key && { table, key }
}

/** What is no JSON object, such as a link that was cut off, names no row. */
function keyFrom(text: string | null): Record<string, unknown> | undefined {
  try {
    const key: unknown = JSON.parse(text ?? '')
    return key !== null && typeof key === 'object' && !Array.isArray(key) ? { ...key } : undefined
  } catch {
    return undefined
  }
}
