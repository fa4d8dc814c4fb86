import { useEffect, useId, useState } from 'react'
import { ApiProblem, type Failure } from '../api/failure.ts'
import type { MappingPreview } from '../api/upload-types.ts'
import { Choice } from '../parts/choice.tsx'
import { counted } from '../parts/format.ts'
import './file-options.css'

/** How the file is to be read, where a person says so; what is missing is found by the server. */
export interface ReadChoices {
  readonly encoding?: string
  readonly delimiter?: string
  readonly header_line?: string
  readonly columns?: string
  readonly sheet?: string
  readonly decimal?: string
  readonly dates?: string
}

export const AS_FOUND: ReadChoices = {}

/** As fields of a form; matching datasets needs no styles of numbers and dates. */
export function readFields(choices: ReadChoices, kind: 'all' | 'structure'): Record<string, string> {
  const { decimal, dates, ...structure } = choices
  const chosen = kind === 'all' ? { ...structure, decimal, dates } : structure
  return Object.fromEntries(
    Object.entries(chosen).filter((entry): entry is [string, string] => Boolean(entry[1])),
  )
}

interface Props {
  readonly preview: MappingPreview | undefined
  /** Why the file could not be looked at. */
  readonly failure: Failure | undefined
  readonly choices: ReadChoices
  choose(choices: ReadChoices): void
  /** Only the beginning of the file was looked at. */
  readonly isBeginning: boolean
  /** Whether what is chosen is remembered for the next files of the same columns. */
  readonly remember: boolean
  setRemember(remember: boolean): void
  /** Forgets what was remembered; missing: nobody may. */
  forget?: (() => void) | undefined
  readonly disabled: boolean
}

/** What was found of the way in which the file is written, its first lines as they are read, and questions where it is open. */
export function FileOptions(props: Props) {
  const { preview, failure, choices, choose, isBeginning, remember, setRemember, forget, disabled } = props
  const [open, setOpen] = useState(false)
  const guesses = likelyEncodings(failure)
  const isAsked = guesses !== undefined || failure !== undefined
  const set = (some: ReadChoices) => choose({ ...choices, ...some })
  if (preview === undefined && failure === undefined) return null
  return (
    <section className="file-options" aria-label="How the file is written">
      {guesses && (
        <Question
          title="The file is not UTF-8. In which encoding do its values read right?"
          name="Encoding"
          chosen={choices.encoding}
          options={guesses.map(({ encoding, samples }) => ({
            value: encoding,
            text: encoding,
            detail: samples.join(', '),
          }))}
          choose={(encoding) => set({ encoding })}
          disabled={disabled}
        />
      )}
      {preview && (
        <>
          <DateQuestion
            preview={preview}
            isBeginning={isBeginning}
            choices={choices}
            set={set}
            disabled={disabled}
          />
          <NumberQuestion
            preview={preview}
            isBeginning={isBeginning}
            choices={choices}
            set={set}
            disabled={disabled}
          />
          <p className="match-line">
            <span className="tiny">{foundText(preview)}</span>
            <button
              type="button"
              className="button is-small"
              aria-expanded={open}
              onClick={() => setOpen(!open)}
            >
              {open ? 'Hide' : 'How it is read…'}
            </button>
          </p>
        </>
      )}
      {preview?.file.recalled && (
        <Recalled recalled={preview.file.recalled} forget={forget} disabled={disabled} />
      )}
      {isMemorable(choices) && (
        <label className="tiny">
          <input
            type="checkbox"
            checked={remember}
            disabled={disabled}
            onChange={(event) => setRemember(event.target.checked)}
          />{' '}
          Read my next files with these columns the same way
        </label>
      )}
      {(open || isAsked) && <Options preview={preview} choices={choices} set={set} disabled={disabled} />}
      {open && preview && <FirstLines preview={preview} />}
    </section>
  )
}

const REMEMBERED = {
  encoding: 'encoding',
  delimiter: 'delimiter',
  header_line: 'header line',
  decimal: 'decimal sign',
  dates: 'order of dates',
} as const

/** Names of columns and sheets are not remembered. */
function isMemorable(choices: ReadChoices): boolean {
  return Object.keys(REMEMBERED).some((option) => choices[option as keyof typeof REMEMBERED])
}

