import { useEffect, useMemo, useState } from 'react'
import type { ProblemKind, UploadDetail } from '../../api/upload-types.ts'
import { count } from '../../parts/format.ts'
import { useSession } from '../../session/session.tsx'

/** What is wrong, counted; read again when the lines are checked again. */
export function useProblemKinds({ upload_id, staged_at, status }: UploadDetail): readonly ProblemKind[] {
  const { api } = useSession()
  const [kinds, setKinds] = useState<readonly ProblemKind[]>([])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a repair moves staged_at, a plan may find more
  useEffect(() => {
    let wanted = true
    api.uploads
      .problemKinds(upload_id)
      .then((found) => wanted && setKinds(found.kinds))
      // Without the counts one can still filter by status; why, the list itself says.
      .catch(() => undefined)
    return () => {
      wanted = false
    }
  }, [api, upload_id, staged_at, status])
  return kinds
}

interface Props {
  readonly kinds: readonly ProblemKind[]
  readonly rule: string | undefined
  readonly column: string | undefined
  choose(filter: { rule: string | undefined; column: string | undefined }): void
}

/** Only lines with a problem by this rule, in this column. */
export function ProblemFilters({ kinds, rule, column, choose }: Props) {
  const rules = useMemo(
    () => sums(kinds, column === undefined ? kinds : kinds.filter((kind) => kind.column === column), 'rule'),
    [kinds, column],
  )
  const columns = useMemo(
    () => sums(kinds, rule === undefined ? kinds : kinds.filter((kind) => kind.rule === rule), 'column'),
    [kinds, rule],
  )
  if (kinds.length === 0 && rule === undefined && column === undefined) return null
  return (
    <>
      <select
        aria-label="Rule"
        value={rule ?? ''}
        onChange={(event) => choose({ rule: event.target.value || undefined, column })}
      >
        <option value="">any rule</option>
        {withChosen(rules, rule).map(([name, lines]) => (
          <option key={name} value={name}>
            {name} ({count(lines)})
          </option>
        ))}
      </select>
      <select
        aria-label="Column with a problem"
        value={column ?? ''}
        onChange={(event) => choose({ rule, column: event.target.value || undefined })}
      >
        <option value="">any column</option>
        {withChosen(columns, column).map(([name, lines]) => (
          <option key={name} value={name}>
            {name} ({count(lines)})
          </option>
        ))}
      </select>
    </>
  )
}

/** Those that the other filter leaves, in the order of all. */
function sums(
  all: readonly ProblemKind[],
  left: readonly ProblemKind[],
  by: 'rule' | 'column',
): [string, number][] {
  const names = [...new Set(all.flatMap((kind) => kind[by] ?? []))]
  return names.flatMap((name): [string, number][] => {
    const lines = left.filter((kind) => kind[by] === name).reduce((sum, kind) => sum + kind.lines, 0)
    return lines === 0 ? [] : [[name, lines]]
  })
}

/** What is chosen stays in the list when its last line is repaired. */
function withChosen(
  names: readonly [string, number][],
  chosen: string | undefined,
): readonly [string, number][] {
  if (chosen === undefined || names.some(([name]) => name === chosen)) return names
  return [...names, [chosen, 0]]
}
