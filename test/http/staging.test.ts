import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { useApi } from '../support/api.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace, type Member } from '../support/factories.ts'

const db = useDatabase()
const api = useApi(db)
const GATE = 'iu_core.staging_writes_enabled'
let workspace: string
let owner: Member
let tokens: Record<
  'agent' | 'otherAgent' | 'owner' | 'operator' | 'viewer' | 'reviewer' | 'stranger' | 'service',
  string
>

const setGate = (open: boolean) => db.owner('select iu_core.fn_gate_set($1, $2, $3)', [GATE, open, 'a test'])

beforeAll(async () => {
  workspace = await createWorkspace(db, 'Acme Media')
  const member = (role: Member['appRole'], place = workspace) => createMember(db, place, role)
  // As an identity provider signs them: people are all `authenticated`, their rights are in their membership.
  const person = async (who: Promise<Member>) =>
    api.token({ userId: (await who).userId, role: 'authenticated' })
  owner = await member('reviewer')
  tokens = {
    agent: await api.token(await member('agent')),
    otherAgent: await api.token(await member('agent')),
    owner: await person(Promise.resolve(owner)),
    operator: await person(member('operator')),
    viewer: await person(member('viewer')),
    reviewer: await person(member('reviewer')),
    stranger: await person(member('admin', await createWorkspace(db, 'Other'))),
    service: await api.token({ userId: 'back-end', role: 'service_role' }),
  }
  await setGate(true)
})

const CHECKLIST = {
  part_name: 'checklist',
  payload_kind: 'json',
  payload_json: [{ id: 'sums' }, { id: 'tone', required: false }],
}

function record(changes: object = {}) {
  return {
    workspace_id: workspace,
    staging_kind: 'review_package',
    payload_type: 'review_bundle',
    purpose: 'a test',
    parts: [{ part_name: 'commentary', payload_kind: 'text', payload_text: 'Spend rose.' }, CHECKLIST],
    ...changes,
  }
}

interface Made {
  staging_record_id: string
  lifecycle_status: string
  content_hash: string
  created: boolean
}

async function stage(token: string, changes: object = {}, headers?: Record<string, string>): Promise<Made> {
  const { status, body } = await api.post('/api/v1/staging', token, record(changes), headers)
  expect(status, JSON.stringify(body)).toBe(201)
  return body as Made
}

async function counts() {
  const [row] = await db.owner<{
    records: number
    parts: number
    events: number
    checks: number
    runs: number
  }>(
    `select (select count(*)::int from iu_core.iu_staging_record) as records,
            (select count(*)::int from iu_core.iu_staging_payload) as parts,
            (select count(*)::int from iu_core.event_outbox where event_domain = 'staging') as events,
            (select count(*)::int from iu_core.iu_staging_check) as checks,
            (select count(*)::int from iu_core.dot_iu_command_run) as runs`,
  )
  return row!
}

describe('what needs a person', () => {
  it('is listed behind any number of newer records that need nobody, whatever its kind', async () => {
    const marking = await stage(tokens.owner, {
      staging_kind: 'mark_manifest',
      payload_type: 'mark_report',
      // Whoever stages can write this; it must not hide the record from the reviewers.
      source_ref: 'upload 0190b5a2-7c1e-7a33-8f0e-3a1d5b7c9e11',
      parts: [{ part_name: 'report', payload_kind: 'json', payload_json: {} }],
    })
    const preview = await stage(tokens.owner, {
      staging_kind: 'cut_preview',
      payload_type: 'import_preview',
      parts: [{ part_name: 'preview', payload_kind: 'json', payload_json: {} }],
    })
    const review = await stage(tokens.agent)
    for (let made = 0; made < 5; made += 1) {
      await stage(tokens.agent, {
        staging_kind: 'agent_intermediate',
        payload_type: 'source_excerpt',
        parts: [{ part_name: 'note', payload_kind: 'text', payload_text: `note ${made}` }],
      })
    }
    const undecided = async () => {
      const { body } = await api.get('/api/v1/staging?undecided=true&limit=4', tokens.reviewer)
      return (body as { records: { staging_record_id: string }[] }).records.map(
        ({ staging_record_id }) => staging_record_id,
      )
    }
    expect(await undecided()).toEqual(
      [review, preview, marking].map(({ staging_record_id }) => staging_record_id),
    )
    for (const one of [marking, preview, review]) {
      const reason = { reason: 'a test' }
      await api.post(`/api/v1/staging/${one.staging_record_id}/reject`, tokens.reviewer, reason)
    }
    expect(await undecided()).toEqual([])
  })
})

