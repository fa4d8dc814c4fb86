/** An agent proposes SQL statements over MCP: they become plans for people, and a statement that is refused changes nothing. */
import { createHash } from 'node:crypto'
import { Client } from '@modelcontextprotocol/client'
import { beforeAll, expect, it } from 'vitest'
import { useApi } from '../support/api.ts'
import { openToStatements } from '../support/proposals.ts'
import { clientOf, transportTo, useMcp } from './mcp-api.ts'

const mcp = useMcp()
const withoutLogin = useApi(mcp.db, { proposals: false })

beforeAll(async () => {
  await mcp.db
    .pool('postgres')
    .query(`create table public.wares (id integer primary key, brand text, price numeric);
    create table public.salaries (id integer primary key, amount numeric);
    insert into public.wares values (1, 'X', 10), (2, 'X', 9007199254740993), (3, 'Y', 30);
    insert into public.salaries values (1, 100);
    grant select, insert, update, delete on public.wares to workflow_admin`)
  await openToStatements(mcp.db, mcp.ads.workspace, 'public.wares')
})

const sql = async (text: string) => (await mcp.db.pool('postgres').query(text)).rows
const production = () =>
  sql(`select to_jsonb(w)::text as row from public.wares w
        union all select to_jsonb(s)::text from public.salaries s order by 1`)
const uploads = () => sql('select upload_id, status from iu_core.ingest_upload order by 1')

it('proposes a statement, reads its plan and asks for a review; people promote what it gave', async () => {
  const before = await production()
  const agent = await mcp.connect(mcp.tokens.agent)
  const { data: open, structured } = await agent.call('propose_change')
  expect(open.tables).toMatchObject([
    {
      table: 'public.wares',
      operations: ['insert', 'update', 'delete'],
      key: ['id'],
      max_rows: 10_000,
      not_ready: null,
    },
  ])
  expect(structured.next).toEqual([])

  // Its dataset takes no rows, so it is not among those for which rows can be proposed.
  const datasets = await agent.call('list_datasets')
  expect(datasets.data.datasets.map(({ dataset }: { dataset: string }) => dataset)).toEqual(['ads'])
  expect(datasets.structured.next.join(' ')).toContain('propose_change')
  const { resources } = await agent.client.listResources()
  expect(resources.map(({ uri }) => uri)).toEqual(['stagedoor://dataset/ads'])

  const statement = "update wares set price = price + 1 where brand = 'X'"
  const proposed = await agent.call('propose_change', { statement, key: 'dearer' })
  expect(proposed.text).toContain('its plan has 2 rows. Production is unchanged.')
  expect(proposed.data).toMatchObject({
    created: true,
    operation: 'update',
    table: 'public.wares',
    status: 'planned',
    totals: { wares: { update: 2 } },
    refusal: null,
  })
  const again = await agent.call('propose_change', { statement, key: 'dearer' })
  expect(again.data).toMatchObject({ created: false, upload: proposed.data.upload })

  const { data: plan } = await agent.call('get_plan', { upload: proposed.data.upload })
  expect(plan.statement).toBe(statement)
  expect(plan.rows).toMatchObject([
    { action: 'update', before: { price: 10 }, after: { price: 11 } },
    { action: 'update', before: { price: '9007199254740993' }, after: { price: '9007199254740994' } },
  ])
  const submitted = await agent.call('submit', {
    change: String(plan.change),
    digest: plan.digest,
    title: 'Dearer',
    explanation: 'Brand X costs one more.',
  })
  expect(submitted.data).toMatchObject({ status: 'open', title: 'Dearer' })
  expect((await agent.call('get_status', { id: proposed.data.upload })).data).toMatchObject({
    status: 'planned',
    review_status: 'pending',
  })
  expect(await production()).toEqual(before)

  const { upload, digest } = { upload: proposed.data.upload, digest: plan.digest }
  expect((await mcp.call('POST', `/uploads/${upload}/approve`, 'agent', { digest })).status).toBe(403)
  const approved = await mcp.call('POST', `/uploads/${upload}/approve`, 'reviewer', {
    digest,
    ticked: ['changes'],
  })
  expect(approved.status).toBe(200)
  expect((await mcp.call('POST', `/uploads/${upload}/promote`, 'operator', { digest })).status).toBe(200)
  expect(await sql('select price::text from public.wares order by id')).toEqual([
    { price: '11' },
    { price: '9007199254740994' },
    { price: '30' },
  ])
})

