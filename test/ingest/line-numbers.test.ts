/** Every record has a number of its own, also where the file gives none, or one twice: it is the key of a staged row. */
import { afterAll, expect, it } from 'vitest'
import { closeDuck } from '../../src/ingest/duckdb.ts'
import { useDatabase } from '../support/database.ts'
import { useIngest } from '../support/ingest.ts'
import { textRows, workbook } from './readers/workbook.ts'

const db = useDatabase()
const ingest = useIngest(db)
afterAll(closeDuck)

const record = (day: number) => ({
  'Campaign ID': '120210000000000001',
  'Campaign name': 'Always on',
  Day: `2026-09-0${day}`,
  Impressions: 7,
  'Amount spent (USD)': 1.5,
})
const lines = async (upload: string) =>
  (
    await db.owner<{ row_number: number; day: string }>(
      `select row_number, normalized_payload ->> 'date' as day from staging_rows
        where upload_id = $1 and row_type = 'daily_metric' order by row_number`,
      [upload],
    )
  ).map(({ row_number, day }) => [row_number, day])

it('a JSON array on one line is staged, its records numbered in their order', async () => {
  const upload = await ingest.file(JSON.stringify([1, 2, 3].map(record)), { name: 'pull.json' })
  expect(upload).toMatchObject({ status: 'planned', line_count: 3, valid_count: 3, plan_refusal: null })
  expect(await lines(upload.upload_id)).toEqual([
    [1, '2026-09-01'],
    [2, '2026-09-02'],
    [3, '2026-09-03'],
  ])
})

it('an array over several lines keeps their numbers, but for a second record of a line', async () => {
  const [first, second, third, fourth] = [4, 5, 6, 7].map((day) => JSON.stringify(record(day)))
  const upload = await ingest.file(`[\n${first}, ${second},\n\n\n${third}, ${fourth}]`, {
    name: 'mixed.json',
  })
  expect((await lines(upload.upload_id)).map(([line]) => line)).toEqual([2, 3, 5, 6])
})

it('rows of a sheet that claim the same number, or an earlier one, are all staged', async () => {
  const header = Object.keys(record(1))
  const rows = [1, 2, 3].map((day) => Object.values(record(day)).map(String))
  const sheet = textRows([header, ...rows])
    .replace('<row r="3">', '<row r="2">')
    .replace('<row r="4">', '<row r="1">')
  const upload = await ingest.file(workbook({ sheets: { Daily: sheet } }), { name: 'twice.xlsx' })
  expect(await lines(upload.upload_id)).toEqual([
    [2, '2026-09-01'],
    [3, '2026-09-02'],
    [4, '2026-09-03'],
  ])
})
