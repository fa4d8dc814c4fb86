/** What somebody chose for the columns and values of one file, and what of it has to be sent with the upload. */
import type { MappingPreview, PreviewColumn, PreviewValues } from '../api/upload-types.ts'

/** In a select: the column is not used. */
export const IGNORE = ''

export interface Answers {
  /** Header → field, or IGNORE. Headers that nobody touched are as proposed. */
  readonly columns: Readonly<Record<string, string>>
  /** Field → value in the file → value to take; null: none; undefined: as it is. */
  readonly values: Readonly<Record<string, Readonly<Record<string, string | null | undefined>>>>
  /** Expected fields that the file is said not to have. */
  readonly without: readonly string[]
}

export const NO_ANSWERS: Answers = { columns: {}, values: {}, without: [] }

export interface ChosenMapping {
  readonly headers: Record<string, string | null>
  readonly field_values: Record<string, Record<string, string | null>>
}

/** Own properties only: a file may have a column called `constructor`. */
function own<T>(of: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return of !== undefined && Object.hasOwn(of, key) ? of[key] : undefined
}

/** What is uncertain is not used before somebody chooses it. */
export function choiceOf(column: PreviewColumn, { columns }: Answers): string {
  return own(columns, column.header) ?? (isOpen(column) ? IGNORE : (column.field ?? IGNORE))
}

export function isOpen({ certainty }: PreviewColumn): boolean {
  return certainty === 'uncertain'
}

/** Nobody has said what it is. */
function isUnanswered(column: PreviewColumn, { columns }: Answers): boolean {
  return isOpen(column) && own(columns, column.header) === undefined
}

export function isProposal({ field, by }: PreviewColumn): boolean {
  return field !== null && (by === 'likeness' || by === 'content')
}

/** What somebody chose for an unknown value. A proposal is offered, never taken by itself. */
export type Meaning =
  | { readonly decided: false }
  /** null: none; undefined: as it is. */
  | { readonly decided: true; readonly value: string | null | undefined }

export function meaningOf(answers: Answers, field: string, value: string): Meaning {
  const chosen = own(answers.values, field)
  if (chosen === undefined || !Object.hasOwn(chosen, value)) return { decided: false }
  return { decided: true, value: chosen[value] }
}

/** Values that nobody has decided on, and the lines that stay invalid because of them and of those left as they are. */
export function openValues(
  values: readonly PreviewValues[],
  answers: Answers,
): {
  readonly undecided: number
  readonly invalidLines: number
  /** A line may be counted once for each field. */
  readonly fields: number
} {
  let undecided = 0
  let invalidLines = 0
  const fields = new Set<string>()
  for (const { field, unknown, severity } of values) {
    for (const { value, lines } of unknown) {
      const meaning = meaningOf(answers, field, value)
      if (!meaning.decided) undecided += 1
      const isLeft = !meaning.decided || meaning.value === undefined
      if (!isLeft || severity !== 'error') continue
      invalidLines += lines
      fields.add(field)
    }
  }
  return { undecided, invalidLines, fields: fields.size }
}

/** What the reader would not know by itself: proposals, and what differs from what it knows. */
export function mappingToSend(
  preview: Pick<MappingPreview, 'columns'>,
  unknownValues: readonly PreviewValues[],
  answers: Answers,
): ChosenMapping {
  const headers: [string, string | null][] = []
  for (const column of preview.columns) {
    if (column.same_as !== null || isUnanswered(column, answers)) continue
    const choice = choiceOf(column, answers)
    const isKnown = choice === (column.field ?? IGNORE) && !isProposal(column)
    if (!isKnown) headers.push([column.header, choice === IGNORE ? null : choice])
  }
  const values = unknownValues.map(({ field, unknown }) => {
    const meant = unknown.flatMap((one): [string, string | null][] => {
      const meaning = meaningOf(answers, field, one.value)
      return meaning.decided && meaning.value !== undefined ? [[one.value, meaning.value]] : []
    })
    return [field, Object.fromEntries(meant)] as const
  })
  return {
    headers: Object.fromEntries(headers),
    field_values: Object.fromEntries(values.filter(([, meant]) => Object.keys(meant).length > 0)),
  }
}

/** Every column as it is shown, so that a preview made with it proposes nothing else. */
export function wholeMapping(preview: MappingPreview, answers: Answers): Record<string, string | null> {
  const columns = preview.columns.filter(
    (column) => column.same_as === null && !isUnanswered(column, answers),
  )
  return Object.fromEntries(
    columns.map((column) => [column.header, choiceOf(column, answers) || null] as const),
  )
}

/** Fields that more than one column is chosen for, by title. */
export function chosenTwice(preview: MappingPreview, answers: Answers): string[] {
  const seen = new Set<string>()
  const twice = new Set<string>()
  for (const column of preview.columns) {
    const choice = choiceOf(column, answers)
    if (choice === IGNORE || column.same_as !== null) continue
    if (seen.has(choice)) twice.add(choice)
    seen.add(choice)
  }
  return preview.fields.filter(({ field }) => twice.has(field)).map(({ title }) => title)
}
