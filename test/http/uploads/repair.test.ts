/** Many cells corrected in one request, and what the answer says of the plan. */
import { afterAll, expect, it } from 'vitest'
import { closeDuck } from '../../../src/ingest/duckdb.ts'
import { form, useUploads } from './uploads-api.ts'

const uploads = useUploads()
afterAll(closeDuck)

const FILE = `Campaign ID,Campaign name,Day,Impressions,Amount spent (AUD)
1201,Always on,2026-11-09,40,oops
1201,Always on,2026-11-10,41,oops
1202,Autumn,2026-11-10,,3.50
`
const SPEND = 'Amount spent (AUD)'

it('corrects cells of a column in all lines, says first how many, and brings the plan up to date', async () => {
  const { upload_id: id, plan_digest } = await uploads.upload(FILE)
  const path = `/uploads/${id}/rows`
  const edits = [{ column: SPEND, from: 'oops', to: '2' }]
  const dry = await uploads.call('PATCH', path, 'operator', { edits, dry_run: true })
  expect(dry).toMatchObject({
    status: 200,
    body: {
      plan_digest,
      invalid_count: 2,
      repair: { lines: 2, cells: 2, dry_run: true, replanned: null, reason: null },
    },
  })
  const done = await uploads.call('PATCH', path, 'operator', { edits })
  expect(done).toMatchObject({
    status: 200,
    body: {
      status: 'planned',
      invalid_count: 0,
      plan_refusal: null,
      plan_totals: { campaign: { insert: 2 }, daily_metric: { insert: 3 } },
      repair: { lines: 2, cells: 2, dry_run: false, replanned: 'lines', reason: null },
    },
  })
  expect(done.body.plan_digest).not.toBe(plan_digest)
  const one = await uploads.call('PATCH', path, 'operator', {
    edits: [{ column: SPEND, to: '5', lines: [2, 2] }],
  })
  expect(one.body.repair).toMatchObject({ lines: 1, cells: 1, replanned: 'lines' })
  const filled = await uploads.call('PATCH', path, 'operator', {
    edits: [{ column: 'Impressions', from: null, to: '7' }],
  })
  expect(filled.body.repair).toMatchObject({ lines: 1, cells: 1 })
})

it('refuses rows together with edits, neither of them, and a person who may not stage', async () => {
  const { upload_id: id } = await uploads.upload(FILE.replaceAll('Autumn', 'Winter'))
  const path = `/uploads/${id}/rows`
  const edits = [{ column: SPEND, from: 'oops', to: '2' }]
  expect((await uploads.call('PATCH', path, 'operator', {})).status).toBe(400)
  expect((await uploads.call('PATCH', path, 'operator', { edits, rows: [{ line: 2 }] })).status).toBe(400)
  expect((await uploads.call('PATCH', path, 'viewer', { edits })).status).toBe(403)
})

const PRICES = `Campaign ID,Campaign name,Day,Impressions,Amount spent (AUD)
1201,Always on,2026-11-09,40,A$ 1x
1201,Always on,2026-11-10,41,A$ 2x
1202,Autumn,2026-13-10,5,3.50
1203,Spring x,2026-11-10,5,4.50
`

