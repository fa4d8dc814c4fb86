/** What people said about headers and values: remembered per workspace and platform, or for one upload; and who counts as its author. */
import { expect, it } from 'vitest'
import { readMapping, updateMapping } from '../../src/ingest/datasets/mapping.ts'
import { backEndActor, type IngestOptions, ingest } from '../../src/ingest/pipeline.ts'
import { repairUpload } from '../../src/ingest/repair.ts'
import { HEADER, week } from '../http/uploads/uploads-api.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace } from '../support/factories.ts'
import { useIngest } from '../support/ingest.ts'
import { sqlstateOf } from '../support/sqlstate.ts'

const db = useDatabase()
const ads = useIngest(db, { approval: true })
const meta = () => ({ workspaceId: ads.workspace, dataset: 'ads', platform: 'meta' })

async function* bytes(text: string) {
  yield Buffer.from(text)
}

const run = (text: string, options: Partial<IngestOptions> = {}) => {
  const pool = db.pool('stagedoor_worker')
  return ingest({ pool, home: ads.home }, bytes(text), {
    actor: backEndActor(pool, ads.operator.userId),
    until: 'planned',
    ...meta(),
    clientId: ads.client,
    ...options,
  })
}
const renamed = (campaign: string) =>
  week(campaign).replace(HEADER, HEADER.replace('Impressions', 'Shown how often'))

it('entries are added, changed and deleted one by one; each has its author, and nobody’s are lost', async () => {
  const second = await createMember(db, ads.workspace, 'operator')
  await db.as(ads.operator, (client) =>
    updateMapping(client, meta(), {
      headers: { Kosten: 'spend', Notiz: null },
      field_values: { ad_status: { an: 'active' } },
    }),
  )
  await db.as(second, (client) =>
    updateMapping(client, meta(), {
      headers: { Klicks: 'clicks' },
      field_values: { ad_status: { aus: 'paused' } },
    }),
  )
  const both = await db.as(second, (client) => readMapping(client, meta()))
  expect(both).toMatchObject({
    headers: { Kosten: 'spend', Notiz: null, Klicks: 'clicks' },
    field_values: { ad_status: { an: 'active', aus: 'paused' } },
    header_by: { Kosten: ads.operator.userId, Klicks: second.userId },
    updated_by: second.userId,
  })
  await db.as(second, (client) =>
    updateMapping(client, meta(), {
      forget: { headers: ['Kosten', 'never there'], field_values: { ad_status: ['an', 'aus'] } },
    }),
  )
  const left = await db.as(second, (client) => readMapping(client, meta()))
  expect(left).toMatchObject({ headers: { Notiz: null, Klicks: 'clicks' }, field_values: {} })
  expect(Object.keys(left.header_by).toSorted()).toEqual(['Klicks', 'Notiz'])
  await db.as(second, (client) => updateMapping(client, meta(), { forget: { headers: ['Notiz', 'Klicks'] } }))
})

it('two people who confirm at the same time are both remembered', async () => {
  const people = await Promise.all([1, 2, 3, 4].map(() => createMember(db, ads.workspace, 'operator')))
  const tiktok = { ...meta(), platform: 'tiktok' }
  await Promise.all(
    people.map((person, index) =>
      db.as(person, (client) =>
        updateMapping(client, tiktok, { headers: { [`Column ${index}`]: 'clicks' } }),
      ),
    ),
  )
  const { headers } = await db.as(ads.operator, (client) => readMapping(client, tiktok))
  expect(Object.keys(headers)).toHaveLength(4)
})

it('an agent, a viewer and a stranger change nothing; a stranger sees nothing either', async () => {
  const viewer = await createMember(db, ads.workspace, 'viewer')
  const elsewhere = await createWorkspace(db, 'Elsewhere')
  const stranger = await createMember(db, elsewhere, 'admin')
  await db.as(ads.operator, (client) => updateMapping(client, meta(), { headers: { Secret: 'clicks' } }))
  for (const person of [ads.agent, viewer, stranger])
    expect(
      await sqlstateOf(
        db.as(person, (client) => updateMapping(client, meta(), { headers: { Secret: 'spend' } })),
      ),
    ).toMatch(/^(42501|SD201|SD202)$/)
  expect((await db.as(stranger, (client) => readMapping(client, meta()))).headers).toEqual({})
  expect((await db.as(ads.operator, (client) => readMapping(client, meta()))).headers).toEqual({
    Secret: 'clicks',
  })
  await db.as(ads.operator, (client) => updateMapping(client, meta(), { forget: { headers: ['Secret'] } }))
})