/** What is used of an earlier choice, where it was made, and where the file shows something else. */
function Recalled({
  recalled: { change, upload_id, options, notes },
  forget,
  disabled,
}: {
  readonly recalled: NonNullable<MappingPreview['file']['recalled']>
  readonly forget: (() => void) | undefined
  readonly disabled: boolean
}) {
  if (options.length === 0 && notes.length === 0) return null
  const from = change === null ? 'an earlier file' : `#${change}`
  return (
    <div className="match-line" role="note" aria-label="Remembered options">
      <span className="tiny">
        {options.length > 0 && (
          <>
            Remembered from {upload_id === null ? from : <a href={`/uploads/${upload_id}`}>{from}</a>}:{' '}
            {options.map((option) => REMEMBERED[option]).join(', ')}.{' '}
          </>
        )}
        {notes.join(' ')}
      </span>
      {forget && (
        <button type="button" className="button is-small" disabled={disabled} onClick={forget}>
          Forget<span className="unseen"> remembered options</span>
        </button>
      )}
    </div>
  )
}

interface Guess {
  readonly encoding: string
  readonly samples: readonly string[]
}

function likelyEncodings(failure: Failure | undefined): readonly Guess[] | undefined {
  if (!(failure instanceof ApiProblem) || failure.code !== 'file_encoding_unknown') return undefined
  const { likely } = failure.details
  return Array.isArray(likely) ? (likely as Guess[]) : []
}

const DELIMITERS: readonly (readonly [string, string])[] = [
  [',', 'comma'],
  [';', 'semicolon'],
  ['\t', 'tab'],
  ['|', 'bar'],
]
const DECIMALS = { dot: 'point: 1,234.50', comma: 'comma: 1.234,50' } as const
const DATES = { dmy: 'day first: 31/12/2026', mdy: 'month first: 12/31/2026' } as const

/** One sentence of what was found, and by which value. */
function foundText({ format, encoding, header_line, file }: MappingPreview): string {
  const { delimiter, decimal, dates, sheets } = file
  const delimiterName = DELIMITERS.find(([sign]) => sign === delimiter)?.[1] ?? delimiter
  const style = (
    what: string,
    { found, proof, by }: MappingPreview['file']['dates'],
    names: Record<string, string>,
  ) =>
    names[found] &&
    by !== null &&
    `${what} ${names[found]}${by === 'file' ? (proof ? ` (shown by ${proof})` : '') : ` (${by})`}`
  return [
    format === 'xlsx' ? encoding : `${format.toUpperCase()}, ${encoding}`,
    sheets.length > 1 && counted(sheets.length, 'sheet'),
    delimiter !== null && `cells separated by ${delimiterName}`,
    header_line > 0 && `header in line ${header_line}`,
    delimiter !== null && style('decimal', decimal, DECIMALS),
    style('dates with', dates, DATES),
  ]
    .filter(Boolean)
    .join(' · ')
}

interface AskProps {
  readonly preview: MappingPreview
  readonly isBeginning: boolean
  readonly choices: ReadChoices
  set(some: ReadChoices): void
  readonly disabled: boolean
}

function isOpen({ found }: MappingPreview['file']['dates']): boolean {
  return found === 'unknown' || found === 'mixed'
}

/** 03/04/2026: the third of April or the fourth of March. Nobody guesses it. */
function DateQuestion({ preview, isBeginning, choices, set, disabled }: AskProps) {
  const { dates } = preview.file
  const [example = ''] = dates.examples
  if (dates.ambiguous === 0 || (!isOpen(dates) && choices.dates === undefined)) return null
  return (
    <Question
      title={`Dates such as ${dates.examples.join(', ')} in ${dates.columns.join(', ')} read two ways. What comes first?`}
      name="Order of dates"
      chosen={choices.dates}
      options={[
        { value: 'dmy', text: 'Day first', detail: `${example} is ${dayText(example, 'dmy')}` },
        { value: 'mdy', text: 'Month first', detail: `${example} is ${dayText(example, 'mdy')}` },
      ]}
      choose={(order) => set({ dates: order })}
      otherwise={otherwise(dates.ambiguous, isBeginning)}
      disabled={disabled}
    />
  )
}

