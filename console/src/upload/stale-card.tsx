import type { StalePlan, StaleRow, UploadDetail } from '../api/upload-types.ts'
import { count, counted } from '../parts/format.ts'
import { shortId } from '../people.ts'
import { isId, moneyIn, textOf } from './plan/values.ts'

/** Which rows changed since the plan was made: what was there, what is planned, and what is there now. */
export function StaleCard({ plan, upload }: { plan: StalePlan; upload: UploadDetail }) {
  const money = moneyIn(upload.reading)
  return (
    <section className="card stale-plan" aria-labelledby="stale-title">
      <header className="card-head">
        <h2 id="stale-title">{counted(plan.total, 'row')} changed since the plan was made</h2>
        {plan.items.length < plan.total && (
          <span className="tiny">the first {count(plan.items.length)} are shown</span>
        )}
      </header>
      <div className="stale-rows">
        <table>
          <thead>
            <tr>
              <th scope="col">Row</th>
              <th scope="col">Column</th>
              <th scope="col">Before</th>
              <th scope="col">Planned</th>
              <th scope="col">Now</th>
            </tr>
          </thead>
          {plan.items.map((row) => (
            <tbody key={`${row.target_table} ${JSON.stringify(row.key)}`}>
              {linesOf(row).map(({ column, before, planned, now }, index, lines) => (
                <tr key={column}>
                  {index === 0 && (
                    <th scope="rowgroup" rowSpan={lines.length}>
                      <RowName row={row} />
                    </th>
                  )}
                  <td data-label="Column">
                    <code>{column}</code>
                  </td>
                  <td data-label="Before">{said(before, money.get(column))}</td>
                  <td data-label="Planned">{said(planned, money.get(column))}</td>
                  <td data-label="Now">
                    <b>{said(now, money.get(column))}</b>
                  </td>
                </tr>
              ))}
            </tbody>
          ))}
        </table>
      </div>
    </section>
  )
}

function RowName({ row }: { row: StaleRow }) {
  const parts = Object.entries(row.key ?? {})
    .sort(([, a], [, b]) => Number(isId(a)) - Number(isId(b)))
    .map(([name, value]) => `${name} ${isId(value) ? shortId(String(value)) : textOf(value)}`)
  return (
    <span title={JSON.stringify(row.key)}>
      <code>{row.target_table.replace(/^public\./, '')}</code>
      <span className="tiny row-key">
        {row.line < 0 ? 'to delete' : `line ${count(row.line)}`} · {parts.join(', ')}
      </span>
    </span>
  )
}

interface Line {
  readonly column: string
  /** Undefined: the row was, or is, not there. */
  readonly before: unknown
  readonly planned: unknown
  readonly now: unknown
}

/** The columns that somebody changed; of a row that came or went, those that the plan writes. */
function linesOf({ before, planned, now }: StaleRow): Line[] {
  const both = before !== null && now !== null
  const names = both
    ? Object.keys(now).filter((name) => JSON.stringify(now[name]) !== JSON.stringify(before[name]))
    : Object.keys(planned ?? now ?? before ?? {}).filter((name) => !isId((planned ?? now ?? before)?.[name]))
  const shown = names.length > 0 ? names.slice(0, 12) : ['row']
  return shown.map((column) => ({
    column,
    before: before?.[column],
    // A column that the plan leaves alone keeps what was there.
    planned: planned === null ? undefined : column in planned ? planned[column] : before?.[column],
    now: now?.[column],
  }))
}

function said(value: unknown, decimals: number | undefined) {
  if (value === undefined) return <span className="muted">no row</span>
  if (value === null) return <span className="muted">empty</span>
  return textOf(value, decimals)
}