describe('create', () => {
  it('answers 201 with the digest that SQL gives, and where the record is', async () => {
    const { status, body, headers } = await api.post('/api/v1/staging', tokens.agent, record())
    expect(status).toBe(201)
    const made = body as Made
    expect(made).toMatchObject({ lifecycle_status: 'pending', created: true })
    expect(headers.location).toBe(`/api/v1/staging/${made.staging_record_id}`)
    const [row] = await db.owner(
      `select content_hash, iu_core.fn_iu_staging_verify(staging_record_id) as verified, owner_actor, source_kind
         from iu_core.iu_staging_record where staging_record_id = $1`,
      [made.staging_record_id],
    )
    expect(row).toMatchObject({ content_hash: made.content_hash, verified: made.content_hash })
  })

  it('keeps numbers beyond 2^53, their notation’s value and the last of two equal keys, exactly as SQL reads them', async () => {
    const json =
      '{"big": 12345678901234567890123, "exact": 0.1000000000000000055511151231257827, "e": 1e30, "k": 1, "k": 2, "ü": "\\u00fc"}'
    const body = JSON.stringify(
      record({
        staging_kind: 'nosql_payload',
        payload_type: 'nosql_payload',
        parts: [{ part_name: 'data', payload_kind: 'json', payload_json: 'HERE' }],
      }),
    ).replace('"HERE"', json)
    const { status, body: made } = await api.post('/api/v1/staging', tokens.agent, body)
    expect(status).toBe(201)
    const id = (made as Made).staging_record_id
    const reply = await api.app.inject({
      url: `/api/v1/staging/${id}/parts/0`,
      headers: { authorization: `Bearer ${tokens.agent}` },
    })
    const [sql] = await db.owner<{ text: string; hash: string }>(
      `select $1::jsonb::text as text, encode(sha256(convert_to($1::jsonb::text, 'UTF8')), 'hex') as hash`,
      [json],
    )
    expect(reply.body).toBe(sql!.text)
    expect(reply.body).toContain('12345678901234567890123')
    expect(reply.headers.etag).toBe(`"${sql!.hash}"`)
  })

  it('keeps the numbers of the metadata, too', async () => {
    const text = JSON.stringify(record({ metadata: { id: 1 } })).replace(
      '{"id":1}',
      '{"id":120210000000000001}',
    )
    const { body } = await api.post('/api/v1/staging', tokens.agent, text)
    const reply = await api.app.inject({
      url: `/api/v1/staging/${(body as Made).staging_record_id}`,
      headers: { authorization: `Bearer ${tokens.agent}` },
    })
    expect(reply.body).toContain('"metadata":{"id": 120210000000000001}')
  })

  it('takes a body larger than other routes do', async () => {
    const text = 'x'.repeat(3_000_000)
    const made = await stage(tokens.agent, {
      parts: [{ part_name: 'long', payload_kind: 'text', payload_text: text }, CHECKLIST],
    })
    expect(made.created).toBe(true)
  })

  it('with an idempotency key finds the record again, also when it has been decided', async () => {
    const headers = { 'idempotency-key': 'week 27' }
    const first = await stage(tokens.agent, {}, headers)
    const again = await api.post('/api/v1/staging', tokens.agent, record(), headers)
    expect(again.status).toBe(200)
    expect(again.body).toEqual({ ...first, created: false })
    expect(again.headers.location).toBeUndefined()
    await api.post(`/api/v1/staging/${first.staging_record_id}/reject`, tokens.reviewer, { reason: 'no' })
    const ended = await api.post('/api/v1/staging', tokens.agent, record(), headers)
    expect(ended.body).toMatchObject({
      staging_record_id: first.staging_record_id,
      lifecycle_status: 'rejected',
    })
  })

  it('with the key of other content answers 409 and names both digests', async () => {
    const headers = { 'idempotency-key': 'taken' }
    const first = await stage(tokens.agent, {}, headers)
    const parts = [{ part_name: 'commentary', payload_kind: 'text', payload_text: 'other' }, CHECKLIST]
    const { status, body } = await api.post('/api/v1/staging', tokens.agent, record({ parts }), headers)
    expect(status).toBe(409)
    expect(body).toMatchObject({
      code: 'staging_key_taken',
      detail: expect.stringContaining(first.content_hash),
    })
  })

  it.each<[string, object | string | (() => object), number, string, string | RegExp]>([
    ['no JSON', '{"purpose": ', 400, 'request_invalid', 'not JSON'],
    ['no body at all', '', 400, 'request_invalid', ''],
    ['an array', '[]', 400, 'request_invalid', 'must be object'],
    ['no parts', () => record({ parts: [] }), 400, 'request_invalid', 'parts'],
    [
      'a part without its payload',
      () => record({ parts: [{ part_name: 'a', payload_kind: 'json' }] }),
      400,
      'staging_part_invalid',
      'payload_json is missing',
    ],
    [
      'an unknown property',
      () => record({ refrenced_iu_ids: [] }),
      400,
      'request_invalid',
      'has no property refrenced_iu_ids',
    ],
    ['a key in the body', () => record({ idempotency_key: 'x' }), 400, 'request_invalid', 'idempotency_key'],
    [
      'an unknown kind',
      () => record({ staging_kind: 'nothing' }),
      400,
      'request_invalid',
      'must be one of mark_manifest',
    ],
    [
      'a type that the kind does not take',
      () => record({ payload_type: 'manifest_json' }),
      400,
      'staging_kind_unknown',
      'does not take',
    ],
    ['a blank purpose', () => record({ purpose: '  ' }), 400, 'argument_invalid', 'purpose'],
    [
      'an expiry in the past',
      () => record({ expires_at: '2020-01-01T00:00:00Z' }),
      400,
      'argument_invalid',
      'future',
    ],
    [
      'an expiry that is none',
      () => record({ expires_at: 'tomorrow' }),
      400,
      'request_invalid',
      'expires_at',
    ],
    ['metadata that is no object', () => record({ metadata: [1] }), 400, 'request_invalid', 'metadata'],
    [
      '101 parts',
      () => record({ parts: Array.from({ length: 101 }, () => CHECKLIST) }),
      400,
      'staging_part_invalid',
      'at most 100',
    ],
    [
      'a NUL',
      () => record({ parts: [{ part_name: 'a', payload_kind: 'text', payload_text: 'a\0b' }] }),
      400,
      'text_invalid',
      'Unicode escape',
    ],
    [
      'a part over 10 MiB',
      () =>
        record({ parts: [{ part_name: 'a', payload_kind: 'text', payload_text: 'x'.repeat(10_485_761) }] }),
      400,
      'staging_part_invalid',
      '10 MiB',
    ],
    [
      'a blob that is not there',
      () => record({ parts: [{ part_name: 'a', payload_kind: 'blob_ref', blob_ref: randomUUID() }] }),
      400,
      'blob_missing',
      'no blob',
    ],
    ['another owner', () => record({ owner_actor: 'somebody else' }), 403, 'actor_forged', 'somebody else'],
    ['another workspace', () => record({ workspace_id: randomUUID() }), 403, 'not_member', 'not a member'],
    ['no workspace', () => record({ workspace_id: undefined }), 403, 'not_member', 'global'],
  ])('with %s answers an error and stores nothing', async (_name, given, status, code, detail) => {
    const before = await counts()
    const reply = await api.post(
      '/api/v1/staging',
      tokens.agent,
      typeof given === 'function' ? given() : given,
    )
    expect(reply.body).toMatchObject({ status, code, detail: expect.stringMatching(detail) })
    expect(reply.headers['content-type']).toContain('application/problem+json')
    expect(await counts()).toEqual(before)
  })

  it.each([
    ['500 deep', '['.repeat(500) + ']'.repeat(500)],
    ['100,000 deep', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['of a huge exponent', '1e131071'],
    ['of an impossible exponent', '1e999999'],
    ['of a lone surrogate', '"\\ud800"'],
  ])('refuses JSON %s', async (_name, json) => {
    const before = await counts()
    const text = JSON.stringify(
      record({ parts: [{ part_name: 'a', payload_kind: 'json', payload_json: 0 }] }),
    )
    const reply = await api.post(
      '/api/v1/staging',
      tokens.agent,
      text.replace('"payload_json":0', `"payload_json":${json}`),
    )
    expect(reply.status, JSON.stringify(reply.body)).toBe(400)
    expect(await counts()).toEqual(before)
  })

  it('refuses bytes that are not UTF-8', async () => {
    const text = Buffer.from(JSON.stringify(record({ purpose: 'caf\u00e9' })), 'latin1')
    const reply = await api.app.inject({
      method: 'POST',
      url: '/api/v1/staging',
      headers: { authorization: `Bearer ${tokens.agent}`, 'content-type': 'application/json' },
      payload: text,
    })
    expect(reply.statusCode).toBe(400)
    expect(reply.json()).toMatchObject({ code: 'text_invalid', detail: expect.stringContaining('UTF-8') })
  })

  it.each(['x'.repeat(256), 'caf\u00e9', ''])('refuses the idempotency key %s', async (key) => {
    const { status, body } = await api.post('/api/v1/staging', tokens.agent, record(), {
      'idempotency-key': key,
    })
    expect(status).toBe(400)
    expect(body).toMatchObject({
      code: 'request_invalid',
      detail: expect.stringContaining('idempotency-key'),
    })
  })

  it('is not for a viewer', async () => {
    const { status, body } = await api.post('/api/v1/staging', tokens.viewer, record())
    expect(status).toBe(403)
    expect(body).toMatchObject({ code: 'right_missing' })
  })

  it('lets the back end act for a named other, and says so', async () => {
    const made = await stage(tokens.service, { owner_actor: 'importer' })
    const { body } = await api.get(`/api/v1/staging/${made.staging_record_id}`, tokens.reviewer)
    expect(body).toMatchObject({ owner_actor: 'importer', owner_via: 'back-end' })
  })
})

describe('list', () => {
  type Page = { records: { staging_record_id: string; lifecycle_status: string }[]; next: string | null }
  const ids = (page: Page) => page.records.map((row) => row.staging_record_id)
  let place: string
  let reader: string
  let staged: string[]

  beforeAll(async () => {
    place = await createWorkspace(db, 'Listed')
    const operator = await createMember(db, place, 'operator')
    reader = await api.token(operator)
    staged = []
    for (let i = 0; i < 5; i++) {
      staged.unshift(
        (
          await stage(reader, {
            workspace_id: place,
            ...(i === 0 && { staging_kind: 'sql_snapshot', payload_type: 'sql_result_snapshot' }),
          })
        ).staging_record_id,
      )
    }
    await api.post(`/api/v1/staging/${staged[0]}/withdraw`, reader)
  })

  it('pages newest first', async () => {
    const first = (await api.get('/api/v1/staging?limit=3', reader)).body as Page
    const second = (await api.get(`/api/v1/staging?limit=3&after=${first.next}`, reader)).body as Page
    expect([...ids(first), ...ids(second)]).toEqual(staged)
    expect(second.next).toBeNull()
  })

  it('filters by status, kind, owner and workspace', async () => {
    const list = async (query: string, token = reader) =>
      ids((await api.get(`/api/v1/staging?${query}`, token)).body as Page)
    expect(await list('status=rejected')).toEqual([staged[0]])
    expect(await list('kind=sql_snapshot')).toEqual([staged[4]])
    expect(await list('owner=nobody')).toEqual([])
    expect(await list(`workspace_id=${place}`, tokens.service)).toEqual(staged)
    expect(await list(`workspace_id=${place}`, tokens.stranger)).toEqual([])
  })

  it.each(['limit=201', 'limit=0', 'status=lost', 'after=x', 'stauts=pending'])(
    'refuses %s',
    async (query) => {
      expect((await api.get(`/api/v1/staging?${query}`, reader)).status).toBe(400)
    },
  )

  it('shows an agent its own records only', async () => {
    await stage(tokens.otherAgent)
    const { body } = await api.get('/api/v1/staging?limit=200', tokens.agent)
    const { actor } = (await api.get('/api/v1/me', tokens.agent)).body as { actor: string }
    const owners = (body as { records: { owner_actor: string }[] }).records.map((row) => row.owner_actor)
    expect(new Set(owners)).toEqual(new Set([actor]))
  })
})

describe('a record that the caller may not see', () => {
  const digest = '0'.repeat(64)
  const calls: [string, 'GET' | 'POST', string, object?][] = [
    ['get', 'GET', ''],
    ['part', 'GET', '/parts/0'],
    ['history', 'GET', '/history'],
    ['tick', 'POST', '/tick', { item_id: 'sums' }],
    ['approve', 'POST', '/approve', { digest }],
    ['reject', 'POST', '/reject', { reason: 'no' }],
    ['withdraw', 'POST', '/withdraw'],
    ['consume', 'POST', '/consume', {}],
  ]
  it.each(calls)(
    '%s answers 404, exactly as for one that does not exist',
    async (_name, method, path, body) => {
      const made = await stage(tokens.agent)
      const call = (id: string, token: string) =>
        method === 'GET'
          ? api.get(`/api/v1/staging/${id}${path}`, token)
          : api.post(`/api/v1/staging/${id}${path}`, token, body)
      const missing = randomUUID()
      const hidden = await call(made.staging_record_id, tokens.stranger)
      const absent = await call(missing, tokens.stranger)
      expect(hidden.status).toBe(404)
      const words = ({ body }: typeof hidden, id: string) =>
        JSON.stringify({ ...(body as object), request_id: '' }).replaceAll(id, 'ID')
      expect(words(hidden, made.staging_record_id)).toBe(words(absent, missing))
      expect(hidden.body).toMatchObject({ code: 'staging_not_found' })
      expect((await call('not-a-uuid', tokens.stranger)).status).toBe(400)
    },
  )

  it.each(calls.filter(([name]) => !['tick', 'approve', 'reject'].includes(name)))(
    'is also not there for another agent: %s',
    async (_name, method, path, body) => {
      const url = `/api/v1/staging/${(await stage(tokens.agent)).staging_record_id}${path}`
      const reply =
        method === 'GET'
          ? await api.get(url, tokens.otherAgent)
          : await api.post(url, tokens.otherAgent, body)
      expect(reply.status).toBe(404)
    },
  )
})

describe('deciding', () => {
  const tick = (id: string, token = tokens.reviewer, body: object = { item_id: 'sums' }) =>
    api.post(`/api/v1/staging/${id}/tick`, token, body)
  const approve = (made: Made, token = tokens.reviewer, digest = made.content_hash) =>
    api.post(`/api/v1/staging/${made.staging_record_id}/approve`, token, { digest })

  it('a person with the right decides under stagedoor_reviewer although the token says authenticated', async () => {
    const made = await stage(tokens.agent)
    const ticked = await tick(made.staging_record_id, tokens.reviewer, { item_id: 'sums', note: 'added up' })
    expect(ticked.body).toMatchObject({
      checklist: [
        { item_id: 'sums', note: 'added up', required: true },
        { item_id: 'tone', ticked_at: null },
      ],
    })
    const { status, body } = await api.post(
      `/api/v1/staging/${made.staging_record_id}/approve`,
      tokens.reviewer,
      {
        digest: made.content_hash,
        approval_doc_id: 'DOC-1',
      },
    )
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body).toMatchObject({
      lifecycle_status: 'approved',
      approval_doc_id: 'DOC-1',
      may: {
        approve: { allowed: false, reason: 'It is approved already.' },
        consume: { allowed: true, reason: null },
      },
    })
  })

  it('a tick can be removed, and an item that does not exist is named', async () => {
    const { staging_record_id: id } = await stage(tokens.agent)
    await tick(id)
    const { body } = await tick(id, tokens.reviewer, { item_id: 'sums', ticked: false })
    expect(body).toMatchObject({ checklist: [{ ticked_at: null }, {}] })
    const unknown = await tick(id, tokens.reviewer, { item_id: 'nothing' })
    expect(unknown.body).toMatchObject({
      status: 400,
      code: 'argument_invalid',
      hint: expect.stringContaining('sums'),
    })
  })

  it('open items, another digest and one’s own record are refused', async () => {
    const made = await stage(tokens.owner)
    expect((await approve(made)).body).toMatchObject({
      status: 409,
      code: 'staging_checklist_open',
      detail: expect.stringContaining('sums'),
    })
    await tick(made.staging_record_id)
    expect((await approve(made, tokens.reviewer, '0'.repeat(64))).body).toMatchObject({
      status: 409,
      code: 'staging_digest_differs',
    })
    expect((await approve(made, tokens.reviewer, 'ABC')).body).toMatchObject({
      status: 400,
      code: 'request_invalid',
    })
    expect((await approve(made, tokens.owner)).body).toMatchObject({
      status: 403,
      code: 'staging_own_record',
    })
    const { body } = await api.get(`/api/v1/staging/${made.staging_record_id}`, tokens.owner)
    expect(body).toMatchObject({
      lifecycle_status: 'pending',
      may: { approve: { allowed: false, reason: expect.stringContaining('your own') } },
    })
  })

  it('a second decision gets an error that says who decided', async () => {
    const made = await stage(tokens.agent)
    const rejected = await api.post(`/api/v1/staging/${made.staging_record_id}/reject`, tokens.owner, {
      reason: 'The sums are wrong.',
    })
    expect(rejected.body).toMatchObject({
      lifecycle_status: 'rejected',
      rejected_by: owner.userId,
      rejected_reason: 'The sums are wrong.',
    })
    expect((await approve(made)).body).toMatchObject({
      status: 409,
      code: 'staging_decided',
      detail: expect.stringContaining(`rejected by ${owner.userId}`),
    })
  })

  it.each(['operator', 'viewer'] as const)('is not for the %s, who may look', async (who) => {
    const made = await stage(tokens.agent)
    const id = made.staging_record_id
    for (const reply of [
      await tick(id, tokens[who]),
      await approve(made, tokens[who]),
      await api.post(`/api/v1/staging/${id}/reject`, tokens[who], { reason: 'no' }),
    ]) {
      expect(reply.body).toMatchObject({ status: 403, code: 'right_missing' })
    }
    expect((await api.get(`/api/v1/staging/${id}`, tokens[who])).status).toBe(200)
  })

  it('is not for an agent’s token, its own record or another’s, even if its subject is a reviewer besides', async () => {
    const disguised = await api.token({ userId: owner.userId, role: 'stagedoor_agent' })
    for (const token of [tokens.agent, tokens.otherAgent, disguised]) {
      const made = await stage(token)
      for (const reply of [
        await tick(made.staging_record_id, token),
        await approve(made, token),
        await api.post(`/api/v1/staging/${made.staging_record_id}/reject`, token, { reason: 'no' }),
        await api.post(`/api/v1/staging/${made.staging_record_id}/consume`, token, {}),
      ]) {
        expect(reply.body).toMatchObject({ status: 403, code: 'permission_denied' })
      }
      const { body } = await api.get(`/api/v1/staging/${made.staging_record_id}`, token)
      expect(body).toMatchObject({
        lifecycle_status: 'pending',
        may: {
          tick: { allowed: false },
          approve: { allowed: false },
          reject: { allowed: false },
          consume: { allowed: false },
          withdraw: { allowed: true },
        },
      })
    }
  })

  it('the owner withdraws, and nobody else', async () => {
    const { staging_record_id: id } = await stage(tokens.agent)
    expect((await api.post(`/api/v1/staging/${id}/withdraw`, tokens.reviewer)).body).toMatchObject({
      status: 403,
      code: 'staging_not_owner',
    })
    expect((await api.post(`/api/v1/staging/${id}/withdraw`, tokens.agent)).body).toMatchObject({
      lifecycle_status: 'rejected',
      rejected_reason: 'withdrawn',
      withdrawn: 'its owner withdrew it',
    })
  })

  it('an expired record can be neither approved nor consumed', async () => {
    const made = await stage(tokens.agent, { expires_at: new Date(Date.now() + 3_600_000).toISOString() })
    await db.owner('alter table iu_core.iu_staging_record disable trigger user')
    await db.owner(
      `update iu_core.iu_staging_record set created_at = now() - interval '2 hours', expires_at = now() - interval '1 hour' where staging_record_id = $1`,
      [made.staging_record_id],
    )
    await db.owner('alter table iu_core.iu_staging_record enable trigger user')
    expect((await approve(made)).body).toMatchObject({ status: 409, code: 'staging_expired' })
    expect(
      (await api.post(`/api/v1/staging/${made.staging_record_id}/consume`, tokens.operator)).body,
    ).toMatchObject({ status: 409, code: 'staging_expired' })
    expect((await api.get(`/api/v1/staging/${made.staging_record_id}`, tokens.reviewer)).body).toMatchObject({
      may: { approve: { reason: 'It has expired.' } },
    })
  })
})

