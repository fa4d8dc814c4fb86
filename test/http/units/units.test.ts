import { beforeAll, describe, expect, it } from 'vitest'
import { useApi } from '../../support/api.ts'
import { useDatabase } from '../../support/database.ts'
import { createMember, createWorkspace, type Member } from '../../support/factories.ts'

const db = useDatabase()
const api = useApi(db)
let workspace: string
const people = {} as Record<'viewer' | 'operator' | 'reviewer' | 'admin' | 'agent' | 'stranger', Member>
const tokens = {} as Record<keyof typeof people, string>

beforeAll(async () => {
  workspace = await createWorkspace(db)
  for (const role of ['viewer', 'operator', 'reviewer', 'admin', 'agent'] as const)
    people[role] = await createMember(db, workspace, role)
  people.stranger = await createMember(db, await createWorkspace(db, 'Others'), 'admin')
  for (const name of Object.keys(people) as (keyof typeof people)[]) {
    const person = people[name]
    // As an identity provider signs them: a person is authenticated, whatever they may do.
    tokens[name] = await api.token(
      person.role === 'stagedoor_reviewer' ? { ...person, role: 'authenticated' } : person,
    )
  }
})

type Who = keyof typeof people
interface Answer {
  status: number
  body: never
}

async function call(
  method: 'POST' | 'PATCH' | 'DELETE',
  who: Who,
  url: string,
  payload?: object,
): Promise<Answer> {
  const reply = await api.app.inject({
    method,
    url: `/api/v1${url}`,
    headers: { authorization: `Bearer ${tokens[who]}` },
    ...(payload && { payload }),
  })
  return { status: reply.statusCode, body: (reply.body === '' ? null : reply.json()) as never }
}
const post = (who: Who, url: string, payload?: object) => call('POST', who, url, payload)
const get = (who: Who, url: string) => api.get(`/api/v1${url}`, tokens[who])

async function createUnit(canonical_address: string, body = 'A text.', more = {}): Promise<string> {
  const { status, body: unit } = await post('operator', '/units', { canonical_address, body, ...more })
  expect({ status, unit }).toMatchObject({ status: 201 })
  return (unit as { unit_id: string }).unit_id
}

it('a unit is created, read, edited by slice and read again as of its first version', async () => {
  const id = await createUnit('story/leave', '# Leave\n\n28 days a year.')
  expect(await get('viewer', `/units/${id}`)).toMatchObject({
    status: 200,
    body: { title: 'Leave', version_no: 1, version: { body: '# Leave\n\n28 days a year.' } },
  })
  expect(
    await call('PATCH', 'operator', `/units/${id}/slice`, {
      expected_version: 1,
      from: 9,
      to: 11,
      text: '30',
    }),
  ).toMatchObject({
    status: 200,
    body: { version_no: 2, changed: true },
  })
  expect(await get('agent', `/units/${id}?version=1`)).toMatchObject({
    body: { version: { version_no: 1, body: '# Leave\n\n28 days a year.' } },
  })
  const { body: history } = await get('viewer', `/units/${id}/history`)
  const first = (history as { versions: { edited_at: string }[] }).versions.at(-1)!
  expect(await get('viewer', `/units/${id}?as_of=${first.edited_at}`)).toMatchObject({
    body: { version: { version_no: 1 }, status_then: 'draft' },
  })
  expect((await get('viewer', `/units/${id}/diff`)).body).toMatchObject({
    from_version: 1,
    to_version: 2,
    diff: expect.stringContaining('-28 days a year.'),
  })
  expect(await get('viewer', `/units?address=story/leave`)).toMatchObject({
    body: { units: [{ unit_id: id }] },
  })
})

it('of two edits at once one wins; the other gets both hashes and the diff', async () => {
  const id = await createUnit('story/race', 'one\ntwo\n')
  const before = (await get('operator', `/units/${id}`)).body as { content_hash: string }
  expect(
    (await call('PATCH', 'operator', `/units/${id}`, { expected_version: 1, body: 'one\nTWO\n' })).status,
  ).toBe(200)
  const after = (await get('operator', `/units/${id}`)).body as { content_hash: string }
  for (const lost of [
    await call('PATCH', 'admin', `/units/${id}`, { expected_version: 1, body: 'ONE\ntwo\n' }),
    await call('PATCH', 'admin', `/units/${id}/slice`, { expected_version: 1, from: 0, to: 3, text: 'ONE' }),
    await post('reviewer', `/units/${id}/enact`, { expected_version: 1, apr_ref: 'APR-1' }),
  ]) {
    expect(lost).toMatchObject({
      status: 409,
      body: {
        code: 'unit_version_conflict',
        hint: expect.stringContaining('Nothing was written'),
        details: {
          expected_version: 1,
          expected_hash: before.content_hash,
          current_version: 2,
          current_hash: after.content_hash,
          diff: expect.stringContaining('-two\n+TWO\n'),
        },
      },
    })
  }
  const never = await call('PATCH', 'operator', `/units/${id}`, { expected_version: 7, body: 'x' })
  expect(never).toMatchObject({ status: 409, body: { code: 'unit_version_conflict' } })
  expect((never.body as { details: object }).details).not.toHaveProperty('diff')
})

