/** Wrong lines as a file for a spreadsheet: what is a number stays one, what would be a formula does not become one. */
import { expect, it } from 'vitest'
import { exportProblems, type StagedRow } from '../../src/ingest/staged-rows.ts'

async function exported(cell: string): Promise<string> {
  const row = { row_number: 2, raw_payload: { a: cell }, validation_errors: [] } as unknown as StagedRow
  const pages = [[row], []]
  let text = ''
  for await (const line of exportProblems(async () => pages.shift()!, ['a'])) text += line
  return text.split('\r\n')[1]!.split(',2,')[0]!
}

it.each(['+12', '-12', '+ 1.250', '-0.5 %', '+1.2E+5', '-5 €', '-', '--', '120', 'a=b'])(
  '%s stays as it is',
  async (cell) => {
    expect(await exported(cell)).toBe(cell)
  },
)

it.each(['=1+1', '+1+1', "-1+cmd|' /C calc'!A0", '@SUM(A1)', '+A1', '-A1', '- note', '+'])(
  '%s is no formula in a spreadsheet',
  async (cell) => {
    expect(await exported(cell)).toBe(`'${cell}`)
  },
)