describe('consuming', () => {
  const snapshot = { staging_kind: 'sql_snapshot', payload_type: 'sql_result_snapshot' }
  const consume = (id: string, body?: object, token = tokens.operator) =>
    api.post(`/api/v1/staging/${id}/consume`, token, body)

  it('needs approval where the kind does', async () => {
    const { staging_record_id: id } = await stage(tokens.agent)
    expect((await consume(id)).body).toMatchObject({ status: 409, code: 'staging_not_approved' })
  })

  it('opens and ends a run, without a body, too', async () => {
    const { staging_record_id: id } = await stage(tokens.agent, snapshot)
    const { status, body } = await consume(id)
    expect(status).toBe(200)
    const [run] = await db.owner('select status, command from iu_core.dot_iu_command_run where run_id = $1', [
      (body as { run_id: string }).run_id,
    ])
    expect(run).toEqual({ status: 'applied', command: 'staging consume' })
    expect((await consume(id)).body).toMatchObject({ status: 409, code: 'staging_decided' })
  })

  it('takes a run that is running, and no other', async () => {
    const made = await stage(tokens.agent, snapshot)
    const operator = await createMember(db, workspace, 'operator')
    const run = await db.as(
      operator,
      async (client) =>
        (await client.query(`select iu_core.fn_command_run_start('cut', null, $1) as run`, [workspace]))
          .rows[0].run as string,
    )
    expect((await consume(made.staging_record_id, { run_id: randomUUID() })).body).toMatchObject({
      status: 409,
      code: 'run_ended',
    })
    expect(
      (await consume(made.staging_record_id, { run_id: run, digest: '0'.repeat(64) })).body,
    ).toMatchObject({ status: 409, code: 'staging_digest_differs' })
    expect((await consume(made.staging_record_id, { run_id: run, digest: made.content_hash })).body).toEqual({
      run_id: run,
    })
  })

  it('leaves no run behind when it is refused', async () => {
    const { staging_record_id: id } = await stage(tokens.agent)
    const before = await counts()
    await consume(id, { command: 'cut' })
    await consume(id, { command: 'cut' }, tokens.viewer)
    expect(await counts()).toEqual(before)
  })
})

