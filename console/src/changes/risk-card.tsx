import { useState } from 'react'
import type { UploadRisk } from '../api/changes.ts'
import { useLiveQuery } from '../live/live.tsx'
import { Chip } from '../parts/chip.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { count, counted } from '../parts/format.ts'
import './changes.css'

type Fact = UploadRisk['facts'][number]

const MAX_SHOWN = 5

const LEVELS = {
  notice: { tone: 'held', word: 'unusual' },
  high: { tone: 'bad', word: 'very unusual' },
} as const

/** What is unusual about the plan, against the last uploads of the same source, in words. Each sentence leads to its rows. */
export function RiskCard({ upload, digest }: { upload: string; digest: string }) {
  const [isWhole, setWhole] = useState(false)
  const { data, failure, loading } = useLiveQuery(
    ['changes', 'risk', upload, digest],
    (api) => api.changes.risk(upload),
    {
      once: true,
    },
  )
  const facts = data?.facts ?? []
  // Of the first upload of a source every value is new: that says nothing.
  const isFirst = data?.compared_uploads === 0
  const unusual = facts.filter(({ level, fact }) => level !== 'ok' && !(isFirst && fact === 'new_values'))
  const usual = facts.filter(({ level }) => level === 'ok')
  const listed = unusual.length > 0 ? unusual : usual
  const shown = isWhole ? listed : listed.slice(0, MAX_SHOWN)
  /** Whether the same is told of several tables, so that a sentence must say of which. */
  const isAmbiguous = (fact: Fact) =>
    facts.some(
      (one) => one.fact === fact.fact && one.column === fact.column && one.row_type !== fact.row_type,
    )
  return (
    <section className="card side-card" aria-labelledby="risk-title">
      <h2 id="risk-title">Is it as usual?</h2>
      <FailureNote failure={failure} />
      {loading && <p className="muted">Comparing…</p>}
      {data && <p>{summaryOf(data, unusual)}</p>}
      <ul className="risk-facts">
        {shown.map((fact) => (
          <li key={`${fact.fact} ${fact.row_type} ${fact.column}`}>
            <span>
              <FactText fact={fact} text={sentenceOf(fact, isAmbiguous(fact))} />
              {fact.reason && <span className="tiny fact-reason">{fact.reason}</span>}
            </span>
            {fact.level !== 'ok' && (
              <Chip tone={LEVELS[fact.level].tone}>
                {/* Where nothing says what is usual, nothing is unusual. */}
                {fact.usual === null ? 'worth a look' : LEVELS[fact.level].word}
              </Chip>
            )}
          </li>
        ))}
      </ul>
      {listed.length > MAX_SHOWN && (
        <button type="button" className="link" onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Show fewer' : `Show ${count(listed.length - MAX_SHOWN)} more`}
        </button>
      )}
      {data && data.not_computed.length > 0 && (
        <p className="tiny">
          {counted(data.not_computed.length, 'column was', 'columns were')} left out of the comparison.
        </p>
      )}
    </section>
  )
}

/** Risk in words first: how much of it is unusual, and against what. */
function summaryOf({ compared_uploads }: UploadRisk, unusual: readonly Fact[]): string {
  const against =
    compared_uploads === 0
      ? 'No upload of this source was promoted before, so nothing says what is usual.'
      : compared_uploads < 3
        ? `Only ${counted(compared_uploads, 'upload')} of this source ${compared_uploads === 1 ? 'was' : 'were'} promoted before: too few to say what is usual.`
        : undefined
  if (unusual.length === 0)
    return against ?? `Yes: nothing differs from the last ${compared_uploads} uploads of this source.`
  const high = unusual.filter(({ level }) => level === 'high').length
  const much = high > 0 ? ` (${count(high)} very)` : ''
  return against
    ? `${against} ${counted(unusual.length, 'thing')} to look at:`
    : `No: ${counted(unusual.length, 'number is', 'numbers are')} unusual${much}, compared with the last ${compared_uploads} uploads of this source.`
}

/** `The smallest spend is 66.22; usually 16.65.` */
function sentenceOf(fact: Fact, namesTable: boolean): string {
  const { value, usual, row_type } = fact
  const column = fact.column !== null && namesTable ? `${row_type}.${fact.column}` : fact.column
  const number = numberText(fact, value)
  const than = usual === null ? '' : `; usually ${numberText(fact, usual)}`
  const where = namesTable && column === null ? ` (${row_type})` : ''
  const rows = (what: string) =>
    value === 0 ? `no ${what} rows` : `${number} ${what} ${value === 1 ? 'row' : 'rows'}`
  const SENTENCES: Record<string, () => string> = {
    rows_insert: () => rows('new'),
    rows_update: () => rows('changed'),
    rows_unchanged: () => rows('unchanged'),
    rows_delete: () => `${rows('deleted')}`,
    rows_skipped: () => (value === 0 ? 'no skipped lines' : counted(value, 'skipped line')),
    rows_refused: () => rows('invalid'),
    share_changed: () => `${number} of the existing rows change`,
    empty: () => `${column} is empty in ${number} of the rows`,
    sum: () => `${column} adds up to ${number}`,
    min: () => `the smallest ${column} is ${number}`,
    max: () => `the largest ${column} is ${number}`,
    tenfold: () => `${counted(value, 'row changes', 'rows change')} ${column} tenfold or more`,
    outliers: () => `${counted(value, 'row changes', 'rows change')} ${column} by far more than others`,
    new_values: () => `${counted(value, 'new value', 'new values')} of ${column}${listOf(fact.values)}`,
    missing_days: () => `${counted(value, 'day is', 'days are')} missing${listOf(fact.days)}`,
  }
  const said =
    SENTENCES[fact.fact]?.() ?? `${column ?? ''} ${fact.fact.replaceAll('_', ' ')} ${number}`.trim()
  const sentence = `${said}${than}${where}.`
  return sentence.charAt(0).toUpperCase() + sentence.slice(1)
}

function listOf(values: readonly string[] | undefined): string {
  return values === undefined || values.length === 0 ? '' : ` (${values.join(', ')})`
}

function FactText({ fact, text }: { fact: Fact; text: string }) {
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
  if (fact === 'share_changed' || fact === 'empty') return `${Math.round(value * 1000) / 10} %`
  return value.toLocaleString('en', { maximumFractionDigits: 2 })
}
