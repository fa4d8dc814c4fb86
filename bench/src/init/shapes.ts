/**
 * The corpus of `init`: tables after well-known schemas, a file for each as people export it, and which column is which, written
 * before anything was measured. The last third is never looked at when the matching is tuned.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Shape {
  readonly name: string
  readonly table: string
  readonly ddl: string
  readonly file: string
  /** Header → column; null: it is not taken. */
  readonly expected: Readonly<Record<string, string | null>>
  readonly heldOut: boolean
}

/** `folder` is test/fixtures/schemas. */
export function readShapes(folder: string): Shape[] {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.shape'))
    .sort()
  return names.map((name, index) =>
    parseShape(name, readFileSync(join(folder, name), 'utf8'), index >= (names.length * 2) / 3),
  )
}

function parseShape(name: string, text: string, heldOut: boolean): Shape {
  const [, table, ddl, file, expected] =
    /^-- table: ([^\n]+)\n(.*)\n-- file:\n(.*)\n-- expected:\n(.*)$/s.exec(text)!
  const pairs = expected!
    .trim()
    .split('\n')
    .map((line) => /^(.*?) =\s*(.*)$/.exec(line)!)
    .map(([, header, column]) => [header!, column || null] as const)
  return {
    name: name.replace(/\.shape$/, ''),
    table: table!,
    ddl: ddl!,
    file: `${file!}\n`,
    expected: Object.fromEntries(pairs),
    heldOut,
  }
}

/** The functions that are measured: of the sources in a test, of the built product in a benchmark. */
export interface Init<Table, Profile> {
  readTable(named: string): Promise<Table>
  profileFile(path: string): Promise<Profile>
  proposeDataset(
    table: Table,
    profile: Profile,
  ): {
    readonly columns: readonly {
      readonly header: string
      readonly column: string | null
      readonly certainty: string
      readonly others: readonly string[]
    }[]
    readonly obstacles: readonly unknown[]
  }
}

export const VERDICTS = ['right', 'asked', 'missed', 'wrong', 'wrong_and_sure'] as const
export type Verdict = (typeof VERDICTS)[number]

export interface Judged {
  readonly shape: string
  readonly header: string
  readonly expected: string | null
  readonly proposed: string | null
  readonly certainty: string
  readonly verdict: Verdict
}

/** The table of the shape must be there. */
export async function judgeShape<Table, Profile>(
  shape: Shape,
  init: Init<Table, Profile>,
): Promise<Judged[]> {
  const folder = mkdtempSync(join(tmpdir(), 'stagedoor-shape-'))
  try {
    const path = join(folder, `${shape.name}.csv`)
    writeFileSync(path, shape.file)
    const { columns } = init.proposeDataset(await init.readTable(shape.table), await init.profileFile(path))
    return columns.map(({ header, column, certainty }) => {
      const expected = shape.expected[header]
      if (expected === undefined) throw new Error(`${shape.name} says nothing about “${header}”`)
      return {
        shape: shape.name,
        header,
        expected,
        proposed: column,
        certainty,
        verdict: verdictOf(expected, column, certainty),
      }
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function verdictOf(expected: string | null, proposed: string | null, certainty: string): Verdict {
  if (proposed === null) return expected === null ? 'right' : 'missed'
  if (certainty === 'uncertain') return 'asked'
  if (proposed === expected) return 'right'
  return certainty === 'sure' ? 'wrong_and_sure' : 'wrong'
}

/** Shares of all columns, by verdict. */
export function sharesOf(judged: readonly Judged[]): Record<Verdict, number> {
  const share = (wanted: Verdict) =>
    judged.filter(({ verdict }) => verdict === wanted).length / (judged.length || 1)
  return Object.fromEntries(VERDICTS.map((verdict) => [verdict, share(verdict)])) as Record<Verdict, number>
}