it('behind a closed gate every write answers 409 and writes nothing', async () => {
  const made = await stage(tokens.agent)
  const snapshot = await stage(tokens.agent, {
    staging_kind: 'sql_snapshot',
    payload_type: 'sql_result_snapshot',
  })
  const before = await counts()
  await setGate(false)
  try {
    const on = (path: string, token: string, body?: object) =>
      api.post(`/api/v1/staging/${made.staging_record_id}/${path}`, token, body)
    const replies = [
      await api.post('/api/v1/staging', tokens.agent, record()),
      await on('tick', tokens.reviewer, { item_id: 'sums' }),
      await on('approve', tokens.reviewer, { digest: made.content_hash }),
      await on('reject', tokens.reviewer, { reason: 'no' }),
      await on('withdraw', tokens.agent),
      await api.post(`/api/v1/staging/${snapshot.staging_record_id}/consume`, tokens.operator),
    ]
    for (const reply of replies)
      expect(reply.body).toMatchObject({
        status: 409,
        code: 'gate_closed',
        hint: expect.stringContaining(GATE),
      })
    expect(await counts()).toEqual(before)
    const { body } = await api.get(`/api/v1/staging/${made.staging_record_id}`, tokens.reviewer)
    expect(body).toMatchObject({ may: { reject: { allowed: false, reason: expect.stringContaining(GATE) } } })
  } finally {
    await setGate(true)
  }
})