it('what a machine token maps has the creator of the token as its author: they do not approve it', async () => {
  await db.owner(
    `insert into iu_core.machine_token (token_hash, workspace_id, subject, name, role, created_by, expires_at)
     values (repeat('a', 64), $1, 'token:feed', 'feed', 'operator', $2, now() + interval '1 day')`,
    [ads.workspace, ads.reviewer.userId],
  )
  await db.as({ role: 'authenticated', claims: { sub: 'token:feed' } }, (client) =>
    updateMapping(client, meta(), { headers: { Klicks: 'clicks' }, field_values: {} }),
  )
  const [mapping] = await db.owner<{ by: string }>(
    `select header_by ->> 'Klicks' as by from iu_core.ingest_mapping where workspace_id = $1`,
    [ads.workspace],
  )
  expect(mapping).toEqual({ by: ads.reviewer.userId })
  await db.owner('delete from iu_core.ingest_mapping')
})

it.each([
  ['headers', `'{"a": 1}'`, `'{}'`],
  ['headers', `'[]'`, `'{}'`],
  ['values', `'{}'`, `'{"status": "x"}'`],
  ['a field', `'{"a": "nonsense"}'`, `'{}'`],
])('refuses %s of another form: %s %s', async (_what, headers, values) => {
  const call = `select iu_core.fn_ingest_mapping_update($1, 'ads', 'meta', ${headers}, ${values})`
  expect(await sqlstateOf(db.as(ads.operator, (client) => client.query(call, [ads.workspace])))).toBe('SD001')
})

it('what is chosen for one upload holds for it and its repairs, and is not remembered', async () => {
  const file = { headers: { 'Shown how often': 'impressions', 'Link clicks': null }, values: {} }
  const { upload } = await run(renamed('Chosen'), { file })
  expect(upload.reading?.map.fields.impressions).toMatchObject({ header: 'Shown how often' })
  expect(upload.reading?.map.fields.clicks).toBeUndefined()
  const [kept] = await db.owner<{ options: object }>(
    'select options from iu_core.ingest_upload where upload_id = $1',
    [upload.upload_id],
  )
  expect(kept!.options).toMatchObject({ headers: file.headers })
  await repairUpload(
    db.pool('stagedoor_worker'),
    backEndActor(db.pool('stagedoor_worker'), ads.operator.userId),
    {
      upload: upload.upload_id,
      corrections: [{ line: 2, values: { 'Shown how often': '4242' } }],
      replan: false,
    },
  )
  const [row] = await db.owner<{ impressions: string }>(
    `select normalized_payload ->> 'impressions' as impressions from public.staging_rows
      where upload_id = $1 and row_number = 2 and row_type = $2`,
    [upload.upload_id, upload.reading!.layout.leaf],
  )
  expect(row).toEqual({ impressions: '4242' })
  expect((await db.as(ads.operator, (client) => readMapping(client, meta()))).headers).toEqual({})
  const next = await run(renamed('Next'))
  expect(next.upload.reading?.map.fields.impressions).toBeUndefined()
})

it('what is chosen for one upload goes before what is remembered, value by value', async () => {
  const header = `${HEADER},Campaign status`
  const text = week('Values')
    .replace(HEADER, header)
    .replace(/(\d)$/gm, (line) => `${line},laeuft`)
  await db.as(ads.operator, (client) =>
    updateMapping(client, meta(), { field_values: { campaign_status: { laeuft: 'paused', aus: 'paused' } } }),
  )
  const { upload } = await run(text, { file: { values: { campaign_status: { laeuft: 'active' } } } })
  expect(upload.reading?.values).toEqual({ campaign_status: { laeuft: 'active', aus: 'paused' } })
  await db.as(ads.operator, (client) =>
    updateMapping(client, meta(), { forget: { field_values: { campaign_status: ['laeuft', 'aus'] } } }),
  )
})

it('an upload that names a field which the dataset has not is refused before the file is taken', async () => {
  await expect(run(week('Wrong'), { file: { headers: { Day: 'nonsense' } } })).rejects.toMatchObject({
    code: 'argument_invalid',
  })
})

it('a mapping of a header that is not in the file is noted', async () => {
  const { upload } = await run(week('Absent'), { file: { headers: { Gone: 'clicks' } } })
  expect(upload.notes).toContainEqual({
    rule: 'header.absent',
    message: 'The file has no column “Gone”, for which a mapping was given.',
  })
})

it('whoever mapped a header for an upload has put something into it', async () => {
  const { upload } = await run(renamed('Four eyes'), {
    file: { headers: { 'Shown how often': 'impressions' } },
    actor: backEndActor(db.pool('stagedoor_worker'), ads.reviewer.userId),
  })
  expect(upload.changed_by).toContain(ads.reviewer.userId)
})
