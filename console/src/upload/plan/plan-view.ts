import { useMemo } from 'react'
import type { PlanShow, UploadDetail } from '../../api/upload-types.ts'
import { useParameters } from '../../route.ts'
import { type PlanFilter, WRITING } from './plan-filters.tsx'

/** Views beside the rows of the plan: what changed in production since (all of it, or conflicts only), and since an approval. */
export type PlanSpecial = 'conflicts' | 'moved' | 'since'
const SPECIALS: readonly string[] = ['conflicts', 'moved', 'since'] satisfies PlanSpecial[]

/** Which rows of a plan are shown, and how: all of it is in the address, so that a link leads to the very view. */
export function usePlanView(upload: UploadDetail, offered: readonly PlanSpecial[]) {
  const [parameters, set] = useParameters()
  const first = useMemo(() => firstFilter(upload), [upload])
  const table = parameters.get('table')
  const isTable = table !== null && table in (upload.plan_totals ?? {})
  // Filters are those of the address if it names one of them.
  const isChosen = ['show', 'column', 'over'].some((name) => parameters.has(name)) || isTable
  const show = parameters.get('show')
  // What a reviewer must not overlook comes first.
  const special = offered.find((one) => (isChosen || parameters.has('line') ? show === one : one !== 'moved'))
  const over = parameters.get('over')
  const filter: PlanFilter = isChosen
    ? {
        row_type: isTable ? table : first.row_type,
        action: show === null || show === 'all' || SPECIALS.includes(show) ? undefined : (show as PlanShow),
        column: parameters.get('column') ?? undefined,
        percent: over === null ? undefined : Number(over),
      }
    : first
  const row = /^(-?\d+)$/.exec(parameters.get('line') ?? '')?.[1]
  return {
    filter,
    special,
    choose: (chosen: PlanSpecial) =>
      set({ show: chosen, column: undefined, over: undefined, line: undefined }),
    change: ({ row_type, action, column, percent }: PlanFilter) =>
      set({
        table: row_type,
        show: action ?? 'all',
        column,
        over: percent === undefined ? undefined : String(percent),
        line: undefined,
      }),
    /** Only this line of the file. */
    line: row === undefined ? undefined : Number(row),
    showAll: () => set({ line: undefined }),
    isSplit: parameters.get('layout') === 'split',
    setSplit: (isSplit: boolean) => set({ layout: isSplit ? 'split' : undefined }),
  }
}

/** What is approved: everything that changes of the lines themselves, and not a part of it. */
function firstFilter(upload: UploadDetail): PlanFilter {
  const totals = upload.plan_totals ?? {}
  const leaf = upload.reading?.layout.leaf
  const row_type = leaf !== undefined && leaf in totals ? leaf : Object.keys(totals)[0]
  const actions = totals[row_type ?? ''] ?? {}
  const writing = WRITING.filter((action) => actions[action])
  return {
    row_type,
    action: writing.length > 1 ? 'changes' : writing[0],
    column: undefined,
    percent: undefined,
  }
}
