import type { PolicyPreview } from '../api/changes.ts'
import { counted } from '../parts/format.ts'
import { needText } from './policy-text.ts'

type Needs = PolicyPreview['changes'][number]['needs']

/** What the last changes would have needed. Those for which it makes a difference come first. */
export function PreviewTable({ preview: { changes, other_policy } }: { preview: PolicyPreview }) {
  const differ = changes.filter((change) => isOther(change))
  const sorted = [...differ, ...changes.filter((change) => !isOther(change))]
  const unknown = changes.filter(({ rows_known }) => !rows_known).length
  return (
    <section className="policy-preview" aria-label="Preview">
      <p role="status">
        {changes.length === 0
          ? 'There is no change yet that this policy would have been for.'
          : differ.length === 0
            ? `None of your last ${counted(changes.length, 'change')} would have needed anything else than under what applies now.`
            : `On your last ${counted(changes.length, 'change')}, ${counted(differ.length, 'would have needed', 'would have needed')} something else than under what applies now.`}
      </p>
      {changes.length > 0 && (
        <div className="settings-scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">Change</th>
                <th scope="col">Needs now</th>
                <th scope="col">Would have needed</th>
                <th scope="col">Because</th>
              </tr>
            </thead>
            <tbody>
              {sorted.map((change) => (
                <tr key={change.number} className={isOther(change) ? undefined : 'muted'}>
                  <td>
                    <a href={`/changes/${change.number}`} target="_blank" rel="noreferrer">
                      {change.title} #{change.number}
                    </a>
                  </td>
                  <td data-label="Needs now">{neededText(change.needs)}</td>
                  <td data-label="Would have needed">
                    {isOther(change) ? <b>{neededText(change.would_need)}</b> : 'the same'}
                  </td>
                  <td data-label="Because">
                    {change.would_need.rules
                      .map(({ name, why }) => (name === null ? why : `${name}: ${why}`))
                      .join('; ')}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {other_policy > 0 && (
        <p className="tiny">
          {counted(other_policy, 'more change is', 'more changes are')} left out: a more specific policy
          decides on {other_policy === 1 ? 'it' : 'them'}.
        </p>
      )}
      {unknown > 0 && (
        <p className="tiny">
          Of {counted(unknown, 'change')} the rows are no longer kept, so conditions on columns and amounts do
          not hold for {unknown === 1 ? 'it' : 'them'}.
        </p>
      )}
    </section>
  )
}

function isOther({ needs, would_need }: PolicyPreview['changes'][number]): boolean {
  return neededText(needs) !== neededText(would_need)
}

function neededText(needs: Needs): string {
  const roles = needs.roles.length > 0 ? ` by ${needs.roles.join(' or ')}` : ''
  return (needText(needs) || 'no approval') + roles
}
