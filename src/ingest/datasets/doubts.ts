/**
 * What the values of a file leave open although it is known which column they belong to: how a list is separated, whether 80 % is
 * 80 or 0.8, whether 01/02/2024 is in January or in February. Such a thing is asked and never guessed.
 */
import type { SampledProfile } from '../profile-file.ts'
import type { TableColumn } from './catalogue.ts'
import type { FieldType } from './dataset.ts'
import {
  type Answers,
  columnFieldType,
  type Pair,
  PERCENT_FORMS,
  type PercentForm,
  type Question,
  setOption,
} from './proposal.ts'
import { hasForm } from './value-patterns.ts'

const SEPARATORS = [';', '|', ',', '/'] as const

/** Those that stand between items in some cell. Lists as PostgreSQL or JSON write them need none, and the marks of an address are none. */
export function separatorsIn(values: readonly string[]): string[] {
  const cells = values
    .filter((value) => !/^[{[].*[}\]]$/s.test(value))
    .map((value) => value.replace(/[a-z]+:\/\/[^\s,;|]*/gi, 'address'))
  return SEPARATORS.filter((separator) => cells.some((cell) => cell.includes(separator)))
}

interface DoubtfulColumn {
  readonly pair: Pair
  readonly column: TableColumn
  readonly profile: SampledProfile
  /** Values that rows of the table have in the column. */
  readonly samples: readonly string[]
  readonly answers: Answers
}

/** Why the column is not used before somebody has answered; undefined: its values leave nothing open. */
export function valueDoubt(given: DoubtfulColumn): Question | undefined {
  const type = columnFieldType(given.column)
  if (given.pair.values.length === 0) return undefined
  if (type === 'array') return separatorDoubt(given)
  if (type === 'decimal' || type === 'money') return percentDoubt(given) ?? confirmable(given, type)
  return confirmable(given, type)
}

function separatorDoubt({ pair: { header, values }, column, answers }: DoubtfulColumn): Question | undefined {
  const found = separatorsIn(values)
  if (found.length < 2 || answers.separators?.[column.name] !== undefined) return undefined
  const examples = found.map((sign) => values.find((value) => value.includes(sign))!)
  return {
    about: 'separator',
    header,
    column: column.name,
    text: `“${header}” has ${found.join(' and ')} in its cells (${quoted([...new Set(examples)])}). What separates the items of ${column.name}?`,
    choices: found,
    option: `--separator ${setOption(column.name, found[0]!)}`,
  }
}

/** Whether the table has 0.8 or 80 for 80 %; undefined: nothing tells. */
export function percentForm({
  column,
  samples,
  pair: { values },
  answers,
}: Omit<DoubtfulColumn, 'profile'>): PercentForm | undefined {
  const said = answers.percents?.[column.name]
  if (said) return said
  if (withoutPercentSign(values)) return undefined
  if (columnFieldType(column) === 'integer' || column.scale === 0) return 'points'
  const known = samples.map(Number).filter((value) => value !== 0 && Number.isFinite(value))
  if (known.some((value) => Math.abs(value) > 1)) return 'points'
  if (known.length > 0 && known.some((value) => Math.abs(value) < 1)) return 'fraction'
  const digits = column.precision === null ? Number.POSITIVE_INFINITY : column.precision - (column.scale ?? 0)
  const longest = Math.max(...values.map((value) => /\d+/.exec(value)?.[0].replace(/^0+/, '').length ?? 0))
  return longest > digits ? 'fraction' : undefined
}

/** Where some cells have a percent sign: a number other than 0 that has none. */
function withoutPercentSign(values: readonly string[]): string | undefined {
  return values.find(
    (value) =>
      !value.includes('%') && NUMBER_FORMS.some((form) => hasForm(value, form)) && /[1-9]/.test(value),
  )
}

const NUMBER_FORMS = ['integer', 'decimal', 'money'] as const

function percentDoubt(given: DoubtfulColumn): Question | undefined {
  const { pair, column, samples } = given
  const { header, values, confirmed } = pair
  if (values.some((value) => hasForm(value, 'percent'))) {
    if (percentForm(given)) return undefined
    const example = values.find((value) => hasForm(value, 'percent'))!
    const bare = withoutPercentSign(values)
    return {
      about: 'percent',
      header,
      column: column.name,
      text: bare
        ? `“${header}” has numbers with a percent sign (${example}) and without one (${bare}). Does ${column.name} have fractions (80 % is 0.8) or points (80 % is 80)? Numbers without the sign are taken as they are.`
        : `“${header}” has percentages (${example}), and nothing tells whether ${column.name} has fractions (80 % is 0.8) or points (80 % is 80).`,
      choices: PERCENT_FORMS,
      option: `--percent ${setOption(column.name, 'points')}`,
    }
  }
  if (confirmed || !/%|percent|pct|prozent|pourcent|porcent/i.test(`${header} ${column.name}`))
    return undefined
  const size = (all: readonly string[]) =>
    Math.max(0, ...all.map((value) => Math.abs(Number(value.replace(',', '.')))).filter(Number.isFinite))
  const [inFile, inTable] = [size(values), size(samples)]
  if (inFile === 0 || inTable === 0 || inFile > 1 === inTable > 1) return undefined
  return setQuestion(
    given,
    `“${header}” has values up to ${inFile}, and ${column.name} has values up to ${inTable}: one of them has fractions, the other percentages`,
  )
}