it('counts what is wrong by rule and column, and lists, replaces and refuses by the same filter', async () => {
  const { upload_id: id } = await uploads.upload(PRICES)
  const { kinds } = (await uploads.call('GET', `/uploads/${id}/problems`, 'operator')).body
  const errors = kinds.filter(({ severity }: { severity: string }) => severity === 'error')
  expect(errors).toMatchObject([
    { column: SPEND, lines: 2 },
    { column: 'Day', lines: 1 },
  ])
  const rows = async (query: string) =>
    (await uploads.call('GET', `/uploads/${id}/rows?${query}`, 'operator')).body.rows.map(
      ({ row_number }: { row_number: number }) => row_number,
    )
  expect(await rows(`column=${encodeURIComponent(SPEND)}`)).toEqual([2, 3])
  expect(await rows(`rule=${errors[1].rule}`)).toEqual([4])
  expect(await rows('contains=sPRING')).toEqual([5])
  const exported = await uploads.call('GET', `/uploads/${id}/problems.csv?column=Day`, 'operator')
  expect(exported.body).toContain('Autumn')
  expect(exported.body).not.toContain('Always on')

  // A part of cells, in the lines of the filter, as if what is typed and not saved were there already.
  const path = `/uploads/${id}/rows`
  const edits = [
    { column: SPEND, from: 'x', to: '', match: 'part', where: { status: 'invalid', column: SPEND } },
  ]
  const dry = await uploads.call('PATCH', path, 'operator', {
    edits: [
      ...edits,
      { column: 'Campaign name', from: 'x', to: 'y', match: 'part', where: { status: 'invalid' } },
    ],
    dry_run: true,
    unsaved: { 3: { [SPEND]: '7x5' } },
  })
  expect(dry.body.repair).toMatchObject({
    cells: 2,
    changes: [
      { line: 2, column: SPEND, from: 'A$ 1x', to: 'A$ 1' },
      { line: 3, column: SPEND, from: '7x5', to: '75' },
    ],
  })
  expect((await uploads.call('PATCH', path, 'operator', { edits, unsaved: {} })).status).toBe(400)

  // All or nothing: every line that is refused is named, and the others stay as they were.
  const stale = await uploads.call('PATCH', path, 'operator', {
    rows: [
      { line: 2, values: { [SPEND]: '1' }, expect: { [SPEND]: 'A$ 1x' } },
      { line: 3, values: { [SPEND]: '2' }, expect: { [SPEND]: 'something else' } },
      { line: 77, values: { [SPEND]: '2' } },
      { line: 4, values: { Tag: 'x' } },
    ],
  })
  expect(stale).toMatchObject({ status: 409, body: { code: 'repair_refused' } })
  expect(stale.body.details.lines).toMatchObject([
    { line: 3, column: SPEND, now: 'A$ 2x' },
    { line: 77 },
    { line: 4, column: 'Tag' },
  ])
  expect(await rows(`column=${encodeURIComponent(SPEND)}`)).toEqual([2, 3])
})

it('takes the exported lines back after somebody corrected them in a spreadsheet', async () => {
  const { upload_id: id } = await uploads.upload(PRICES.replaceAll('Always on', 'Always off'))
  const exported = (await uploads.call('GET', `/uploads/${id}/problems.csv`, 'operator')).body as string
  const corrected = exported
    .replace('A$ 1x', 'A$ 1')
    .replace('A$ 2x', '2.00')
    .replace('2026-13-10', '2026-11-10')
  const send = async (text: string, as: 'operator' | 'viewer', fields: Record<string, string> = {}) => {
    const { body, type } = form(text, fields, 'corrected.csv')
    const reply = await uploads.api.app.inject({
      method: 'POST',
      url: `/api/v1/uploads/${id}/corrections`,
      headers: { authorization: `Bearer ${uploads.tokens[as]}`, 'content-type': type },
      payload: body,
    })
    return { status: reply.statusCode, body: JSON.parse(reply.body) }
  }
  const dry = await send(corrected, 'operator', { dry_run: 'true' })
  expect(dry).toMatchObject({
    status: 200,
    body: { invalid_count: 3, repair: { lines: 3, cells: 3, dry_run: true } },
  })
  expect(dry.body.repair.changes[2]).toEqual({ line: 4, column: 'Day', from: '2026-13-10', to: '2026-11-10' })
  expect((await send(corrected, 'viewer')).status).toBe(403)
  expect(await send(corrected, 'operator')).toMatchObject({ status: 200, body: { invalid_count: 0 } })
  // The message names the file as its owner knows it, not where the server keeps it.
  const other = await send('a,b\n1,2\n', 'operator')
  expect(other.body.detail).toMatch(/^corrected\.csv has neither/)
  expect(uploads.spooled()).toEqual([])
})
