import type { FileReading } from '../api/upload-types.ts'
import { useLiveQuery } from '../live/live.tsx'
import { Chip } from '../parts/chip.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { count, counted } from '../parts/format.ts'
import { Person } from '../parts/person.tsx'
import './how-read.css'

/** What whoever reviews has to know of the way from the file to the dataset: columns, values, options, and who chose them. */
export function HowRead({ upload }: { upload: string }) {
  const { data, failure } = useLiveQuery(
    ['uploads', 'reading', upload],
    (api) => api.uploads.reading(upload),
    {
      once: true,
    },
  )
  const reading = data?.reading
  if (data !== undefined && !reading) return null
  return (
    <section className="card how-read" aria-labelledby="how-read-title">
      <details>
        <summary>
          <h2 id="how-read-title">How the file was read</h2>
          {reading && <span className="tiny">{summaryOf(reading)}</span>}
        </summary>
        <FailureNote failure={failure} />
        {reading ? <Reading reading={reading} /> : <p className="muted">Loading…</p>}
      </details>
    </section>
  )
}

function summaryOf({ columns, values, more_values, options }: FileReading): string {
  const used = columns.filter(({ field }) => field !== null).length
  const said = columns.filter(({ how }) => how === 'chosen' || how === 'remembered').length
  const matched = values.length + more_values
  const chosen = options.filter(({ how }) => how === 'chosen').length
  const open = options.filter(({ how }) => how === 'open').length
  return [
    `${count(used)} of ${counted(columns.length, 'column')} used`,
    said > 0 && `${count(said)} matched by people`,
    matched > 0 && `${counted(matched, 'value')} matched`,
    chosen > 0 && `${counted(chosen, 'option')} chosen`,
    open > 0 && `${counted(open, 'style')} not settled`,
  ]
    .filter(Boolean)
    .join(' · ')
}

function Reading({ reading }: { reading: FileReading }) {
  const { columns, values, more_values, options, defaults, without } = reading
  return (
    <>
      <table>
        <caption>Columns</caption>
        <thead>
          <tr>
            <th scope="col">Column of the file</th>
            <th scope="col">Field of the dataset</th>
            <th scope="col">Why</th>
          </tr>
        </thead>
        <tbody>
          {columns.map(({ header, title, ignored, how, by }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a header may be there twice; a column is its place
            <tr key={index}>
              <th scope="row">{header}</th>
              <td>{title ?? <span className="muted">{ignored ? 'ignored' : 'not used'}</span>}</td>
              <td>
                <Why how={how} by={by} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {values.length > 0 && (
        <table>
          <caption>Matched values</caption>
          <thead>
            <tr>
              <th scope="col">Value in the file</th>
              <th scope="col">Taken as</th>
              <th scope="col">Why</th>
            </tr>
          </thead>
          <tbody>
            {values.map(({ field, title, value, meaning, lines, how, by }) => (
              <tr key={`${field} ${value}`}>
                <th scope="row">
                  {value} <span className="tiny">{title}</span>
                </th>
                <td>
                  {meaning ?? <span className="muted">no value</span>}{' '}
                  <span className="tiny">{counted(lines, 'line')}</span>
                </td>
                <td>
                  <Why how={how} by={by} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {more_values > 0 && <p className="tiny">{counted(more_values, 'more value')} matched.</p>}
      <table>
        <caption>Options</caption>
        <tbody>
          {options.map(({ option, value, how, change }) => (
            <tr key={option}>
              <th scope="row">{OPTIONS[option]}</th>
              <td>{value}</td>
              <td>
                <Why how={how} by={null} change={change ?? null} />
              </td>
            </tr>
          ))}
          {defaults.map(({ field, title, value }) => (
            <tr key={field}>
              <th scope="row">{title}</th>
              <td>{value}</td>
              <td className="tiny">default of the dataset</td>
            </tr>
          ))}
          {without.map((title) => (
            <tr key={title}>
              <th scope="row">{title}</th>
              <td>none</td>
              <td className="tiny">the file is said to have no such column</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}

const OPTIONS: Record<FileReading['options'][number]['option'], string> = {
  format: 'Format',
  encoding: 'Encoding',
  delimiter: 'Delimiter',
  header_line: 'Header line',
  columns: 'Names of the columns',
  sheet: 'Sheet',
  decimal: 'Decimal sign',
  dates: 'Order of dates',
}

function Why({
  how,
  by,
  change = null,
}: Pick<FileReading['columns'][number], 'how' | 'by'> & { readonly change?: number | null }) {
  if (how === null) return <span className="tiny">the dataset does not know it</span>
  if (how === 'name') return <span className="tiny">the dataset knows this header</span>
  if (how === 'detected') return <span className="tiny">found in the file</span>
  if (how === 'open') return <Chip tone="held">not settled</Chip>
  return (
    <>
      <Chip tone={how === 'chosen' ? 'work' : 'held'}>
        {how === 'chosen'
          ? 'chosen for this file'
          : `remembered from ${change === null ? 'an earlier file' : `#${change}`}`}
      </Chip>
      {by !== null && (
        <span className="tiny">
          {' '}
          by <Person id={by} />
        </span>
      )}
    </>
  )
}
