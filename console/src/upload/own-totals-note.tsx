import type { UploadChecks } from '../api/upload-types.ts'
import { count, counted } from '../parts/format.ts'
import { amount, signedAmount } from './plan/values.ts'

type OwnTotals = NonNullable<UploadChecks['checks'][number]['own_totals']>

const MAX_LISTED = 5

/** What the file's own totals say beside the sums of its lines: those that disagree, and what was compared. */
export function OwnTotalsNote({ own }: { own: OwnTotals }) {
  const unlike = own.totals.filter(({ result }) => result !== 'agrees')
  const shown = unlike.slice(0, MAX_LISTED)
  const more = own.disagree + own.not_compared - shown.length
  return (
    <div className="own-totals">
      {shown.map(({ line, label, with: compared, lines, reason, figures }) => (
        <div key={line}>
          <strong>
            Line {line}
            {label === null ? '' : ` “${label}”`}
          </strong>
          {reason === null ? (
            <>
              <span className="tiny">
                {' '}
                compared with {compared} ({count(lines ?? 0)})
              </span>
              <dl>
                {figures
                  .filter(({ result }) => result === 'disagrees')
                  .map(({ column, file, sum, difference, unread }) => (
                    <div key={column}>
                      <dt>{column}</dt>
                      <dd>
                        the file says {amount(file)}, its lines add up to {amount(sum)}, difference{' '}
                        {signedAmount(difference)}
                        {unread > 0 && `; ${counted(unread, 'cell')} could not be read`}
                      </dd>
                    </div>
                  ))}
              </dl>
            </>
          ) : (
            <span className="tiny"> not compared: {reason}</span>
          )}
        </div>
      ))}
      {more > 0 && <p className="tiny">{count(more)} more</p>}
      <p className="tiny">
        {own.agree > 0 && `${counted(own.agree, 'total')} ${own.agree === 1 ? 'agrees' : 'agree'}. `}
        {own.columns.length > 0 && `Compared: ${own.columns.join(', ')}. `}
        {own.excluded.length > 0 &&
          `Not compared: ${own.excluded.map(({ column, reason }) => `${column} (${reason})`).join(', ')}${own.more_excluded > 0 ? ` and ${own.more_excluded} more` : ''}.`}
      </p>
    </div>
  )
}
