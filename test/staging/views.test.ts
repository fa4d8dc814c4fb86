/** The two views: what they show, and that row security holds in them. */
import { beforeAll, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { type Workplace, workplace } from './people.ts'
import { PACKAGE, passExpiry, passRetention, type Staged, stage, textPart } from './staged.ts'

const db = useDatabase()
let place: Workplace
let held: Staged
let cleaned: Staged

beforeAll(async () => {
  place = await workplace(db)
  held = await stage(place.owner.session, { workspace: place.workspace, ...PACKAGE })
  cleaned = await stage(place.agent.session, { workspace: place.workspace, parts: [textPart('héllo')] })
  await place.agent.session.query('select iu_core.fn_iu_staging_withdraw($1)', [cleaned.staging_record_id])
  await passRetention(place.intruder, cleaned.staging_record_id)
  await place.worker.session.query('select iu_core.fn_iu_staging_cleanup()')
})

const one = async (view: string, id: string) =>
  (await place.reviewer.session.query(`select * from iu_core.${view} where staging_record_id = $1`, [id]))
    .rows[0]

it('v_iu_staging_record has every column of the record, the parts that are there, the days left and the age', async () => {
  const [record] = await db.owner('select * from iu_core.iu_staging_record where staging_record_id = $1', [
    held.staging_record_id,
  ])
  const seen = await one('v_iu_staging_record', held.staging_record_id)
  expect(seen).toMatchObject(record!)
  expect(seen).toMatchObject({ parts_present: 3, days_to_expiry: '14.00' })
  expect(seen.age.days ?? 0).toBe(0)
  expect(await one('v_iu_staging_record', cleaned.staging_record_id)).toMatchObject({
    lifecycle_status: 'cleaned',
    part_count: 1,
    parts_present: 0,
  })
})

it('v_iu_staging_record counts the days past the expiry as negative, and an hour as a part of a day', async () => {
  const soon = await stage(place.owner.session, {
    workspace: place.workspace,
    expires: new Date(Date.now() + 3_600_000).toISOString(),
  })
  expect((await one('v_iu_staging_record', soon.staging_record_id)).days_to_expiry).toBe('0.04')
  await passExpiry(place.intruder, soon.staging_record_id)
  expect((await one('v_iu_staging_record', soon.staging_record_id)).days_to_expiry).toBe('-0.08')
})

it('v_iu_staging_payload_observability says what a payload is made of, without the payload', async () => {
  const seen = await one('v_iu_staging_payload_observability', held.staging_record_id)
  const [parts] = await db.owner(
    `select sum(byte_len)::text as bytes, jsonb_agg(jsonb_build_object('name', part_name, 'hash', content_hash) order by part_index) as hashes
       from iu_core.iu_staging_payload where staging_record_id = $1`,
    [held.staging_record_id],
  )
  expect(seen).toMatchObject({
    workspace_id: place.workspace,
    staging_kind: 'review_package',
    payload_type: 'review_bundle',
    lifecycle_status: 'pending',
    content_hash: held.content_hash,
    part_count: 3,
    parts_present: 3,
    byte_len: parts!.bytes,
    bytes_present: parts!.bytes,
    json_parts: 2,
    text_parts: 1,
    blob_parts: 0,
  })
  const digests = seen.part_digests.map((part: { part_name: string; content_hash: string }) => ({
    name: part.part_name,
    hash: part.content_hash,
  }))
  expect(digests).toEqual(parts!.hashes)
  expect(JSON.stringify(seen)).not.toContain('Spend jumped')
})

it('v_iu_staging_payload_observability still knows the digests and sizes of what was cleaned', async () => {
  expect(await one('v_iu_staging_payload_observability', cleaned.staging_record_id)).toMatchObject({
    lifecycle_status: 'cleaned',
    content_hash: cleaned.content_hash,
    ...{ part_count: 1, parts_present: 0, byte_len: '6', bytes_present: '0', text_parts: 0 },
    part_digests: [{ part_name: 'commentary', byte_len: 6 }],
  })
})

it('are security_invoker', async () => {
  const views = await db.owner(
    `select relname as name, reloptions as options from pg_class
      where relnamespace = 'iu_core'::regnamespace and relname like 'v\\_iu\\_staging%' order by 1`,
  )
  expect(views).toEqual([
    { name: 'v_iu_staging_payload_observability', options: ['security_invoker=true'] },
    { name: 'v_iu_staging_record', options: ['security_invoker=true'] },
  ])
})

it('use the indexes of the lifecycle for what waits and what is overdue', async () => {
  const session = await db.session()
  await session.query('begin; set local enable_seqscan = off')
  const plan = async (where: string) =>
    (
      await session.query(`explain select staging_record_id from iu_core.iu_staging_record where ${where}`)
    ).rows
      .map((row) => row['QUERY PLAN'])
      .join('\n')
  expect(await plan(`lifecycle_status in ('pending', 'approved') and expires_at <= now()`)).toMatch(
    /iu_staging_record_(expires_at|lifecycle_status)/,
  )
  expect(
    await plan(`lifecycle_status in ('consumed', 'rejected', 'expired') and retain_until <= now()`),
  ).toMatch(/iu_staging_record_(retain_until|lifecycle_status)/)
  await session.query('rollback')
})
