import type { Dataset, DatasetMatch } from '../api/upload-types.ts'
import { Command } from '../parts/command.tsx'
import { count, counted } from '../parts/format.ts'
import type { DatasetEvidence } from './use-dataset-match.ts'

interface Props {
  readonly fileName: string
  readonly datasets: readonly Dataset[]
  readonly evidence: DatasetEvidence
  /** The dataset that is chosen; empty: none. */
  readonly chosen: string
  /** A person chose it. */
  readonly isSaid: boolean
  readonly disabled: boolean
  choose(dataset: string): void
}

/** As many as a person compares at a glance. */
const MAX_OFFERED = 3

/** Why this dataset is chosen for the file, or the question which one it is. */
export function DatasetQuestion(props: Props) {
  const { fileName, datasets, evidence, chosen, isSaid, disabled, choose } = props
  const { state, found } = evidence
  if (state === 'reading')
    return (
      <p className="match-line tiny" role="status">
        Looking at the columns…
      </p>
    )
  if (datasets.length < 2) return null
  if (found === undefined)
    return chosen === '' ? (
      <p className="match-line" role="status">
        <b>Which dataset is this file?</b> Choose one above.
      </p>
    ) : null
  const best = found.matches.find(({ dataset }) => dataset === found.best)
  const offer = (match: DatasetMatch) => (
    <button
      key={match.dataset}
      type="button"
      className="button is-small"
      disabled={disabled}
      onClick={() => choose(match.dataset)}
    >
      {match.title}
    </button>
  )
  if (best && chosen === best.dataset)
    return (
      <p className="match-line tiny" role="status">
        {isSaid ? `The columns fit ${best.title}` : `${best.title} is chosen by the columns of the file`}:{' '}
        {usedText(best, found.columns)}
        {best.fit === 'sure'
          ? ', and nothing that it needs is missing.'
          : ', some of them only by likeness. Check them below.'}
      </p>
    )
  if (chosen !== '')
    return best === undefined ? null : (
      <p className="match-line" role="status">
        <span>
          The columns fit <b>{best.title}</b> better: {usedText(best, found.columns)}.
        </span>
        {offer({ ...best, title: `Use ${best.title}` })}
      </p>
    )
  const fitting = found.matches.filter(({ fit }) => fit !== 'no')
  const near = (fitting.length > 0 ? fitting : found.matches)
    .filter(({ used }) => used > 0)
    .slice(0, MAX_OFFERED)
  return (
    <div className="note is-held dataset-question" role="status">
      <p>
        <b>Which dataset is this file?</b>{' '}
        {fitting.length > 1
          ? 'Its columns fit several, so nothing is chosen for you.'
          : fitting.length === 1
            ? 'Only few of its columns are known, so nothing is chosen for you.'
            : 'Its columns fit none of the datasets as they are. Choose one, then match the columns.'}
      </p>
      {near.length > 0 && (
        <ul>
          {near.map((match) => (
            <li key={match.dataset}>
              {offer(match)}
              <span className="tiny">
                {usedText(match, found.columns)}
                {match.missing.length > 0 && `, none for ${match.missing.join(', ')}`}
              </span>
            </li>
          ))}
        </ul>
      )}
      {fitting.length === 0 && (
        <>
          <p className="tiny">For a table that has no dataset yet, this command proposes one:</p>
          <Command text={`npm run -s stagedoor -- init SCHEMA.TABLE ${shellWord(fileName)}`} />
        </>
      )}
    </div>
  )
}

/** Where nothing says what a file means, nothing can be uploaded. */
export function NoDatasets() {
  return (
    <div className="empty is-teaching">
      <b>No dataset yet.</b>
      <p>
        A dataset says which table a file goes into and what its columns mean. This command proposes one from
        a table of yours and a file, and shows the first plan. It writes nothing to the table:
      </p>
      <Command text="npm run -s stagedoor -- init public.products products.xlsx" />
    </div>
  )
}

function usedText({ used }: DatasetMatch, columns: number): string {
  return `${count(used)} of ${counted(columns, 'column')} ${used === 1 ? 'is' : 'are'} used`
}

function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