it('what is in force is locked; a successor takes its place', async () => {
  const id = await createUnit('story/rule', 'The rule.')
  expect(
    await post('reviewer', `/units/${id}/enact`, { expected_version: 1, apr_ref: 'APR-1' }),
  ).toMatchObject({
    status: 200,
    body: { lifecycle_status: 'enacted', apr_ref: 'APR-1' },
  })
  for (const [url, body] of [
    ['', { expected_version: 1, body: 'Another rule.' }],
    ['/slice', { expected_version: 1, from: 0, to: 3, text: 'A' }],
  ] as const) {
    expect(await call('PATCH', 'operator', `/units/${id}${url}`, body)).toMatchObject({
      status: 409,
      body: {
        code: 'unit_locked',
        details: { status: 'enacted' },
        hint: expect.stringContaining('successor'),
      },
    })
  }
  const successor = await createUnit('story/rule-2', 'The new rule.')
  expect(await post('reviewer', `/units/${id}/supersede`, { successor, apr_ref: 'APR-2' })).toMatchObject({
    status: 409,
    body: { code: 'unit_transition_refused' },
  })
  await post('reviewer', `/units/${successor}/enact`, { expected_version: 1, apr_ref: 'APR-2' })
  expect(await post('reviewer', `/units/${id}/supersede`, { successor, apr_ref: 'APR-2' })).toMatchObject({
    status: 200,
    body: { lifecycle_status: 'superseded', superseded_by: successor },
  })
  expect(await post('reviewer', `/units/${successor}/retire`, { reason: 'no longer' })).toMatchObject({
    status: 200,
    body: { lifecycle_status: 'retired' },
  })
  expect((await get('viewer', `/units/${successor}/history`)).body).toMatchObject({
    lifecycle: [{ to_status: 'retired', reason: 'no longer' }, { to_status: 'enacted' }],
  })
})

it('a draft is deleted and restored, its kind changed', async () => {
  const id = await createUnit('story/gone')
  expect(await call('DELETE', 'operator', `/units/${id}?reason=a%20slip`)).toMatchObject({
    status: 200,
    body: { deleted_at: expect.any(String) },
  })
  expect((await get('viewer', '/units?deleted=true')).body).toMatchObject({ units: [{ unit_id: id }] })
  expect(await post('operator', `/units/${id}/restore`)).toMatchObject({
    status: 200,
    body: { deleted_at: null },
  })
  expect(await post('operator', `/units/${id}/restore`)).toMatchObject({
    status: 409,
    body: { code: 'unit_transition_refused' },
  })
  expect(
    await post('reviewer', `/units/${id}/change-kind`, { unit_kind: 'section', apr_ref: 'APR-9' }),
  ).toMatchObject({
    status: 200,
    body: { unit_kind: 'section' },
  })
})

it('profile, topics and edges change without a version', async () => {
  const id = await createUnit('story/profile')
  expect((await post('admin', '/topics', { topic_label: 'leave', description: 'Being away' })).status).toBe(
    204,
  )
  expect((await get('viewer', '/topics')).body).toMatchObject({
    topics: [{ topic_label: 'leave', units: 0 }],
  })
  expect(
    await call('PATCH', 'operator', `/units/${id}/profile`, { summary: 's', topic_labels: ['leave'] }),
  ).toEqual({ status: 200, body: { summary: 's', topic_labels: ['leave'] } })
  expect(await call('PATCH', 'operator', `/units/${id}/profile`, { summary: null })).toMatchObject({
    body: { topic_labels: ['leave'] },
  })
  expect(
    await post('operator', `/units/${id}/edges`, { edge_type: 'cites', target: 'story/none' }),
  ).toMatchObject({
    status: 200,
    body: { edge_status: 'unverified', created: true },
  })
  const { body } = await get('viewer', `/units/${id}/edges`)
  const [edge] = (body as { out: { edge_id: string }[] }).out
  expect((await call('DELETE', 'operator', `/units/edges/${edge!.edge_id}`)).status).toBe(204)
  expect(await call('DELETE', 'operator', `/units/edges/${edge!.edge_id}`)).toMatchObject({
    status: 404,
    body: { code: 'edge_unknown' },
  })
  expect((await post('admin', '/topics/leave/retire')).status).toBe(204)
  const other = await createUnit('story/profile-2')
  expect(
    await call('PATCH', 'operator', `/units/${other}/profile`, { topic_labels: ['leave'] }),
  ).toMatchObject({
    status: 422,
    body: { code: 'topic_unknown', detail: expect.stringContaining('leave') },
  })
  expect((await get('viewer', `/units/${id}`)).body).toMatchObject({ version_no: 1, topics: ['leave'] })
})

