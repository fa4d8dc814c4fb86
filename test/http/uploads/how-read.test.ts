/** A file that does not say how it is written: what is found, what is asked, and what whoever reviews sees of the answers. */
import { afterAll, expect, it } from 'vitest'
import { closeDuck } from '../../../src/ingest/duckdb.ts'
import { form, useUploads } from './uploads-api.ts'

const uploads = useUploads()
afterAll(closeDuck)

const FILE = `Report of the week
Campaign ID;Campaign name;When;Impressions;Amount spent (AUD);Tag
1201;Café;03/04/2026;40;1.234;a
1202;Herbst;05/06/2026;41;2.345;b
`
const ANSWERS = { headers: '{"When":"date"}' }

async function preview(file: string | Buffer, fields: Record<string, string> = {}) {
  const { body, type } = form(file, { platform: 'meta', ...ANSWERS, ...fields }, 'week.csv')
  const reply = await uploads.api.app.inject({
    method: 'POST',
    url: '/api/v1/datasets/ads/mapping/preview',
    headers: { authorization: `Bearer ${uploads.tokens.operator}`, 'content-type': type },
    payload: body,
  })
  return { status: reply.statusCode, body: JSON.parse(reply.body) }
}

it('says what it found, shows the first lines, and asks where dates or numbers read two ways', async () => {
  const { body } = await preview(FILE)
  expect(body).toMatchObject({ encoding: 'UTF-8', header_line: 2 })
  expect(body.file).toMatchObject({
    delimiter: ';',
    sheets: [],
    above_header: [{ line: 1, text: 'Report of the week' }],
    dates: {
      found: 'unknown',
      by: null,
      ambiguous: 2,
      columns: ['When'],
      examples: ['03/04/2026', '05/06/2026'],
    },
    decimal: {
      found: 'unknown',
      ambiguous: 2,
      columns: ['Amount spent (AUD)'],
      examples: ['1.234', '2.345'],
    },
  })
  expect(body.file.first_lines[0]).toEqual({
    line: 3,
    cells: ['1201', 'Café', '03/04/2026', '40', '1.234', 'a'],
  })

  // A value anywhere settles it, and is shown; a person’s choice goes before.
  const settled = await preview(FILE.replace('05/06/2026', '31/06/2026').replace('2.345', '2,50'))
  expect(settled.body.file).toMatchObject({
    dates: { found: 'dmy', by: 'file', proof: '31/06/2026' },
    decimal: { found: 'comma', by: 'file', proof: '2,50' },
  })
  const chosen = await preview(FILE, { dates: 'mdy', decimal: 'dot' })
  expect(chosen.body.file).toMatchObject({
    dates: { found: 'mdy', by: 'chosen', ambiguous: 2 },
    decimal: { found: 'dot', by: 'chosen' },
  })
  // The header is where somebody says it is, also where that makes no sense.
  const other = await preview(FILE, { header_line: '3' })
  expect(other.body).toMatchObject({
    header_line: 3,
    lines: 1,
    columns: [{ header: '1201' }, {}, {}, {}, {}, {}],
  })
  expect((await preview(FILE, { header_line: '900' })).body.detail).toContain('Line 900 cannot be the header')

  const refused = await preview(Buffer.from(FILE, 'latin1'))
  expect(refused).toMatchObject({ body: { code: 'file_encoding_unknown' } })
  expect(refused.body.details.likely[0].samples).toContain('Café')
  expect((await preview(Buffer.from(FILE, 'latin1'), { encoding: 'windows-1252' })).body.encoding).toBe(
    'windows-1252',
  )
})

it('shows whoever reviews which column became which field, what was matched and chosen, and by whom', async () => {
  await uploads.call('PATCH', '/datasets/ads/mapping', 'operator', {
    platform: 'meta',
    workspace_id: uploads.ads.workspace,
    headers: { Tag: null },
    field_values: { campaign_name: { Herbst: 'Autumn' } },
  })
  const upload = await uploads.upload(FILE, 'operator', {
    ...ANSWERS,
    dates: 'dmy',
    decimal: 'dot',
    field_values: '{"campaign_name":{"Café":"Coffee"}}',
  })
  expect(upload.invalid_count).toBe(0)
  const path = `/uploads/${upload.upload_id}/reading`
  const { status, body } = await uploads.call('GET', path, 'reviewer')
  expect(status).toBe(200)
  const { reading } = body
  const operator = upload.uploaded_by
  const columns = Object.fromEntries(reading.columns.map((one: { header: string }) => [one.header, one]))
  expect(columns.When).toMatchObject({ field: 'date', how: 'chosen', by: operator, ignored: false })
  expect(columns.Tag).toMatchObject({ field: null, how: 'remembered', by: operator, ignored: true })
  expect(columns['Campaign ID']).toMatchObject({ how: 'name', by: null })
  expect(reading.values).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ value: 'Café', meaning: 'Coffee', lines: 1, how: 'chosen', by: operator }),
      expect.objectContaining({
        value: 'Herbst',
        meaning: 'Autumn',
        lines: 1,
        how: 'remembered',
        by: operator,
      }),
    ]),
  )
  expect(reading.options).toEqual(
    expect.arrayContaining([
      { option: 'encoding', value: 'UTF-8', how: 'detected' },
      { option: 'delimiter', value: 'semicolon', how: 'detected' },
      { option: 'header_line', value: '2', how: 'detected' },
      { option: 'decimal', value: 'a point: 1,234.50', how: 'chosen' },
      { option: 'dates', value: 'day first: 31/12/2026', how: 'chosen' },
    ]),
  )
  expect((await uploads.call('GET', path, 'stranger')).status).toBe(404)
})
