import { useRef } from 'react'
import type { ControlTotal, UploadDetail } from '../../api/upload-types.ts'
import { useHorizontalOverflow } from '../../grid/use-horizontal-overflow.ts'
import { count } from '../../parts/format.ts'
import { amount, signedAmount } from './values.ts'

/** How much of every measure is taken, left out and refused, and what the tables hold before and after. */
export function ControlTotals({ upload }: { upload: UploadDetail }) {
  const { control } = upload
  const scroller = useRef<HTMLDivElement>(null)
  const overflows = useHorizontalOverflow(scroller, control)
  if (control.length === 0) return null
  const planned = control.some(({ written }) => written !== undefined)
  return (
    <section className="control" aria-label="Control totals">
      <div className={overflows ? 'grid-frame has-more' : 'grid-frame'}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll it */}
        <div className="control-scroller" ref={scroller} tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">Control totals</th>
                <th scope="col">Read</th>
                <th scope="col">Valid</th>
                <th scope="col">Skipped</th>
                <th scope="col">Invalid</th>
                {planned && (
                  <>
                    <th scope="col">Written</th>
                    <th scope="col">Before → after</th>
                    <th scope="col">Change</th>
                  </>
                )}
              </tr>
            </thead>
            <tbody>
              {control.filter(countsAnything).map((total) => (
                <tr key={`${total.measure} ${total.currency}`}>
                  <th scope="row">
                    {total.title}
                    {total.currency !== null && <span className="muted"> {total.currency}</span>}
                  </th>
                  <td>{amount(total.read)}</td>
                  <td>{amount(total.valid)}</td>
                  <td className={total.left_out === '0' ? undefined : 'is-lost'} title={reasonsOf(total)}>
                    {amount(total.left_out)}
                  </td>
                  <td className={total.refused === '0' ? undefined : 'is-lost'}>{amount(total.refused)}</td>
                  {planned && (
                    <>
                      <td>{amount(total.written ?? '0')}</td>
                      <td>
                        {amount(total.before ?? '0')} → {amount(total.after ?? '0')}
                      </td>
                      <td>{signedAmount(total.difference ?? '0')}</td>
                    </>
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </div>
      <Notes upload={upload} />
    </section>
  )
}

const REPEATED = {
  sum: 'Lines with the same key are added up.',
  last: 'Of lines with the same key, the last one is used.',
  first: 'Of lines with the same key, the first one is used.',
} as const

function Notes({ upload }: { upload: UploadDetail }) {
  const { control, repeated_keys, plan_notes } = upload
  const notes = [
    ...totalsLines(control),
    ...control
      .filter(({ unread }) => unread > 0)
      .map(({ title, unread }) => `${count(unread)} values of ${title} could not be read as a number.`),
    ...(repeated_keys === null || repeated_keys === 'refuse' ? [] : [REPEATED[repeated_keys]]),
    ...plan_notes.map(({ message }) => message),
  ]
  return notes.map((note) => (
    <p key={note} className="tiny">
      {note}
    </p>
  ))
}

const SUMMING: Readonly<Record<string, string>> = {
  'row.total': 'Totals lines',
  'row.subtotal': 'Subtotal lines',
  'row.sum': 'Lines that are the sum of others',
}

/** What lines that sum up others say: apart, since the lines that they sum up are counted. */
function totalsLines(control: readonly ControlTotal[]): string[] {
  const apart = control.filter(({ totals_lines }) => totals_lines !== undefined)
  return Object.entries(SUMMING).flatMap(([rule, name]) => {
    const figures = apart
      .filter(({ reasons }) => (reasons[rule] ?? '0') !== '0')
      .map(({ title, currency, reasons }) =>
        [title, currency, amount(reasons[rule] ?? '0')].filter(Boolean).join(' '),
      )
    return figures.length === 0 ? [] : [`${name}, not counted: ${figures.join('; ')}.`]
  })
}

/** A totals line without a currency is a measure of its own, of which nothing else is to be said. */
function countsAnything({ totals_lines = '0', unread, ...total }: ControlTotal): boolean {
  const { valid, left_out, refused, written, before, after } = total
  const figures = [valid, left_out, refused, written, before, after]
  return totals_lines === '0' || unread > 0 || figures.some((figure = '0') => figure !== '0')
}

function reasonsOf({ reasons, totals_lines }: ControlTotal): string | undefined {
  const parts = Object.entries(reasons)
    .filter(([rule]) => totals_lines === undefined || !(rule in SUMMING))
    .map(([rule, value]) => `${rule}: ${amount(value)}`)
  return parts.length === 0 ? undefined : parts.join('\n')
}
