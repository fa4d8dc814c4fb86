/** How somebody had a file read is remembered for their next files of the same shape, and never overrules what a file shows. */
import { describe, expect, it } from 'vitest'
import { describeReading } from '../../src/ingest/file-reading.ts'
import { backEndActor } from '../../src/ingest/pipeline.ts'
import { forgetReadOptions, listReadOptions } from '../../src/ingest/read-options.ts'
import { previewSource } from '../../src/ingest/source-preview.ts'
import type { FileOptions } from '../../src/ingest/stage.ts'
import type { Upload } from '../../src/ingest/uploads.ts'
import { useDatabase } from '../support/database.ts'
import { createMember } from '../support/factories.ts'
import { useIngest } from '../support/ingest.ts'
import { sqlstateOf } from '../support/sqlstate.ts'

const db = useDatabase()
const ingest = useIngest(db)

let week = 0
/** Days that read two ways, and another campaign each time: the same bytes would be recognised. */
const report = ({
  head = 'Campaign name;Day;Impressions;Amount spent (EUR)',
  name = 'Käse',
  day = '03/04/2026',
} = {}) => `${head}\n${name} ${++week};${day};10;1,50\n`
const chosen = (options: FileOptions) => ({ file: { ...options, rememberOptions: true } })
const howOf = async ({ upload_id }: Upload) =>
  db.as(ingest.operator, async (client) => {
    const { options } = (await describeReading(client, upload_id))!
    return Object.fromEntries(
      options.map(({ option, how, change }) => [option, change ? `${how} #${change}` : how]),
    )
  })
const dayOf = async ({ upload_id }: Upload) =>
  (
    await ingest.service<{ day: string | null }>(
      `select normalized_payload ->> 'date' as day from public.staging_rows where upload_id = $1 and row_type like '%metric' limit 1`,
      [upload_id],
    )
  )[0]?.day
const where = () => ({ workspaceId: ingest.workspace, dataset: 'ads', platform: 'meta' })
const latin = (text: string) => Buffer.from(text, 'latin1')

describe('options that were chosen to be remembered', () => {
  it('are applied to the next file of the same columns, and it says from which change', async () => {
    const first = await ingest.file(latin(report()), chosen({ encoding: 'windows-1252', dates: 'dmy' }))
    expect(first).toMatchObject({ valid_count: 1, invalid_count: 0 })
    const next = await ingest.file(latin(report()))
    expect(next).toMatchObject({ valid_count: 1, invalid_count: 0 })
    expect(await dayOf(next)).toBe('2026-04-03')
    expect(await howOf(next)).toMatchObject({
      encoding: `remembered #${first.change}`,
      dates: `remembered #${first.change}`,
      delimiter: 'detected',
    })
  })

  it('are not those of another person, nor of a file with other columns', async () => {
    const other = await createMember(db, ingest.workspace, 'operator')
    const actor = backEndActor(db.pool('stagedoor_worker'), other.userId)
    const error = await ingest.file(latin(report()), { actor }).catch((thrown) => thrown)
    expect(error).toMatchObject({ code: 'file_encoding_unknown' })
    const head = 'Campaign name;Day;Impressions;Clicks (all)'
    expect(await ingest.file(report({ head, name: 'Kaese' }))).toMatchObject({ invalid_count: 1 })
  })

  it('give way to what the file shows, and that is said', async () => {
    const upload = await ingest.file(`${report({ day: '12/31/2026' })}`)
    expect(upload).toMatchObject({ valid_count: 1 })
    expect(await dayOf(upload)).toBe('2026-12-31')
    expect(await howOf(upload)).toMatchObject({ encoding: 'detected', dates: 'detected' })
    expect(upload.notes.map(({ message }) => message).join(' ')).toMatch(
      /From #[0-9]+ the encoding windows-1252 is remembered; this file shows UTF-8, which is used\. .*dates with the day first is remembered; this file shows dates with the month first, which is used/,
    )
  })

  it('give way to what is chosen for the file', async () => {
    const upload = await ingest.file(latin(report()), { file: { dates: 'mdy' } })
    expect(await dayOf(upload)).toBe('2026-03-04')
    expect(await howOf(upload)).toMatchObject({
      dates: 'chosen',
      encoding: expect.stringContaining('remembered'),
    })
    // Without a word about remembering nothing is changed.
    expect(await dayOf(await ingest.file(latin(report())))).toBe('2026-04-03')
  })

  it('are shown before the file is uploaded', async () => {
    const preview = await previewSource(
      { home: ingest.home },
      backEndActor(db.pool('stagedoor_worker'), ingest.operator.userId),
      [latin(report())] as never,
      { ...where() },
    )
    expect(preview.encoding).toMatch(/windows-1252/i)
    expect(preview.file.dates).toMatchObject({ found: 'dmy', by: 'remembered' })
    expect(preview.file.recalled).toMatchObject({ options: ['encoding', 'dates'], notes: [] })
  })

  it('of a delimiter and a header line are tried where the file by itself reads otherwise', async () => {
    const text = (name: string) =>
      `Report;of;the;week\nCampaign name|Day|Impressions|Amount spent (EUR)\n${name}|2026-11-01|1|2.50\nB ${name}|2026-11-01|1|2.50\n`
    const first = await ingest.file(text('D1'), chosen({ delimiter: '|', headerLine: 2 }))
    expect(first).toMatchObject({ valid_count: 2 })
    const next = await ingest.file(text('D2'))
    expect(next).toMatchObject({ valid_count: 2 })
  })

  it('are forgotten by whoever chose them, and by nobody else who may only stage', async () => {
    const mine = () =>
      db.as(ingest.operator, (client) => listReadOptions(client, { ...where(), author: null }))
    const count = (await mine()).length
    expect(count).toBeGreaterThan(0)
    const author = ingest.operator.userId
    expect(
      await sqlstateOf(db.as(ingest.agent, (client) => forgetReadOptions(client, { ...where(), author }))),
    ).toBe('SD202')
    expect(await db.as(ingest.agent, (client) => forgetReadOptions(client, where()))).toBe(0)
    expect(await db.as(ingest.operator, (client) => forgetReadOptions(client, where()))).toBe(count)
    const error = await ingest.file(latin(report())).catch((thrown) => thrown)
    expect(error).toMatchObject({ code: 'file_encoding_unknown' })
  })

  it('are at most 50 shapes of a person', async () => {
    const upload = await ingest.file(report({ name: 'Plain' }), { file: { dates: 'dmy' } })
    for (let at = 0; at < 52; at++)
      await ingest.service('select iu_core.fn_ingest_read_options_remember($1, $2, $3, $4)', [
        upload.upload_id,
        String(at).padStart(64, '0'),
        ['A'],
        { dates: 'dmy' },
      ])
    const kept = await db.as(ingest.operator, (client) =>
      listReadOptions(client, { ...where(), author: null }),
    )
    expect(kept).toHaveLength(50)
    expect(kept.some(({ shape }) => shape === String(1).padStart(64, '0'))).toBe(false)
  })
})