it('a position is between 1 and a million', async () => {
  const shelf = await createUnit('story/places', 'Places', { unit_kind: 'document' })
  const unit = await createUnit('story/places/one')
  for (const position of [0, -5, 1_000_001, 2_147_483_647]) {
    const place = { container_id: shelf, position }
    expect(await post('operator', `/units/${unit}/move`, place)).toMatchObject({ status: 400 })
    const units = [{ canonical_address: 'story/places/two', body: 'Two', ...place }]
    expect(await post('operator', '/units/batch', { units })).toMatchObject({ status: 400 })
  }
  expect((await post('operator', `/units/${unit}/move`, { container_id: shelf, position: 1 })).status).toBe(
    204,
  )
})

it('edges, topics and changes of a life come in pages', async () => {
  const id = await createUnit('story/pages')
  for (const target of ['a', 'b', 'c'])
    await post('operator', `/units/${id}/edges`, { edge_type: 'cites', target })
  const edges = `/units/${id}/edges?limit=2`
  const first = (await get('viewer', edges)).body as { next: string }
  expect(first).toMatchObject({ out: [{ target_ref: 'a' }, { target_ref: 'b' }], next: expect.any(String) })
  expect((await get('viewer', `${edges}&after=${first.next}`)).body).toMatchObject({
    out: [{ target_ref: 'c' }],
    next: null,
  })

  for (const topic_label of ['page-a', 'page-b', 'page-c']) await post('admin', '/topics', { topic_label })
  const labels: string[] = []
  let after = ''
  do {
    const { body } = await get('viewer', `/topics?limit=1${after}`)
    const page = body as { topics: { topic_label: string }[]; next: string | null }
    expect(page.topics).toHaveLength(1)
    labels.push(page.topics[0]!.topic_label)
    after = page.next === null ? '' : `&after=${page.next}`
  } while (after !== '')
  expect(labels.filter((label) => label.startsWith('page-'))).toEqual(['page-a', 'page-b', 'page-c'])

  await call('DELETE', 'operator', `/units/${id}`)
  await post('operator', `/units/${id}/restore`)
  await call('DELETE', 'operator', `/units/${id}`)
  const history = `/units/${id}/history?limit=2`
  const { lifecycle } = (await get('viewer', history)).body as { lifecycle: { log_id: string }[] }
  expect(lifecycle).toMatchObject([{ to_status: 'deleted' }, { from_status: 'deleted' }])
  expect((await get('viewer', `${history}&lifecycle_before=${lifecycle[1]!.log_id}`)).body).toMatchObject({
    lifecycle: [{ from_status: 'draft', to_status: 'deleted' }],
  })
})

it('units move and are put into another order', async () => {
  const shelf = await createUnit('story/shelf', 'Shelf', { unit_kind: 'document' })
  const { body } = await post('operator', '/units/batch', {
    units: ['a', 'b', 'c'].map((name, position) => ({
      canonical_address: `story/shelf/${name}`,
      body: name,
      container_id: shelf,
      position: position + 1,
    })),
  })
  const [a, b, c] = (body as { units: { unit_id: string }[] }).units.map(({ unit_id }) => unit_id)
  const order = async () =>
    (
      (await get('viewer', `/units?container_id=${shelf}`)).body as { units: { unit_id: string }[] }
    ).units.map(({ unit_id }) => unit_id)
  expect(await order()).toEqual([a, b, c])
  expect((await post('operator', `/units/${shelf}/reorder`, { units: [c, a, b] })).status).toBe(204)
  expect(await order()).toEqual([c, a, b])
  expect(await post('operator', `/units/${shelf}/reorder`, { units: [c, a] })).toMatchObject({ status: 400 })
  expect((await post('operator', `/units/${b}/move`, { container_id: null })).status).toBe(204)
  expect(await order()).toEqual([c, a])
  expect(await post('operator', `/units/${shelf}/move`, { container_id: a })).toMatchObject({
    status: 409,
    body: { code: 'container_cycle' },
  })
})

