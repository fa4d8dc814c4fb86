import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, expect, it } from 'vitest'
import { useApi } from '../support/api.ts'
import { freePort } from '../support/cli.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace, type Member } from '../support/factories.ts'

const db = useDatabase()
const api = useApi(db)
let workspace: string
let members: Record<'agent' | 'reviewer' | 'operator', Member>

beforeAll(async () => {
  workspace = await createWorkspace(db, 'Acme Media')
  members = {
    agent: await createMember(db, workspace, 'agent'),
    reviewer: await createMember(db, workspace, 'reviewer'),
    operator: await createMember(db, workspace, 'operator'),
  }
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true, 'the story')`)
})

interface Detail {
  content_hash: string
  part_digests: { part_index: number; content_hash: string }[]
  checklist: { item_id: string }[]
  may: Record<string, { allowed: boolean }>
}
type Events = { events: { id: string; event_type: string; actor: string }[]; next: string | null }

it('three parts are staged by an agent, reviewed, approved, consumed by a job; every step is one event', async () => {
  const agent = await api.token(members.agent)
  const reviewer = await api.token({ ...members.reviewer, role: 'authenticated' })
  const operator = await api.token(members.operator)

  const { body: staged } = await api.post('/api/v1/staging', agent, {
    workspace_id: workspace,
    staging_kind: 'review_package',
    payload_type: 'review_bundle',
    purpose: 'week 27',
    source_kind: 'agent',
    parts: [
      { part_name: 'manifest', payload_kind: 'json', payload_json: { campaigns: [1, 2] } },
      { part_name: 'commentary', payload_kind: 'text', payload_text: 'Spend rose.' },
      {
        part_name: 'checklist',
        payload_kind: 'json',
        payload_json: ['The sums agree', 'Fit for the client'],
      },
    ],
  })
  const { staging_record_id: id, content_hash: digest } = staged as {
    staging_record_id: string
    content_hash: string
  }
  const url = `/api/v1/staging/${id}`

  const pending = (await api.get('/api/v1/staging?status=pending', reviewer)).body as {
    records: { staging_record_id: string }[]
  }
  expect(pending.records.map((row) => row.staging_record_id)).toEqual([id])
  const seen = (await api.get(url, reviewer)).body as Detail
  expect(seen.content_hash).toBe(digest)
  for (const part of seen.part_digests) {
    const reply = await api.app.inject({
      url: `${url}/parts/${part.part_index}`,
      headers: { authorization: `Bearer ${reviewer}` },
    })
    expect(reply.headers.etag).toBe(`"${part.content_hash}"`)
  }
  expect(seen.may).toMatchObject({ approve: { allowed: false }, tick: { allowed: true } })
  for (const { item_id } of seen.checklist) await api.post(`${url}/tick`, reviewer, { item_id })
  expect(((await api.get(url, reviewer)).body as Detail).may).toMatchObject({ approve: { allowed: true } })

  expect((await api.post(`${url}/approve`, agent, { digest })).status).toBe(403)
  expect((await api.post(`${url}/approve`, operator, { digest })).status).toBe(403)
  expect((await api.post(`${url}/approve`, reviewer, { digest })).status).toBe(200)
  const run = await db.as(members.operator, async (client) => {
    const { rows } = await client.query(`select iu_core.fn_command_run_start('publish', $1, $2) as run`, [
      digest,
      workspace,
    ])
    return rows[0].run as string
  })
  expect((await api.post(`${url}/consume`, operator, { run_id: run, digest })).body).toEqual({ run_id: run })

  const first = (await api.get(`${url}/history?limit=2`, reviewer)).body as Events
  const rest = (await api.get(`${url}/history?limit=2&after=${first.next}`, reviewer)).body as Events
  expect([...first.events, ...rest.events].map(({ event_type, actor }) => [event_type, actor])).toEqual([
    ['record_created', members.agent.userId],
    ['record_approved', members.reviewer.userId],
    ['record_consumed', members.operator.userId],
  ])
  expect(rest.next).toBeNull()
  expect(JSON.stringify([first, rest])).not.toContain('Spend')

  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_cleanup_enabled', true, 'the story')`)
  await db.owner('alter table iu_core.iu_staging_record disable trigger user')
  await db.owner('update iu_core.iu_staging_record set retain_until = now() where staging_record_id = $1', [
    id,
  ])
  await db.owner('alter table iu_core.iu_staging_record enable trigger user')
  await db.pool('stagedoor_worker').query('select iu_core.fn_iu_staging_cleanup()')
  expect((await api.get(url, agent)).body).toMatchObject({
    lifecycle_status: 'cleaned',
    content_hash: digest,
    part_digests: seen.part_digests,
    checklist: [],
  })
  expect((await api.get(`${url}/parts/1`, agent)).status).toBe(404)
})

it('the example runs as its README says', async () => {
  const script = fileURLToPath(new URL('../../examples/staging-review/review.mjs', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [script], {
    env: {
      ...process.env,
      API_URL: await api.listen(),
      AGENT_TOKEN: await api.token(members.agent),
      REVIEWER_TOKEN: await api.token(members.reviewer),
      OPERATOR_TOKEN: await api.token(members.operator),
    },
  })
  expect(stdout).toMatch(/^agent {4}refused, permission_denied: .*decides nothing/m)
  expect(stdout).toMatch(/^reviewer commentary: Spend rose by 12 %/m)
  expect(stdout).toMatch(/^reviewer refused, staging_checklist_open: .*sums, tone/m)
  expect(stdout).toMatch(/^reviewer approved [0-9a-f]{64}$/m)
  expect(stdout).toMatch(/^job {6}refused, staging_decided: .*consumed by run/m)
  expect(stdout).toMatch(/^events {3}record_created → record_approved → record_consumed$/m)
})

it('the example says what to do when nothing answers', async () => {
  const script = fileURLToPath(new URL('../../examples/staging-review/review.mjs', import.meta.url))
  const tokens = { AGENT_TOKEN: 'a', REVIEWER_TOKEN: 'b', OPERATOR_TOKEN: 'c' }
  const run = promisify(execFile)(process.execPath, [script], {
    env: { ...process.env, ...tokens, API_URL: `http://127.0.0.1:${await freePort()}` },
  })
  await expect(run).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^Nothing answers at .*npm start/),
  })
})