/** 1.234: a thousand or one and a bit. */
function NumberQuestion({ preview, isBeginning, choices, set, disabled }: AskProps) {
  const { decimal } = preview.file
  const [example = ''] = decimal.examples
  if (decimal.ambiguous === 0 || (!isOpen(decimal) && choices.decimal === undefined)) return null
  return (
    <Question
      title={`Numbers such as ${decimal.examples.join(', ')} in ${decimal.columns.join(', ')} read two ways. Which sign is the decimal sign?`}
      name="Decimal sign"
      chosen={choices.decimal}
      options={[
        { value: 'dot', text: 'Point', detail: `${example} is ${numberText(example, '.')}` },
        { value: 'comma', text: 'Comma', detail: `${example} is ${numberText(example, ',')}` },
      ]}
      choose={(sign) => set({ decimal: sign })}
      otherwise={otherwise(decimal.ambiguous, isBeginning)}
      disabled={disabled}
    />
  )
}

function otherwise(lines: number, isBeginning: boolean): string {
  const count = `${isBeginning ? 'at least ' : ''}${counted(lines, 'line')}`
  return isBeginning
    ? `Without a choice the rest of the file decides; if it does not, ${count} are invalid.`
    : `Without a choice ${count} ${lines === 1 ? 'is' : 'are'} invalid: nothing is guessed.`
}

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]

function dayText(date: string, order: 'dmy' | 'mdy'): string {
  const [one = '', other = '', year = ''] = date.split(/[/-]/)
  const [day, month] = order === 'dmy' ? [one, other] : [other, one]
  return `${Number(day)} ${MONTHS[Number(month) - 1] ?? month} ${year.split(/[ T]/)[0]}`
}

/** Without the signs that group thousands, and with a point for the decimals. */
function numberText(number: string, decimal: '.' | ','): string {
  const group = decimal === '.' ? ',' : '.'
  const plain = number.replaceAll(group, '').replace(decimal, '.')
  return plain.includes('.') ? `${plain} (with decimals)` : `${plain} (thousands)`
}

interface QuestionProps {
  readonly title: string
  readonly name: string
  readonly chosen: string | undefined
  readonly options: readonly { readonly value: string; readonly text: string; readonly detail: string }[]
  choose(value: string): void
  readonly otherwise?: string
  readonly disabled: boolean
}

function Question({ title, name, chosen, options, choose, otherwise: what, disabled }: QuestionProps) {
  const group = useId()
  return (
    <fieldset className={chosen === undefined ? 'note is-held' : 'note is-ok'} aria-label={name}>
      <legend className="unseen">{name}</legend>
      <p>
        <b>{title}</b>
      </p>
      {options.map(({ value, text, detail }) => (
        <label key={value}>
          <input
            type="radio"
            name={group}
            checked={chosen === value}
            disabled={disabled}
            onChange={() => choose(value)}
          />{' '}
          {text} <span className="tiny">{detail}</span>
        </label>
      ))}
      {chosen === undefined && what && <p className="tiny">{what}</p>}
    </fieldset>
  )
}

