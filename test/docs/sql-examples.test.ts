/**
 * Every SQL block of the documentation runs. A block is sent statement by statement to a real database; '<name>' stands for the value of
 * the column `name` that a statement before it returned, or for what the fixture of its page gives. What only psql knows is given by
 * the fixture as well. A block that is the signature of a function must be that of a function that is there.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { describe, expect, it } from 'vitest'
import { parseDataset } from '../../src/ingest/datasets/declare.ts'
import { registerDataset } from '../../src/ingest/datasets/registry.ts'
import { registerPack } from '../../src/ingest/packs.ts'
import { inTransaction } from '../../src/kernel/postgres/transaction.ts'
import { useDatabase } from '../support/database.ts'
import { createWorkspace } from '../support/factories.ts'
import { createClient } from '../support/ingest.ts'
import { MIGRATOR } from '../support/template.ts'

const db = useDatabase()
const root = fileURLToPath(new URL('../../', import.meta.url))
const pages = [
  'README.md',
  ...readdirSync(`${root}docs`, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => `docs/${path}`)
    .sort(),
]
const blocksOf = (page: string) =>
  [...readFileSync(root + page, 'utf8').matchAll(/^```sql\n(.*?)^```/gms)].map(([, sql]) => sql!)
const isSignature = (sql: string) => /^(fn_|dot_|routed_|rebuild_)\w+\(/.test(sql)

interface Fixture {
  /** As the owner or a superuser, before the page. */
  readonly setup?: (superuser: pg.Client, workspace: string) => Promise<Record<string, string>>
  /** Instead of a statement that begins so: null leaves it out (psql's own). */
  readonly instead?: readonly (readonly [beginning: string, sql: string | null])[]
  /** Before a statement that begins so: what people or time do meanwhile. */
  readonly before?: Readonly<Record<string, string>>
  /** What the page has done. */
  readonly after?: (superuser: pg.Client) => Promise<void>
}

const ORDERS = 'create table orders (id bigint primary key); grant insert, select on orders to public'
const FIXTURES: Readonly<Record<string, Fixture>> = {
  'docs/guides/consumers.md': {
    setup: async (superuser, workspace) => {
      await superuser.query(`select iu_core.fn_gate_set('queue.consumer_dispatch.enabled', true)`)
      await superuser.query(`select iu_core.fn_job_kind_set('send_mail', '{}')`)
      const { rows } = await superuser.query<{ id: string }>(
        `select iu_core.fn_event_emit('dot', 'run.applied', p_workspace_id => $1, p_event_subject_ref => 'run 1') as id`,
        [workspace],
      )
      return { event_id: rows[0]!.id }
    },
    before: {
      'SELECT * FROM iu_core.fn_consumer_evidence': `select iu_core.fn_event_emit('dot', 'run.applied', p_event_subject_ref => 'run 2');
        select iu_core.fn_consumer_dispatch_batch()`,
      // Another login registered it.
      'SELECT iu_core.fn_consumer_review': `set session_replication_role = replica;
        update iu_core.consumer_registry set registered_by = 'anna', registered_via = null where consumer_id = 'mail_run';
        set session_replication_role = origin; set role service_role`,
      'SELECT iu_core.fn_consumer_activate': 'reset role',
    },
    instead: [
      [
        "SELECT iu_core.fn_consumer_review('mail_run', 12)",
        `select iu_core.fn_consumer_review('mail_run', 1, 'rita')`,
      ],
    ],
  },
  'docs/guides/datasets.md': {
    setup: async (superuser) => {
      await superuser.query('create schema shop; create table shop.orders (id uuid primary key)')
      return {}
    },
  },
  'docs/guides/search.md': {
    setup: async (superuser) => {
      await superuser.query('create table public.products (id bigint primary key)')
      return {}
    },
    after: async (superuser) => {
      await superuser.query('drop table public.products')
    },
  },
  'docs/guides/ingest.md': {
    setup: async (superuser, workspace) => {
      const example = (name: string) => readFileSync(`${root}examples/orders/${name}`, 'utf8')
      await superuser.query('drop schema if exists shop cascade')
      await superuser.query(example('tables.sql'))
      await superuser.query('grant all on all tables in schema shop to workflow_admin')
      await inTransaction(db.pool(MIGRATOR), (client) =>
        registerDataset(client, parseDataset(JSON.parse(example('dataset.json'))), {
          approvalRequired: false,
        }),
      )
      return { 'sha-256': '0'.repeat(64), 'client,_or_the_workspace': workspace }
    },
    instead: [
      [
        '\\copy batch',
        `insert into batch select n, jsonb_build_object('customer_number', 'C1', 'customer_name', 'Ada', 'order_number', 'O1',
           'placed_on', '2026-11-01', 'position', n, 'sku', 'S' || n, 'quantity', 1, 'unit_price', '2.50') from generate_series(1, 2) n`,
      ],
    ],
    after: async (superuser) => {
      const { rows } = await superuser.query('select position::int, sku from shop.order_lines order by 1')
      expect(rows).toEqual([
        { position: 1, sku: 'S1' },
        { position: 2, sku: 'S2' },
      ])
    },
  },
  'docs/guides/jobs.md': {
    setup: async (superuser) => {
      await superuser.query(ORDERS)
      await superuser.query(`select iu_core.fn_job_kind_set('send_report', '{}')`)
      const { rows } = await superuser.query<{ id: string }>(
        `select iu_core.fn_event_emit('dot', 'run.applied') as id`,
      )
      return { causation_event_id: rows[0]!.id }
    },
  },
  'docs/guides/routes.md': {
    setup: async (superuser) => {
      await superuser.query(
        `create schema sales; create table sales."Orders" (id bigint primary key, status text);
         grant usage on schema sales to workflow_admin; grant all on sales."Orders" to workflow_admin`,
      )
      return {}
    },
    before: {
      'SELECT * FROM iu_core.fn_sql_route_evidence': `insert into sales."Orders" values (1, 'new'); insert into sales."Orders" values (2, 'new');
        insert into sales."Orders" values (3, 'new')`,
      'SELECT iu_core.fn_sql_route_review': `set session_replication_role = replica;
        update iu_core.iu_sql_event_route set registered_by = 'anna', registered_via = null where route_code = 'sales.orders.insert';
        set session_replication_role = origin; set role service_role`,
      'SELECT route_code, state': 'reset role',
    },
    instead: [
      [
        "SELECT iu_core.fn_sql_route_review('sales.orders.insert', 3)",
        `select iu_core.fn_sql_route_review('sales.orders.insert', 3, 'rita')`,
      ],
    ],
  },
  'docs/reference/staging-sql.md': {
    before: {
      'SELECT iu_core.fn_iu_staging_approve':
        'set session authorization stagedoor_worker; set role service_role',
      'SELECT part_digests': 'reset session authorization',
    },
  },
  'docs/guides/webhooks-and-alerts.md': {
    setup: async (superuser, workspace) => {
      await inTransaction(db.pool(MIGRATOR), (client) => registerPack(client, 'ads'))
      const client = await createClient(db, workspace, 'Northwind')
      await superuser.query(`set role service_role`)
      await superuser.query(
        `select iu_core.fn_webhook_target_set('crm', '{"url": "https://crm.example.com/hook", "purpose": "event", "secret": "whsec_${Buffer.alloc(32, 7).toString('base64')}"}')`,
      )
      await superuser.query('reset role')
      return { client }
    },
  },
}