it('a read-only token looks and does not touch', async () => {
  const made = await stage(tokens.agent)
  const token = await api.token({ userId: owner.userId, role: 'authenticated' }, { readOnly: true })
  const { status, body: seen } = await api.get(`/api/v1/staging/${made.staging_record_id}`, token)
  expect(status).toBe(200)
  for (const may of Object.values((seen as { may: object }).may)) {
    expect(may).toEqual({ allowed: false, reason: 'This token can only read.' })
  }
  expect(
    (await api.post(`/api/v1/staging/${made.staging_record_id}/reject`, token, { reason: 'no' })).status,
  ).toBe(403)
})

it('every staging route is described with its errors', async () => {
  const { body } = await api.get('/api/v1/openapi.json')
  const paths = (
    body as {
      paths: Record<
        string,
        Record<string, { operationId: string; responses: object; requestBody?: { content: object } }>
      >
    }
  ).paths
  const operations = Object.entries(paths)
    .filter(([path]) => path.startsWith('/api/v1/staging'))
    .flatMap(([, methods]) => Object.values(methods))
  expect(operations.map((operation) => operation.operationId).sort()).toEqual([
    'approveStagingRecord',
    'consumeStagingRecord',
    'createStagingRecord',
    'getStagingPart',
    'getStagingRecord',
    'listStagingHistory',
    'listStagingRecords',
    'rejectStagingRecord',
    'tickStagingChecklist',
    'uploadStagingBlob',
    'withdrawStagingRecord',
  ])
  for (const operation of operations)
    expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(['400', '401']))
  const create = operations.find((operation) => operation.operationId === 'createStagingRecord')!
  expect(Object.keys(create.requestBody!.content)).toEqual(['application/json', 'multipart/form-data'])
})