it('lists in pages', async () => {
  await post('operator', '/units/batch', {
    units: Array.from({ length: 5 }, (_, n) => ({ canonical_address: `paged/${n}`, body: `text ${n}` })),
  })
  const seen: string[] = []
  let next: string | null = null
  do {
    const { body } = await get('viewer', `/units?under=paged&limit=2${next ? `&after=${next}` : ''}`)
    const page = body as { units: { canonical_address: string }[]; next: string | null }
    seen.push(...page.units.map(({ canonical_address }) => canonical_address))
    next = page.next
  } while (next)
  expect(seen).toEqual([0, 1, 2, 3, 4].map((n) => `paged/${n}`))
})

describe('who may', () => {
  let id: string
  beforeAll(async () => {
    id = await createUnit('story/rights')
  })

  it.each<[Who, string, object | undefined, number]>([
    ['viewer', 'edit', { expected_version: 1, body: 'x' }, 403],
    ['agent', 'edit', { expected_version: 1, body: 'x' }, 403],
    ['agent', 'delete', undefined, 403],
    ['operator', 'enact', { expected_version: 1, apr_ref: 'A' }, 403],
    ['operator', 'retire', undefined, 403],
    ['operator', 'change-kind', { unit_kind: 'section', apr_ref: 'A' }, 403],
    ['stranger', 'edit', { expected_version: 1, body: 'x' }, 404],
    ['stranger', 'enact', { expected_version: 1, apr_ref: 'A' }, 404],
    ['stranger', 'delete', undefined, 404],
  ])('%s is refused to %s', async (who, what, body, status) => {
    const [method, path] =
      what === 'edit'
        ? (['PATCH', ''] as const)
        : what === 'delete'
          ? (['DELETE', ''] as const)
          : (['POST', `/${what}`] as const)
    expect((await call(method, who, `/units/${id}${path}`, body)).status).toBe(status)
    expect((await get('operator', `/units/${id}`)).body).toMatchObject({
      version_no: 1,
      lifecycle_status: 'draft',
    })
  })

  it('an agent gets an error that says what it can do instead, not what the database calls it', async () => {
    for (const [method, url, body] of [
      ['PATCH', `/units/${id}`, { expected_version: 1, body: 'x' }],
      ['POST', '/units', { canonical_address: 'story/agent', body: 'x' }],
    ] as const) {
      const { status, body: problem } = await call(method, 'agent', url, body)
      expect({ status, problem }).toMatchObject({
        status: 403,
        problem: {
          code: 'permission_denied',
          detail: 'An agent reads and proposes; it does not do this itself',
          hint: expect.stringContaining('POST /api/v1/marks'),
        },
      })
      expect(JSON.stringify(problem)).not.toContain('fn_unit')
    }
  })

  it('nobody but an administrator adds topics, and nobody reads a unit of others', async () => {
    expect((await post('reviewer', '/topics', { topic_label: 'mine' })).status).toBe(403)
    for (const url of ['', '/history', '/diff', '/edges'])
      expect((await get('stranger', `/units/${id}${url}`)).status).toBe(404)
  })
})