/** Between semicolons that stand outside of quotes and comments. */
function statementsOf(sql: string): string[] {
  const tokens = sql.match(/'(?:[^']|'')*'|"[^"]*"|--[^\n]*|\\[a-z][^\n]*\n|;|[^'";\-\\]+|[-\\]/g) ?? []
  const statements: string[] = ['']
  for (const token of tokens) {
    if (token === ';') statements.push('')
    else if (token.startsWith('\\')) statements.splice(-1, 1, token.trim(), '')
    else if (!token.startsWith('--')) statements[statements.length - 1] += token
  }
  return statements.map((one) => one.trim()).filter((one) => one !== '')
}

async function runPage(page: string): Promise<void> {
  const { setup, instead = [], before = {}, after } = FIXTURES[page] ?? {}
  const workspace = await createWorkspace(db, page)
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`)
  const superuser = await db.session('postgres')
  const known: Record<string, unknown> = {
    workspace,
    workspace_id: workspace,
    ...(await setup?.(superuser, workspace)),
  }
  const filled = (statement: string) =>
    statement
      .replaceAll("'whsec_…'", `'whsec_${Buffer.alloc(32, 7).toString('base64')}'`)
      .replaceAll("'…'", `'${workspace}'`)
      .replace(/'<([^>']+)>'/g, (_, name: string) => {
        const key = name.replaceAll(' ', '_')
        expect(known, `${page}: nothing gave <${name}>`).toHaveProperty(key)
        return `'${known[key]}'`
      })
  for (const block of blocksOf(page).filter((one) => !isSignature(one))) {
    for (const statement of statementsOf(block)) {
      for (const [beginning, sql] of Object.entries(before))
        if (statement.startsWith(beginning)) for (const one of statementsOf(sql)) await superuser.query(one)
      const other = instead.find(([beginning]) => statement.startsWith(beginning))
      const sql = filled(other === undefined ? statement : (other[1] ?? ''))
      const { rows } = await superuser.query(sql).catch((error: Error) => {
        throw new Error(`${page}: ${error.message}\n${sql}`, { cause: error })
      })
      Object.assign(known, rows?.[0] ?? {})
    }
    await superuser.query('rollback; reset role')
  }
  await after?.(superuser)
}

describe('the SQL of the documentation runs', () => {
  for (const page of pages.filter((one) => blocksOf(one).some((sql) => !isSignature(sql)))) {
    it(page, () => runPage(page))
  }
})

it('every signature in the reference is that of a function that is there', async () => {
  const there = new Set(
    (
      await db.owner<{ proname: string }>(
        `select proname from pg_proc where pronamespace in ('iu_core'::regnamespace, 'noetl'::regnamespace, 'public'::regnamespace)`,
      )
    ).map(({ proname }) => proname),
  )
  const named = pages
    .flatMap(blocksOf)
    .filter(isSignature)
    .map((sql) => /^\w+/.exec(sql)![0])
  expect(named.length).toBeGreaterThan(50)
  expect(named.filter((name) => !there.has(name))).toEqual([])
})