/** What a person who says that it is this column takes as it is. */
function confirmable(given: DoubtfulColumn, type: FieldType): Question | undefined {
  const { pair, column } = given
  const { header, values } = pair
  if (pair.confirmed) return undefined
  if (type === 'integer') {
    const coded = values.filter((value) => hasForm(value, 'leadingZero'))
    if (coded.length > 0)
      return setQuestion(
        given,
        `“${header}” has leading zeros (${quoted(coded)}), which ${column.name}, an integer, does not keep`,
      )
  }
  if (type === 'boolean') {
    const others = values.filter((value) => !hasForm(value, 'boolean') && !hasForm(value, 'bit'))
    if (others.length > 0)
      return setQuestion(
        given,
        `“${header}” has values that are neither yes nor no (${quoted(others)}), and ${column.name} is a boolean`,
      )
  }
  if (type === 'decimal' || type === 'money') {
    const signs = currenciesIn(values)
    const isNamed = given.profile.columns.some(({ type: found }) => found === 'currency')
    if (signs.length > 1 && !isNamed)
      return setQuestion(
        given,
        `“${header}” has amounts in several currencies (${signs.join(', ')}), and ${column.name} keeps only the number`,
      )
  }
  return undefined
}

function currenciesIn(values: readonly string[]): string[] {
  const signs = values
    .filter((value) => hasForm(value, 'money'))
    .map((value) => value.replace(/[\d.,'’\s+−-]/gu, ''))
  return [...new Set(signs.filter((sign) => sign !== ''))]
}

function setQuestion({ pair: { header }, column }: DoubtfulColumn, reason: string): Question {
  return {
    about: 'column',
    header,
    column: column.name,
    text: `${reason}. What is “${header}”?`,
    choices: [column.name],
    option: `--set ${setOption(header, column.name)}`,
  }
}

function quoted(values: readonly string[]): string {
  return values.slice(0, 3).join(' · ')
}

// What is read as the file's style says. Such a column is used; without an answer its open values are refused line by line.

/** Day or month first: both parts can be either. */
const OPEN_DATE = /^\s*(0?[1-9]|1[0-2])[/-](0?[1-9]|1[0-2])[/-]\d{2}/
/** Thousands or decimals. */
const OPEN_NUMBER = /^[^\d.,]*[1-9]\d{0,2}[.,]\d{3}[^\d.,]*$/
const DAYS: ReadonlySet<FieldType> = new Set(['date', 'timestamp', 'timestamptz'])
const FRACTIONS: ReadonlySet<FieldType> = new Set(['decimal', 'money', 'percent'])

export function styleQuestions(
  pair: Pair,
  type: FieldType,
  profile: SampledProfile,
  answers: Answers,
): Question[] {
  const { header, values } = pair
  const isOpen = (style: string) => style === 'unknown' || style === 'mixed'
  if (DAYS.has(type) && isOpen(profile.dates) && answers.dates === undefined) {
    const open = values.filter((value) => {
      const [, first, second] = OPEN_DATE.exec(value) ?? []
      return first !== undefined && Number(first) !== Number(second)
    })
    if (open.length > 0)
      return [
        {
          about: 'dates',
          header,
          text: `“${header}” has ${open[0]}, and ${because(profile.dates)} which of them is the day. Does the day (dmy) or the month (mdy) come first?`,
          choices: ['dmy', 'mdy'],
          option: '--dates dmy',
        },
      ]
  }
  if (FRACTIONS.has(type) && isOpen(profile.decimal) && answers.decimal === undefined) {
    const open = values.filter((value) => OPEN_NUMBER.test(value))
    if (open.length > 0)
      return [
        {
          about: 'decimal',
          header,
          text: `“${header}” has ${open[0]}, and ${because(profile.decimal)} whether that is a thousand or a fraction. Is the decimal sign a dot or a comma?`,
          choices: ['dot', 'comma'],
          option: `--decimal ${/,\d{3}/.test(open[0]!) ? 'dot' : 'comma'}`,
        },
      ]
  }
  return []
}

function because(style: string): string {
  return style === 'mixed' ? 'the file has both ways, so nothing tells' : 'nothing in the file tells'
}