describe('what is refused, in words', () => {
  it.each<[string, object, number, string]>([
    ['an empty text', { body: ' \n ' }, 422, 'unit_body_refused'],
    ['a text of 20 MB', { body: 'x'.repeat(20_000_000) }, 413, 'body_too_large'],
    ['a text of 1 MiB and one', { body: 'x'.repeat(1024 ** 2 + 1) }, 422, 'unit_body_refused'],
    ['an address that is taken', { canonical_address: 'story/leave' }, 409, 'unit_address_taken'],
    ['an address that is none', { canonical_address: 'Story Leave' }, 400, 'argument_invalid'],
    ['a core key in the profile', { profile: { lifecycle_status: 'enacted' } }, 422, 'profile_core_key'],
    ['a topic outside the vocabulary', { profile: { topic_labels: ['nope'] } }, 422, 'topic_unknown'],
    ['a property that there is not', { colour: 'red' }, 400, 'request_invalid'],
    ['half a character', { body: 'caf\ud83d' }, 400, 'argument_invalid'],
    ['half a character in the profile', { profile: { a: ['\udc00'] } }, 400, 'argument_invalid'],
    ['a kind that is none', { unit_kind: 'poem' }, 400, 'argument_invalid'],
  ])('%s', async (_name, given, status, code) => {
    const body = { canonical_address: 'refused/one', body: 'A text.', ...given }
    expect(await post('operator', '/units', body)).toMatchObject({
      status,
      body: { code, hint: expect.any(String) },
    })
    expect((await get('operator', '/units?under=refused')).body).toMatchObject({ units: [] })
  })

  it('with hints that name calls of this API, not commands', async () => {
    const id = await createUnit('refused-hints')
    await post('reviewer', `/units/${id}/enact`, { expected_version: 1, apr_ref: 'APR-1' })
    const hints = [
      await call('PATCH', 'operator', `/units/${id}`, { expected_version: 1, body: 'x' }),
      await get('operator', `/units/${people.viewer.userId}`),
      await get('operator', `/units/${id}?version=9`),
      await get('operator', `/units/${id}/diff?from=1&to=9`),
      await call('PATCH', 'operator', `/units/${id}/profile`, { topic_labels: ['nope'] }),
      await call('DELETE', 'operator', `/units/edges/${id}`),
      await get('operator', `/documents/${id}`),
    ].map(({ status, body }) => [status, (body as { hint: string }).hint])
    expect(hints.map(([status]) => status)).toEqual([409, 404, 404, 404, 422, 404, 404])
    expect(hints[0]![1]).toContain(`/api/v1/units/${id}/supersede`)
    for (const [, hint] of hints) expect(hint).not.toMatch(/`stagedoor (?!unit history)/)
  })

  it('a kind that is none, with those that there are', async () => {
    expect(
      (await post('operator', '/units', { canonical_address: 'refused/kind', body: 'x', unit_kind: 'poem' }))
        .body,
    ).toMatchObject({ hint: 'There are commentary, document, list, note, part, section, table.' })
  })

  it('a slice out of range, with the length of the text', async () => {
    const id = await createUnit('refused-slice', 'twelve chars')
    expect(
      await call('PATCH', 'operator', `/units/${id}/slice`, {
        expected_version: 1,
        from: 5,
        to: 99,
        text: '',
      }),
    ).toMatchObject({
      status: 422,
      body: { code: 'slice_out_of_range', details: { from: 5, to: 99, length: 12 } },
    })
  })
})

describe('where a unit stands', () => {
  it('is answered with the units above it, and with what the caller may do now', async () => {
    const handbook = await createUnit('place/handbook', '# Handbook', { unit_kind: 'document' })
    const chapter = await createUnit('place/handbook/leave', '# Leave', { container_id: handbook })
    const id = await createUnit('place/handbook/leave/days', '# Days\n\n28.', { container_id: chapter })
    const { status, body } = await get('operator', `/units/${id}/context`)
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        path: [{ title: 'Handbook', unit_id: handbook }, { title: 'Leave' }],
        units_in: 0,
        origin: [],
        successor: null,
        may: {
          edit: { allowed: true },
          delete: { allowed: true },
          enact: { allowed: false, reason: 'You do not have the right to review in this workspace.' },
          restore: { allowed: false, reason: 'It is not deleted.' },
        },
        people: expect.any(Object),
      },
    })
    const enacted = await post('reviewer', `/units/${id}/enact`, { expected_version: 1, apr_ref: 'APR-1' })
    expect(enacted.status).toBe(200)
    expect((await get('reviewer', `/units/${id}/context`)).body).toMatchObject({
      may: {
        enact: { allowed: false },
        supersede: { allowed: true },
        retire: { allowed: true },
        edit: { allowed: false },
      },
    })
    expect((await get('stranger', `/units/${id}/context`)).status).toBe(404)
  })

  it('shows in the list, which is filtered by a part of the title or address', async () => {
    const listed = async (filter: string) =>
      (await get('viewer', `/units?under=place/handbook&${filter}`)).body as {
        units: { title: string; units_in: number; path: { title: string }[] }[]
      }
    const { units } = await listed('text=DAYS')
    expect(units.map(({ title, path }) => [title, path.map((above) => above.title)])).toEqual([
      ['Days', ['Handbook', 'Leave']],
    ])
    expect((await listed('top=true')).units.map(({ title, units_in }) => [title, units_in])).toEqual([
      ['Handbook', 1],
    ])
    // What means something to LIKE is only itself.
    expect((await listed('text=%25')).units).toEqual([])
  })

  it('and what it can be is a list, too', async () => {
    const { body } = await get('viewer', '/units/kinds')
    expect((body as { kinds: { unit_kind: string }[] }).kinds.map(({ unit_kind }) => unit_kind)).toContain(
      'section',
    )
  })
})
