/** From a document to units over HTTP. */
import { readFileSync } from 'node:fs'
import { beforeAll, expect, it } from 'vitest'
import { useApi } from '../../support/api.ts'
import { cpuClock } from '../../support/cpu.ts'
import { useDatabase } from '../../support/database.ts'
import { createMember, createWorkspace, type Member } from '../../support/factories.ts'

const db = useDatabase()
const api = useApi(db)
const read = (name: string) =>
  readFileSync(new URL(`../../../examples/handbook/${name}`, import.meta.url), 'utf8')
const HANDBOOK = read('handbook.md')
const people = {} as Record<'viewer' | 'operator' | 'reviewer' | 'agent' | 'stranger', Member>

interface Marked {
  staging_record_id: string
  digest: string
  created: boolean
  lifecycle_status: string
  pieces: { address: string; change: string; text: string; before: string | null }[]
  removed: { address: string }[]
}

beforeAll(async () => {
  const workspace = await createWorkspace(db)
  for (const role of ['viewer', 'operator', 'reviewer', 'agent'] as const)
    people[role] = await createMember(db, workspace, role)
  people.stranger = await createMember(db, await createWorkspace(db, 'Others'), 'reviewer')
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`)
})

const post = async (who: keyof typeof people, url: string, body?: object) =>
  api.post(`/api/v1${url}`, await api.token(people[who]), body)
const get = async (who: keyof typeof people, url: string) =>
  api.get(`/api/v1${url}`, await api.token(people[who]))

async function marked(who: keyof typeof people, text: string, more = {}): Promise<Marked> {
  const { status, body } = await post(who, '/marks', { source_ref: 'handbook.md', text, ...more })
  expect({ status, body }).toMatchObject({ status: 200 })
  return body
}
const approve = ({ staging_record_id: id, digest }: Marked) =>
  post('reviewer', `/staging/${id}/approve`, { digest })
const cut = (
  who: keyof typeof people,
  { staging_record_id: id, digest }: Pick<Marked, 'staging_record_id' | 'digest'>,
) => post(who, `/marks/${id}/cut`, { digest })

it('an agent marks, a person approves, an operator cuts; then only what changed is touched', async () => {
  const first = await marked('agent', HANDBOOK)
  expect(first.pieces).toHaveLength(44)
  expect(first.pieces.every(({ change }) => change === 'new')).toBe(true)
  expect((await marked('agent', HANDBOOK)).staging_record_id, 'marked again, held once').toBe(
    first.staging_record_id,
  )

  expect(await cut('operator', first)).toMatchObject({ status: 409, body: { code: 'staging_not_approved' } })
  expect((await approve(first)).status).toBe(200)
  expect(await cut('operator', { ...first, digest: '0'.repeat(64) })).toMatchObject({ status: 409 })
  expect((await cut('agent', first)).status, 'an agent cuts nothing').toBe(403)
  expect((await cut('viewer', first)).status).toBe(403)
  expect((await cut('stranger', first)).status).toBe(404)
  expect((await get('viewer', '/units?under=handbook')).body).toMatchObject({ units: [] })
  expect(await cut('operator', first)).toMatchObject({ status: 200, body: { created: 44, unchanged: 0 } })
  expect((await cut('operator', first)).status, 'once').toBe(409)

  const next = await marked('operator', read('handbook-2027.md'))
  const shown = (await get('viewer', `/marks/${next.staging_record_id}`)).body as Marked
  const changed = shown.pieces.filter(({ change }) => change !== 'same')
  expect(changed.map(({ address }) => address)).toEqual([
    'handbook/leave/annual-leave',
    'handbook/expenses/meals',
    'handbook/security/passwords',
  ])
  expect(changed[0]!.before).toContain('28 days')
  expect(changed[0]!.text).toContain('30 days')
  expect(shown.pieces.find(({ change }) => change === 'same')!.before).toBeNull()
  await approve(next)
  expect(await cut('operator', next)).toMatchObject({ body: { created: 0, versioned: 3, unchanged: 41 } })

  const { body } = await get('viewer', '/documents')
  const { documents } = body as { documents: { document_id: string }[] }
  expect(documents).toMatchObject([
    { source_ref: 'handbook.md', pieces: 44, title: expect.stringContaining('handbook') },
  ])
  const document = (await get('viewer', `/documents/${documents[0]!.document_id}`)).body as {
    body: string
    map: object[]
  }
  expect(document.body).toBe(read('handbook-2027.md'))
  expect(document.map).toContainEqual(
    expect.objectContaining({ canonical_address: 'handbook/expenses/meals', version_no: 2 }),
  )
  expect((await get('stranger', `/documents/${documents[0]!.document_id}`)).body).toMatchObject({
    code: 'document_unknown',
  })
})

it('a manifest that somebody changed is staged in its place; what does not fit is reported piece by piece', async () => {
  const text = '# Guide\n\n## One\n\nFirst.\n\n## Two\n\nSecond.\n'
  const first = await marked('operator', text, { source_ref: 'guide.md' })
  const { body: manifest } = await get('operator', `/staging/${first.staging_record_id}/parts/0`)
  const changed = structuredClone(manifest) as { pieces: { address: string; topics: string[] }[] }
  changed.pieces[1]!.address = 'guide/the-first'
  const again = await marked('operator', text, { manifest: changed, source_ref: undefined })
  expect(again.staging_record_id).not.toBe(first.staging_record_id)
  expect(again.pieces.map(({ address }) => address)).toContain('guide/the-first')

  const short = { ...changed, pieces: changed.pieces.slice(0, 2) }
  const left = await marked('operator', text, { manifest: short, source_ref: undefined })
  const part = { from: 25, to: 40, first_line: 7, last_line: 9 }
  const leftOut = { bytes: 15, parts: [{ ...part, text: '## Two\n\nSecond.' }] }
  expect(left).toMatchObject({ left_out: leftOut })
  const view = (await get('viewer', `/marks/${left.staging_record_id}`)).body
  expect(view).toMatchObject({
    left_out: leftOut,
    pieces: [{ preview: { what: 'created' } }, { preview: { what: 'created' } }],
  })
  await approve(left)
  expect((await cut('operator', left)).body).toMatchObject({ left_out: { bytes: 15, parts: [part] } })

  changed.pieces[1]!.topics = ['no-such-topic']
  const refused = await post('operator', '/marks', { text, manifest: changed })
  expect(refused).toMatchObject({
    status: 422,
    body: { code: 'manifest_invalid', details: { problems: [{}] } },
  })
  const odd = await post('operator', '/marks', { text, manifest: { pieces: 'all' } })
  expect(odd).toMatchObject({
    status: 422,
    body: { code: 'manifest_invalid', details: { problems: expect.any(Array) } },
  })
})

it.each<[string, object, number, string]>([
  ['an empty document', { text: ' \n', source_ref: 'x.md' }, 422, 'document_unreadable'],
  ['a NUL', { text: 'a\u0000b', source_ref: 'x.md' }, 422, 'document_unreadable'],
  ['no reference', { text: '# A\n\nb' }, 400, 'request_invalid'],
])('%s is refused', async (_name, body, status, code) => {
  expect(await post('operator', '/marks', body)).toMatchObject({
    status,
    body: { code, hint: expect.any(String) },
  })
})

it('reports what people did since the last cut: what stays, and what is replaced', async () => {
  const source = { source_ref: 'people.md' }
  const sections = ['## A\n\nfirst', '### In\n\ninner', '## B\n\nsecond', '## C\n\nthird']
  const cutText = async (...parts: string[]) => {
    const next = await marked('operator', parts.join('\n\n'), source)
    await approve(next)
    return (await cut('operator', next)).body
  }
  await cutText(...sections)
  const { units } = (await get('viewer', '/units?under=people')).body as {
    units: { unit_id: string; canonical_address: string }[]
  }
  const id = (name: string) => units.find(({ canonical_address: at }) => at === name)!.unit_id
  await db.as(people.operator, async (client) => {
    await client.query('select iu_core.fn_unit_move($1, $2)', [id('people/a/in'), id('people/b')])
    const order = ['people/c', 'people/b', 'people/a'].map(id)
    await client.query('select iu_core.fn_unit_reorder($1, $2)', [id('people'), order])
  })
  const [a, inner, b, c] = sections as [string, string, string, string]
  const next = await marked('operator', [a, inner, b, `${c} more`].join('\n\n'), source)
  const view = (await get('viewer', `/marks/${next.staging_record_id}`)).body
  expect(view).toMatchObject({
    pieces: [
      {},
      { preview: { kept_in: 'people/b' } },
      {},
      { preview: { what: 'versioned', status: 'draft' } },
    ],
  })
  const moved = await cutText(b, a, c, inner)
  expect(moved).toMatchObject({
    orders_replaced: ['people'],
    units: [
      {
        canonical_address: 'people/a/in',
        moved_from: 'people/b',
        moved_to: 'people/c',
        replaced_place: true,
      },
    ],
  })
})

it('what is not a marking, and what others staged, is not shown as one', async () => {
  const { body } = await post('operator', '/staging', {
    workspace_id: (
      await db.owner<{ id: string }>(`select id from public.workspaces where name = 'Acme Media'`)
    )[0]!.id,
    staging_kind: 'sql_snapshot',
    payload_type: 'sql_result_snapshot',
    purpose: 'rows',
    parts: [{ part_name: 'rows', payload_kind: 'json', payload_json: [1] }],
  })
  const { staging_record_id: id } = body as { staging_record_id: string }
  expect(await get('viewer', `/marks/${id}`)).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining('not the marking') },
  })
  expect((await get('stranger', `/marks/${id}`)).status).toBe(404)
})

it('a few kilobytes that would keep the parser busy are refused at once', async () => {
  const workedMs = cpuClock()
  const text = `${'- '.repeat(4_000)}x`
  expect(await post('agent', '/marks', { source_ref: 'deep.md', text })).toMatchObject({
    status: 422,
    body: { code: 'document_unreadable' },
  })
  expect(workedMs()).toBeLessThan(2_000)
})

it('the map of a document comes in pages', async () => {
  const text = '# Pages\n\n## One\n\nA.\n\n## Two\n\nB.\n\n## Three\n\nC.\n'
  const staged = await marked('agent', text, { source_ref: 'pages.md' })
  await approve(staged)
  const { document_id } = (await cut('operator', staged)).body as { document_id: string }
  const seen: string[] = []
  let after = ''
  do {
    const { body } = await get('viewer', `/documents/${document_id}?limit=2${after}`)
    const page = body as { map: { piece_address: string }[]; next: string | null }
    seen.push(...page.map.map(({ piece_address }) => piece_address))
    after = page.next === null ? '' : `&after=${page.next}`
  } while (after !== '')
  expect(seen).toEqual(staged.pieces.map(({ address }) => address))
})