function Options({
  preview,
  choices,
  set,
  disabled,
}: { readonly preview: MappingPreview | undefined } & Pick<AskProps, 'choices' | 'set' | 'disabled'>) {
  const file = preview?.file
  const isText = file === undefined || file.delimiter !== null
  const isWorkbook = (file?.sheets.length ?? 0) > 0
  const found = (text: string | number | null | undefined) =>
    text === null || text === undefined || text === '' ? 'as found' : `as found: ${text}`
  return (
    <div className="choices file-choices">
      {isText && (
        <TextChoice
          label="Encoding"
          value={choices.encoding}
          placeholder={found(preview?.encoding)}
          options={ENCODINGS}
          choose={(encoding) => set({ encoding })}
          disabled={disabled}
        />
      )}
      {isText && (
        <Choice
          label="Delimiter"
          value={choices.delimiter ?? ''}
          options={[
            ['', found(DELIMITERS.find(([sign]) => sign === file?.delimiter)?.[1] ?? file?.delimiter)],
            ...DELIMITERS,
          ]}
          choose={(delimiter) => set({ delimiter })}
          disabled={disabled}
        />
      )}
      {isWorkbook && (
        <Choice
          label="Sheet"
          value={choices.sheet ?? ''}
          options={[
            ['', found(choices.sheet ? undefined : file?.sheet)],
            ...file!.sheets.map((name) => [name, name] as const),
          ]}
          choose={(sheet) => set({ sheet })}
          disabled={disabled}
        />
      )}
      {(isText || isWorkbook) && (
        <>
          <TextChoice
            label="Header line"
            value={choices.header_line}
            placeholder={found(choices.header_line || choices.columns ? undefined : preview?.header_line)}
            pattern="[0-9]{1,4}"
            choose={(header_line) => set({ header_line })}
            disabled={disabled}
          />
          <TextChoice
            label="No header: names of the columns"
            value={choices.columns}
            placeholder="name, name, …"
            choose={(columns) => set({ columns })}
            disabled={disabled}
          />
        </>
      )}
      {isText && (
        <Choice
          label="Decimal sign"
          value={choices.decimal ?? ''}
          options={[['', 'as the file shows'], ...Object.entries(DECIMALS)]}
          choose={(decimal) => set({ decimal })}
          disabled={disabled}
        />
      )}
      <Choice
        label="Order of dates"
        value={choices.dates ?? ''}
        options={[['', 'as the file shows'], ...Object.entries(DATES)]}
        choose={(dates) => set({ dates })}
        disabled={disabled}
      />
    </div>
  )
}

const ENCODINGS = [
  ...['utf-8', 'utf-16le', 'windows-1250', 'windows-1251', 'windows-1252', 'windows-1253', 'windows-1254'],
  ...[
    'iso-8859-1',
    'iso-8859-2',
    'iso-8859-15',
    'koi8-r',
    'shift_jis',
    'euc-jp',
    'gbk',
    'gb18030',
    'big5',
    'euc-kr',
  ],
]
/** Typing is settled before the file is looked at again. */
const SETTLE_MS = 500

function TextChoice({
  label,
  value,
  placeholder,
  options,
  pattern,
  choose,
  disabled,
}: {
  readonly label: string
  readonly value: string | undefined
  readonly placeholder: string
  readonly options?: readonly string[]
  readonly pattern?: string
  choose(value: string): void
  readonly disabled: boolean
}) {
  const list = useId()
  const [text, setText] = useState(value ?? '')
  const known = value ?? ''
  // biome-ignore lint/correctness/useExhaustiveDependencies: only typing is settled, not what comes from outside
  useEffect(() => {
    if (text.trim() === known || (pattern && text !== '' && !new RegExp(`^${pattern}$`).test(text.trim())))
      return
    const timer = setTimeout(() => choose(text.trim()), SETTLE_MS)
    return () => clearTimeout(timer)
  }, [text])
  // Chosen by a question, or another file.
  useEffect(() => setText(known), [known])
  return (
    <label className="choice">
      <span>{label}</span>
      <input
        value={text}
        placeholder={placeholder}
        pattern={pattern}
        list={options && list}
        spellCheck={false}
        autoComplete="off"
        disabled={disabled}
        onChange={(event) => setText(event.target.value)}
      />
      {options && (
        <datalist id={list}>
          {options.map((option) => (
            <option key={option} value={option} />
          ))}
        </datalist>
      )}
    </label>
  )
}

/** The first lines as they are read with what is chosen. */
function FirstLines({ preview: { columns, file } }: { preview: MappingPreview }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: wider than the window, it is scrolled with the arrow keys
    <section className="first-lines" tabIndex={0} aria-label="First lines as they are read">
      {file.above_header.map(({ line, text }) => (
        <p key={line} className="tiny">
          Line {line}, above the header: {text}
        </p>
      ))}
      <table>
        <thead>
          <tr>
            <th scope="col">Line</th>
            {columns.map(({ column, header }) => (
              <th key={column} scope="col">
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {file.first_lines.map(({ line, cells }) => (
            <tr key={line}>
              <td className="muted">{line}</td>
              {cells.map((cell, column) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a cell is its place
                <td key={column}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
