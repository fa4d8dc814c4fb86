import type { UploadChecks, UploadDetail } from '../api/upload-types.ts'
import { useLiveQuery } from '../live/live.tsx'
import { Chip, type Tone } from '../parts/chip.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { count, counted, milliseconds } from '../parts/format.ts'
import { OwnTotalsNote } from './own-totals-note.tsx'

type Check = UploadChecks['checks'][number]

const RESULTS: Record<Check['result'], { readonly tone: Tone; readonly word: string }> = {
  passed: { tone: 'ok', word: 'passed' },
  warning: { tone: 'held', word: 'warning' },
  failed: { tone: 'bad', word: 'invalid' },
  not_run: { tone: 'stale', word: 'not run' },
}

/** Each check with its result, how many lines it found, and the time that it took. */
export function ChecksCard({ upload }: { upload: UploadDetail }) {
  const { upload_id: id, plan_digest, staged_at, status } = upload
  const { data, failure, loading } = useLiveQuery(
    ['uploads', id, 'checks', status, staged_at, plan_digest],
    (api) => api.uploads.checks(id),
    { once: true },
  )
  return (
    <section className="card side-card" aria-labelledby="checks-title">
      <h2 id="checks-title">Checks</h2>
      <FailureNote failure={failure} />
      {loading && <p className="muted">Loading…</p>}
      <CheckList checks={(data?.checks ?? []).filter(isOpen)} />
      {data && (
        <details>
          <summary>{foldedText(data.checks)}</summary>
          <CheckList checks={data.checks.filter((check) => !isOpen(check))} />
          <p className="tiny">
            {data.read_ms !== null &&
              `Read and checked line by line in ${milliseconds(data.read_ms)}; the checks without a time of their own are part of it. `}
            {data.plan_ms !== null && `Planned in ${milliseconds(data.plan_ms)}.`}
          </p>
        </details>
      )}
    </section>
  )
}

/** What somebody must look at; the others are folded. */
function isOpen({ result }: Check): boolean {
  return result === 'failed' || result === 'warning'
}

/** `12 checks passed, 2 not run yet`. */
function foldedText(checks: readonly Check[]): string {
  const passed = checks.filter(({ result }) => result === 'passed').length
  const waiting = checks.filter(({ result }) => result === 'not_run').length
  const parts = [
    (passed > 0 || waiting === 0) && `${counted(passed, 'check')} passed`,
    waiting > 0 && `${count(waiting)} not run yet`,
  ]
  return parts.filter(Boolean).join(', ')
}

function CheckList({ checks }: { checks: readonly Check[] }) {
  if (checks.length === 0) return null
  return (
    <ul className="checks">
      {checks.map((check) => (
        <li key={check.check} title={check.rules.map(({ rule, lines }) => `${rule} ${lines}`).join(', ')}>
          <span>
            {check.title} {check.ms !== null && <span className="took">{timeText(check.ms)}</span>}
          </span>
          <Chip tone={RESULTS[check.result].tone}>{resultText(check)}</Chip>
          {check.own_totals && <OwnTotalsNote own={check.own_totals} />}
        </li>
      ))}
    </ul>
  )
}

function resultText({ result, invalid, warnings }: Check): string {
  if (result === 'failed') return `${count(invalid)} ${RESULTS.failed.word}`
  return result === 'warning' ? counted(warnings, 'warning') : RESULTS[result].word
}

function timeText(ms: number): string {
  return ms < 10 ? `${ms.toFixed(1)} ms` : milliseconds(Math.round(ms))
}