it('gives each caller keys of its own', async () => {
  const statement = 'update wares set price = 31 where id = 3'
  const agent = await mcp.connect(mcp.tokens.agent)
  const operator = await mcp.connect(mcp.tokens.operator)
  const [first, second] = [
    await agent.call('propose_change', { statement, key: 'same' }),
    await operator.call('propose_change', { statement, key: 'same' }),
  ]
  expect(first.data.created).toBe(true)
  expect(second.data.created).toBe(true)
  expect(second.data.upload).not.toBe(first.data.upload)
})

it.each([
  [
    'two statements',
    'delete from wares; delete from wares',
    'proposal_refused',
    'not one statement but several',
  ],
  ['a table that is not open', 'update salaries set amount = 0', 'proposal_table_closed', 'public.salaries'],
  [
    'one that reads such a table',
    'update wares set price = (select amount from salaries)',
    'proposal_table_closed',
    'public.salaries',
  ],
  ['no change', 'select * from wares', 'proposal_refused', 'INSERT, UPDATE, DELETE'],
  ['a command', 'drop table wares', 'proposal_refused', 'INSERT, UPDATE, DELETE or MERGE'],
  ['a wrong column', 'update wares set prize = 1', 'proposal_fails', 'column "prize"'],
  ['no rows', 'delete from wares where id = 99', 'proposal_refused', 'changes no row'],
])('refuses %s, says why, and changes nothing', async (_, statement, code, words) => {
  const before = [await production(), await uploads()]
  const agent = await mcp.connect(mcp.tokens.agent)
  const refused = await agent.call('propose_change', { statement, key: 'refused' })
  expect(refused.isError).toBe(true)
  expect({ code: refused.structured.error.code, text: JSON.stringify(refused.data) }).toEqual({
    code,
    text: expect.stringContaining(JSON.stringify(words).slice(1, -1)),
  })
  expect([await production(), await uploads()]).toEqual(before)
})

it('refuses a statement without a key, a key of another statement, and callers without the right', async () => {
  const agent = await mcp.connect(mcp.tokens.agent)
  const statement = 'update wares set price = 5 where id = 3'
  const five = await agent.call('propose_change', { statement, key: 'five' })
  const before = [await production(), await uploads()]
  const keyless = await agent.call('propose_change', { statement })
  expect(keyless.structured.error.code).toBe('request_invalid')
  expect(keyless.data.message).toContain('needs a key')
  const other = await agent.call('propose_change', { statement: 'delete from wares', key: 'five' })
  expect(other.structured.error).toEqual({ code: 'proposal_key_used', retryable: false })
  const digest = (text: string) => createHash('sha256').update(text).digest('hex')
  expect(other.data.details).toEqual({
    key: 'five',
    upload: five.data.upload,
    used_digest: digest(statement),
    digest: digest('delete from wares'),
  })
  expect(other.data.hint).toMatch(/another `key`/)
  const viewer = await mcp.connect(mcp.tokens.viewer)
  expect((await viewer.call('propose_change', { statement, key: 'v' })).structured).toMatchObject({
    error: { code: 'right_missing' },
    missing: { right: 'stage', have: ['read'] },
  })
  expect(await (await mcp.connect(mcp.tokens.reader)).tools()).not.toContain('propose_change')
  expect([await production(), await uploads()]).toEqual(before)
})

it('says what is missing where there is no login for statements', async () => {
  const before = [await production(), await uploads()]
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(transportTo(new URL(`${await withoutLogin.listen()}/mcp`), mcp.tokens.agent))
  try {
    const agent = clientOf(client)
    const refused = await agent.call('propose_change', {
      statement: 'update wares set price = 6 where id = 3',
      key: 'six',
    })
    expect(refused.structured.error).toEqual({ code: 'proposal_login_missing', retryable: false })
    expect(refused.data.message).toContain('PROPOSAL_DATABASE_URL is not set')
    expect(refused.data.hint).toContain('stagedoor proposal setup')
    expect((await agent.call('propose_change')).text).toContain('PROPOSAL_DATABASE_URL')
  } finally {
    await client.close()
  }
  expect([await production(), await uploads()]).toEqual(before)
})

it('lists no table that was closed, and refuses statements on it', async () => {
  await mcp.db.owner('select iu_core.fn_proposal_close($1, $2)', [mcp.ads.workspace, 'public.wares'])
  const agent = await mcp.connect(mcp.tokens.agent)
  expect((await agent.call('propose_change')).data).toEqual({ tables: [] })
  const refused = await agent.call('propose_change', { statement: 'delete from wares', key: 'closed' })
  expect(refused.structured.error.code).toBe('proposal_table_closed')
})
