import type { UploadRisk } from '../api/changes.ts'
import { useLiveQuery } from '../live/live.tsx'
import { Chip } from '../parts/chip.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { counted } from '../parts/format.ts'
import './changes.css'

type Fact = UploadRisk['facts'][number]

const MOST = 8

/** What is unusual about the plan, against the last uploads of the same source. Each number leads to its rows. */
export function RiskCard({ upload, digest }: { upload: string; digest: string }) {
  const { data, failure, loading } = useLiveQuery(
    ['changes', 'risk', upload, digest],
    (api) => api.changes.risk(upload),
    {
      once: true,
    },
  )
  const facts = data?.facts ?? []
  const unusual = facts.filter(({ level }) => level !== 'ok')
  const shown = (unusual.length > 0 ? unusual : facts).slice(0, MOST)
  return (
    <section className="card side-card" aria-labelledby="risk-title">
      <h2 id="risk-title">
        {data && data.compared_uploads > 0
          ? `Compared with the last ${counted(data.compared_uploads, 'upload')} of this source`
          : 'Numbers of this plan'}
      </h2>
      <FailureNote failure={failure} />
      {loading && <p className="muted">Comparing…</p>}
      {data && unusual.length === 0 && (
        <p className="muted">
          {data.compared_uploads === 0
            ? 'No upload of this source was promoted before, so nothing says what is usual.'
            : 'Nothing is unusual.'}
        </p>
      )}
      <ul>
        {shown.map((fact) => (
          <li key={`${fact.fact} ${fact.row_type} ${fact.column}`}>
            <span>
              <FactName fact={fact} />
              {fact.reason && <span className="tiny fact-reason">{fact.reason}</span>}
            </span>
            <span>
              {fact.level !== 'ok' && <Chip tone={fact.level === 'high' ? 'bad' : 'held'}>{fact.level}</Chip>}{' '}
              {numberText(fact, fact.value)}
              {fact.usual !== null && <span className="muted"> · usual {numberText(fact, fact.usual)}</span>}
            </span>
          </li>
        ))}
      </ul>
      {data && data.not_computed.length > 0 && (
        <p className="tiny">{counted(data.not_computed.length, 'column')} were left out of the comparison.</p>
      )}
    </section>
  )
}

const NAMES: Record<string, string> = {
  rows_insert: 'new rows',
  rows_update: 'changed rows',
  rows_unchanged: 'unchanged rows',
  rows_delete: 'rows to delete',
  rows_skipped: 'skipped lines',
  rows_refused: 'invalid rows',
  share_changed: 'share of changed rows',
  empty: 'empty',
  sum: 'sum',
  min: 'smallest',
  max: 'largest',
  tenfold: 'changed tenfold',
  outliers: 'far from the usual',
  new_values: 'new values',
  missing_days: 'missing days',
}

function FactName({ fact }: { fact: Fact }) {
  const name = NAMES[fact.fact] ?? fact.fact.replaceAll('_', ' ')
  const text = fact.column === null ? `${name}, ${fact.row_type}` : `${fact.row_type}.${fact.column}: ${name}`
  const address = addressOf(fact)
  return address === undefined ? <span>{text}</span> : <a href={address}>{text}</a>
}

/** The plan filtered to the rows behind the number, as far as the filters of the page go. */
function addressOf({ filter, row_type }: Fact): string | undefined {
  if (filter === null) return undefined
  const given = filter as { action?: string; column?: string }
  const to = new URLSearchParams({
    tab: 'plan',
    table: row_type,
    show: given.action ?? (given.column ? 'update' : 'all'),
  })
  if (given.column !== undefined) to.set('column', given.column)
  return `${location.pathname}?${to}`
}

function numberText({ fact }: Fact, value: number): string {
  if (fact === 'share_changed') return `${Math.round(value * 1000) / 10} %`
  return value.toLocaleString('en', { maximumFractionDigits: 2 })
}
