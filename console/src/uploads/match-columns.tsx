import { Fragment, type ReactNode, useEffect, useId, useRef } from 'react'
import type { MappingPreview, PreviewColumn, PreviewField, PreviewValues } from '../api/upload-types.ts'
import { Chip, type Tone } from '../parts/chip.tsx'
import { count, counted } from '../parts/format.ts'
import {
  type Answers,
  choiceOf,
  chosenTwice,
  IGNORE,
  isOpen,
  type Meaning,
  meaningOf,
  openValues,
} from './mapping.ts'
import type { ColumnStep } from './use-mapping-preview.ts'
import './match-columns.css'

interface Props {
  readonly step: ColumnStep
  readonly open: boolean
  setOpen(open: boolean): void
  readonly remember: boolean
  setRemember(remember: boolean): void
  /** False: the server would refuse to remember anything for this person. */
  readonly mayRemember: boolean
  readonly disabled: boolean
  /** The button that ends the step. */
  readonly children: ReactNode
}

/** The step between choosing a file and uploading it: which of its columns is which field of the dataset. */
export function MatchColumns(props: Props) {
  const { step, open, setOpen } = props
  const { preview } = step
  if (step.state === 'none') return null
  if (step.state === 'reading')
    return (
      <p className="match-line tiny" role="status">
        Looking at the columns…
      </p>
    )
  if (preview === undefined) return null
  if (!open) {
    return (
      <p className="match-line" role="status">
        <Chip tone="ok">All columns matched</Chip>
        <span className="tiny">{usedText(preview)}</span>
        <button type="button" className="button is-small" onClick={() => setOpen(true)}>
          Change…
        </button>
      </p>
    )
  }
  return <Step {...props} preview={preview} />
}

function usedText({ columns }: MappingPreview): string {
  const unused = columns.filter(({ field }) => field === null).length
  const used = `${counted(columns.length - unused, 'column')} used`
  return unused === 0 ? used : `${used}, ${count(unused)} not used`
}

function Step({
  step,
  preview,
  remember,
  setRemember,
  mayRemember,
  disabled,
  children,
}: Props & { readonly preview: MappingPreview }) {
  const title = useId()
  const heading = useRef<HTMLHeadingElement>(null)
  const { answers, answer, values } = step
  // Whoever listens is told that something is asked, and tabs on into the table.
  useEffect(() => heading.current?.focus(), [])
  const fields = preview.fields.filter(({ from }) => from !== 'compute')
  const twice = chosenTwice(preview, answers)
  const missing = step.fields.filter((field) => field.missing || answers.without.includes(field.field))
  const asked = preview.columns.filter(
    ({ certainty }) => certainty === 'likely' || certainty === 'uncertain',
  ).length
  return (
    <section className="match" aria-labelledby={title}>
      <header className="match-head">
        <h2 id={title} ref={heading} tabIndex={-1}>
          Match columns
        </h2>
        <p className="tiny">{introduction(asked, preview.columns.some(isOpen))}</p>
      </header>
      <table className="match-table">
        <thead>
          <tr>
            <th scope="col">Column in the file</th>
            <th scope="col">Examples</th>
            <th scope="col">Field</th>
            <th scope="col">Certainty</th>
          </tr>
        </thead>
        <tbody>
          {preview.columns.map((column) => (
            <ColumnRow
              key={column.column}
              column={column}
              fields={fields}
              answers={answers}
              disabled={disabled}
              choose={(field) => answer({ columns: { ...answers.columns, [column.header]: field } })}
            />
          ))}
        </tbody>
      </table>
      <Missing missing={missing} answers={answers} answer={answer} disabled={disabled} />
      {twice.length > 0 && (
        <p className="note is-bad" role="alert">
          <b>{twice.join(', ')}: more than one column is chosen.</b> Ignore all but one of them.
        </p>
      )}
      <Values values={values} answers={answers} answer={answer} disabled={disabled} />
      <footer className="match-foot">
        <OpenValues step={step} />
        {mayRemember && (
          <label>
            <input
              type="checkbox"
              checked={remember}
              disabled={disabled}
              onChange={(event) => setRemember(event.target.checked)}
            />
            Remember for the next file from this source
          </label>
        )}
        {children}
      </footer>
    </section>
  )
}

function introduction(asked: number, someOpen: boolean): string {
  if (asked === 0) return 'Choose what each column of the file is. Nothing is stored before you upload it.'
  const what = asked === 1 ? 'One column is not certain' : `${count(asked)} columns are not certain`
  const todo = someOpen
    ? 'Choose a field where one fits. A column without a field is not used.'
    : 'Check what is proposed, or choose another field.'
  return `${what}. ${todo} Nothing is stored before you upload it.`
}

