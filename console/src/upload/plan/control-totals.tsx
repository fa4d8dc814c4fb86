import type { ControlTotal, UploadDetail } from '../../api/upload-types.ts'
import { count } from '../../parts/figures.ts'
import { amount, signedAmount } from './values.ts'

/** How much of every measure is taken, left out and refused, and what the tables hold before and after. */
export function ControlTotals({ upload }: { upload: UploadDetail }) {
  const { control } = upload
  if (control.length === 0) return null
  const planned = control.some(({ written }) => written !== undefined)
  return (
    <section className="control" aria-label="Control totals">
      <table>
        <thead>
          <tr>
            <th scope="col">Control totals</th>
            <th scope="col">Read</th>
            <th scope="col">Valid</th>
            <th scope="col">Left out</th>
            <th scope="col">Refused</th>
            {planned && (
              <>
                <th scope="col">Written</th>
                <th scope="col">Now → then</th>
                <th scope="col">Change</th>
              </>
            )}
          </tr>
        </thead>
        <tbody>
          {control.map((total) => (
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
      <Notes upload={upload} />
    </section>
  )
}

const REPEATED = {
  sum: 'Lines with the same key are added up.',
  last: 'Of lines with the same key the last one is taken.',
  first: 'Of lines with the same key the first one is taken.',
} as const

function Notes({ upload }: { upload: UploadDetail }) {
  const { control, repeated_keys, plan_notes } = upload
  const notes = [
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

function reasonsOf({ reasons }: ControlTotal): string | undefined {
  const parts = Object.entries(reasons).map(([rule, value]) => `${rule}: ${amount(value)}`)
  return parts.length === 0 ? undefined : parts.join('\n')
}
