import type { ReactNode } from 'react'
import type { Dataset, PlanAction, PlanShow, Totals } from '../../api/upload-types.ts'
import { count } from '../../parts/format.ts'
import type { PlanSpecial } from './plan-view.ts'

export interface PlanFilter {
  readonly row_type: string | undefined
  readonly action: PlanShow | undefined
  readonly column: string | undefined
  /** Only changes by more than this share of the old value. */
  readonly percent: number | undefined
}

const WORDS: readonly (readonly [PlanAction, string])[] = [
  ['insert', 'new rows'],
  ['update', 'changed rows'],
  ['unchanged', 'unchanged rows'],
  ['delete', 'rows to delete'],
  ['skipped', 'skipped lines'],
  ['refused', 'invalid rows'],
]
/** What a promotion writes. */
export const WRITING: readonly PlanAction[] = ['insert', 'update', 'delete']
const SHARES = [0, 1, 5, 10, 25, 50, 100]

interface Props {
  readonly filter: PlanFilter
  change(filter: PlanFilter): void
  readonly totals: Totals
  readonly columns: readonly string[]
  /** Those of the columns that hold figures: only they change by an amount. */
  readonly figures: ReadonlySet<string>
  readonly dataset: Dataset | undefined
  /** Views beside the rows of the plan, and which of them is shown. */
  readonly specials: readonly (readonly [PlanSpecial, string])[]
  readonly special: PlanSpecial | undefined
  choose(special: PlanSpecial): void
  readonly aside: ReactNode
  /** What else can be chosen, at the end of the line. */
  readonly children?: ReactNode
}

/** A sentence whose words can be chosen. */
export function PlanFilters({
  filter,
  change,
  totals,
  columns,
  figures,
  dataset,
  specials,
  special,
  choose,
  aside,
  children,
}: Props) {
  const actions = totals[filter.row_type ?? ''] ?? {}
  const types = dataset?.row_types.map(({ row_type }) => row_type).filter((type) => type in totals)
  const updates =
    special === undefined &&
    (filter.action === 'update' || (filter.action === 'changes' && (actions.update ?? 0) > 0))
  return (
    <div className="filters">
      <span>Show</span>
      <select
        aria-label="Action"
        value={special ?? filter.action ?? ''}
        onChange={(event) => {
          const chosen = specials.find(([one]) => one === event.target.value)
          if (chosen) return choose(chosen[0])
          const action = (event.target.value || undefined) as PlanShow | undefined
          change({ ...filter, action, column: undefined, percent: undefined })
        }}
      >
        {specials.map(([one, words]) => (
          <option key={one} value={one}>
            {words}
          </option>
        ))}
        <option value="changes">
          everything that changes ({count(WRITING.reduce((sum, one) => sum + (actions[one] ?? 0), 0))})
        </option>
        <option value="">everything</option>
        {WORDS.map(([action, word]) => (
          <option key={action} value={action}>
            {word} ({count(actions[action] ?? 0)})
          </option>
        ))}
      </select>
      {special === undefined && (
        <>
          <span>in</span>
          <select
            aria-label="Table"
            value={filter.row_type}
            onChange={(event) =>
              change({ ...filter, row_type: event.target.value, column: undefined, percent: undefined })
            }
          >
            {(types ?? Object.keys(totals)).map((type) => (
              <option key={type} value={type}>
                {tableOf(type, dataset)}
              </option>
            ))}
          </select>
        </>
      )}
      {updates && (
        <>
          <span>where</span>
          <select
            aria-label="Changed column"
            value={filter.column ?? ''}
            onChange={(event) =>
              change({
                ...filter,
                // Only rows that are there already have a changed column.
                action: event.target.value === '' ? filter.action : 'update',
                column: event.target.value || undefined,
                percent: figures.has(event.target.value) ? filter.percent : undefined,
              })
            }
          >
            <option value="">anything</option>
            {columns.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
          <span>changed</span>
        </>
      )}
      {updates && filter.column !== undefined && figures.has(filter.column) && (
        <>
          <span>by more than</span>
          <select
            aria-label="Share of the old value"
            value={filter.percent ?? ''}
            onChange={(event) =>
              change({
                ...filter,
                percent: event.target.value === '' ? undefined : Number(event.target.value),
              })
            }
          >
            <option value="">any amount</option>
            {SHARES.map((share) => (
              <option key={share} value={share}>
                {share} %
              </option>
            ))}
          </select>
        </>
      )}
      <span className="tiny filters-aside" role="status">
        {aside}
      </span>
      {children}
    </div>
  )
}

function tableOf(type: string, dataset: Dataset | undefined): string {
  const target = dataset?.row_types.find(({ row_type }) => row_type === type)?.target
  return target?.replace(/^public\./, '') ?? type
}