function ColumnRow({
  column,
  fields,
  answers,
  choose,
  disabled,
}: {
  readonly column: PreviewColumn
  readonly fields: readonly PreviewField[]
  readonly answers: Answers
  choose(field: string): void
  readonly disabled: boolean
}) {
  const choice = choiceOf(column, answers)
  const isTouched = Object.hasOwn(answers.columns, column.header)
  const perhaps = fields.find(({ field }) => field === column.field)?.title
  const certainty = isTouched ? CHOSEN : column.ignored ? IGNORED : CERTAINTIES[column.certainty]
  return (
    <tr>
      <th scope="row" className="match-header">
        {column.header}
      </th>
      <td className="match-examples">
        {column.examples.length === 0 ? (
          <span className="tiny">no values</span>
        ) : (
          column.examples.map((example) => <span key={example}>{example}</span>)
        )}
      </td>
      <td>
        {column.same_as === null ? (
          <select
            aria-label={`Field of the column ${column.header}`}
            value={choice}
            disabled={disabled}
            onChange={(event) => choose(event.target.value)}
          >
            <option value={IGNORE}>
              {isOpen(column) && !isTouched ? 'Choose a field…' : 'Ignore this column'}
            </option>
            {fields.map(({ field, title, required }) => (
              <option key={field} value={field}>
                {title}
                {required ? ' (required)' : ''}
              </option>
            ))}
          </select>
        ) : (
          <span className="tiny">as the first column of this name</span>
        )}
      </td>
      <td className="match-certainty">
        <Chip tone={certainty.tone}>{certainty.word}</Chip>
        {!isTouched && column.certainty !== 'none' && (
          <span className="tiny">
            {isOpen(column) && perhaps ? `Perhaps ${perhaps}. ` : ''}
            {sentence(column.reasons)}
          </span>
        )}
      </td>
    </tr>
  )
}

const CERTAINTIES: Record<PreviewColumn['certainty'], { readonly tone: Tone; readonly word: string }> = {
  sure: { tone: 'ok', word: 'sure' },
  likely: { tone: 'held', word: 'likely' },
  uncertain: { tone: 'held', word: 'uncertain' },
  none: { tone: 'stale', word: 'not used' },
}
const CHOSEN = { tone: 'ok', word: 'chosen' } as const
const IGNORED = { tone: 'stale', word: 'ignored' } as const

function sentence(reasons: readonly string[]): string {
  const text = reasons.join(', ')
  return text === '' ? '' : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

/** Fields that the file must have: to be chosen above, or said not to be in it. */
function Missing({
  missing,
  answers,
  answer,
  disabled,
}: {
  readonly missing: readonly PreviewField[]
  readonly disabled: boolean
} & Pick<ColumnStep, 'answers' | 'answer'>) {
  const optional = missing.filter(({ required, expected }) => expected && !required)
  const needed = missing.filter(({ field }) => !answers.without.includes(field))
  if (missing.length === 0) return null
  const tick = (field: string, isAbsent: boolean) =>
    answer({
      without: isAbsent ? [...answers.without, field] : answers.without.filter((other) => other !== field),
    })
  return (
    <div className="note is-bad match-missing" role="status">
      {needed.length > 0 && (
        <p>
          <b>No column for {needed.map(({ title }) => title).join(', ')}.</b> Choose it above. Without it the
          file is not accepted.
        </p>
      )}
      {optional.map(({ field, title }) => (
        <label key={field}>
          <input
            type="checkbox"
            disabled={disabled}
            checked={answers.without.includes(field)}
            onChange={(event) => tick(field, event.target.checked)}
          />
          The file really has no {title}
        </label>
      ))}
    </div>
  )
}

function Values({
  values,
  answers,
  answer,
  disabled,
}: {
  readonly values: readonly PreviewValues[]
  readonly disabled: boolean
} & Pick<ColumnStep, 'answers' | 'answer'>) {
  if (values.length === 0) return null
  const choose = (field: string, value: string, meaning: Meaning) => {
    const { [value]: _, ...others } = answers.values[field] ?? {}
    const chosen = meaning.decided ? { ...others, [value]: meaning.value } : others
    answer({ values: { ...answers.values, [field]: chosen } })
  }
  const { undecided } = openValues(values, answers)
  return (
    <table className="match-table match-values">
      <caption>
        Values that are not known
        <span className="tiny" role="status">
          {undecided === 0 ? 'all decided' : `${count(undecided)} undecided`}
        </span>
      </caption>
      <thead>
        <tr>
          <th scope="col">Value in the file</th>
          <th scope="col" className="is-figures">
            Lines
          </th>
          <th scope="col">Means</th>
        </tr>
      </thead>
      <tbody>
        {values.map(({ field, title, unknown, choices, more, severity }) => (
          <Fragment key={field}>
            {unknown.map((one) => (
              <tr key={one.value}>
                <th scope="row" className="match-header">
                  {one.value}
                  <span className="tiny">{title}</span>
                </th>
                <td className="is-figures">
                  {count(one.lines)}
                  <span className="cell-label"> {one.lines === 1 ? 'line' : 'lines'}</span>
                </td>
                <td>
                  <MeaningChoice
                    label={`Meaning of ${one.value} in ${title}`}
                    choices={choices}
                    proposal={one.proposal}
                    meaning={meaningOf(answers, field, one.value)}
                    isInvalid={severity === 'error'}
                    disabled={disabled}
                    choose={(meaning) => choose(field, one.value, meaning)}
                  />
                </td>
              </tr>
            ))}
            {more > 0 && (
              <tr>
                <td colSpan={3} className="tiny">
                  {counted(more, 'more unknown value')} of {title}. They are shown after the upload.
                </td>
              </tr>
            )}
          </Fragment>
        ))}
      </tbody>
    </table>
  )
}

/** In a select of values: nobody has decided; what is in the file stays; no value. */
const UNDECIDED = 'undecided'
const AS_IT_IS = 'as-it-is'
const NO_VALUE = 'no-value'

/** The proposal stands beside the choice: it counts only when somebody takes it. */
function MeaningChoice({
  label,
  choices,
  proposal,
  meaning,
  isInvalid,
  choose,
  disabled,
}: {
  readonly label: string
  readonly choices: readonly string[]
  readonly proposal: string | null
  readonly meaning: Meaning
  /** The lines with the value are invalid, if it stays. */
  readonly isInvalid: boolean
  choose(meaning: Meaning): void
  readonly disabled: boolean
}) {
  const decide = (value: string | null | undefined) => choose({ decided: true, value })
  const asItIs = isInvalid ? 'Leave it: the lines are invalid' : 'Leave it as it is'
  const offered = proposal !== null && !meaning.decided && (
    <button
      type="button"
      className="button is-small"
      disabled={disabled}
      aria-label={`Use ${proposal} as the ${label.charAt(0).toLowerCase()}${label.slice(1)}`}
      onClick={() => decide(proposal)}
    >
      Use {proposal}
    </button>
  )
  if (choices.length === 0) {
    return (
      <span className="match-meaning">
        <input
          type="text"
          aria-label={label}
          placeholder={asItIs}
          value={meaning.decided ? (meaning.value ?? '') : ''}
          disabled={disabled}
          onChange={({ target: { value } }) =>
            choose(value === '' ? { decided: false } : { decided: true, value })
          }
        />
        {offered}
      </span>
    )
  }
  const chosen = !meaning.decided
    ? UNDECIDED
    : meaning.value === undefined
      ? AS_IT_IS
      : meaning.value === null
        ? NO_VALUE
        : `=${meaning.value}`
  return (
    <span className="match-meaning">
      <select
        aria-label={label}
        value={chosen}
        disabled={disabled}
        onChange={({ target: { value } }) => {
          if (value === UNDECIDED) choose({ decided: false })
          else decide(value === AS_IT_IS ? undefined : value === NO_VALUE ? null : value.slice(1))
        }}
      >
        <option value={UNDECIDED}>Choose what it means…</option>
        {choices.map((choice) => (
          <option key={choice} value={`=${choice}`}>
            {choice}
          </option>
        ))}
        <option value={NO_VALUE}>No value</option>
        <option value={AS_IT_IS}>{asItIs}</option>
      </select>
      {offered}
    </span>
  )
}

/** Beside the button: what comes of values that are not matched. */
function OpenValues({ step: { values, answers, isBeginning } }: Pick<Props, 'step'>) {
  const { undecided, invalidLines, fields } = openValues(values, answers)
  if (undecided + invalidLines === 0) return null
  const about = isBeginning ? 'at least ' : fields > 1 ? 'up to ' : ''
  const open = undecided > 0 && `${counted(undecided, 'value is', 'values are')} undecided`
  const wrong =
    invalidLines > 0 &&
    `${about}${counted(invalidLines, 'line')} will be invalid. You can repair ${invalidLines === 1 ? 'it' : 'them'} after the upload`
  return (
    <p className="match-open" role="status">
      {[open, wrong].filter(Boolean).join(': ')}.
    </p>
  )
}
