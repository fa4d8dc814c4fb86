/** A shop's tables, its product list and its dataset. */
import { appendFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { allowBulkChecks } from '../ingest/world.ts'
import {
  backEndActor,
  createPool,
  defineDataset,
  type IngestOptions,
  ingest,
  inTransaction,
  registerDataset,
} from '../product.ts'
import type { BenchDatabase } from '../server.ts'

const TABLES = `
  create table public.categories (id bigint generated always as identity primary key, name text not null unique);
  create table public.products (
    id bigint generated always as identity primary key, sku text not null unique, name text not null,
    price numeric(10, 2) not null, stock integer not null, category_id bigint references public.categories,
    updated_at timestamptz not null default now());
  insert into public.categories (name) select 'Category ' || n from generate_series(0, 199) as n;
  grant select, insert, update, delete on public.products, public.categories to workflow_admin;
  grant select on public.products to dot_executor`

const DATASET = defineDataset({
  name: 'products',
  fields: {
    sku: { type: 'text', aliases: ['SKU'], required: true },
    name: { type: 'text', aliases: ['Name'], required: true },
    price: { type: 'decimal', aliases: ['Price'], required: true, min: 0, scale: 2 },
    stock: { type: 'integer', aliases: ['Stock'], required: true },
    category: { type: 'text', aliases: ['Category'], lookup: 'category' },
  },
  lookups: { category: { table: 'public.categories', by: 'name', value: 'id' } },
  rows: [
    {
      name: 'product',
      target: 'public.products',
      key: ['sku'],
      columns: { sku: 'sku', name: 'name', price: 'price', stock: 'stock', category_id: 'category' },
    },
  ],
})

export interface Shop {
  readonly home: string
  readonly file: string
  readonly workspace: string
  readonly url: string
  readonly pool: ReturnType<typeof createPool>
  end(): Promise<void>
}

/** A person's approval takes as long as a person takes, so the dataset asks for none. */
export async function openShop(
  database: BenchDatabase,
  lines: number,
  seed: number,
  checksInBulk = false,
): Promise<Shop> {
  const home = await mkdtemp(join(tmpdir(), 'stagedoor-bench-own-table-'))
  const superuser = await database.superuser()
  await superuser.query(TABLES)
  const administration = createPool(database.url, { role: 'workflow_admin', max: 1 })
  const workspace = await inTransaction(administration, async (session) => {
    await session.query(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`)
    await allowBulkChecks(session, checksInBulk)
    await session.query('select iu_core.fn_ingest_limit_set(null, 10000000000, 10000000, 3)')
    const made = await session.query(`insert into public.workspaces (name) values ('Acme') returning id`)
    const workspaceId = made.rows[0].id as string
    await registerDataset(session, DATASET, { workspaceId, approvalRequired: false })
    return workspaceId
  })
  await administration.end()
  const file = join(home, 'products.csv')
  writeProducts(file, { seed, lines })
  const pool = createPool(database.workerUrl, { role: 'dot_executor', max: 4 })
  return {
    home,
    file,
    workspace,
    url: database.url,
    pool,
    async end() {
      await pool.end()
      await rm(home, { recursive: true, force: true })
    },
  }
}

/** As many lines as asked for, or as many as the bytes hold. Gives their number. */
export function writeProducts(
  file: string,
  {
    seed,
    lines = Number.POSITIVE_INFINITY,
    bytes = Number.POSITIVE_INFINITY,
  }: { seed: number; lines?: number; bytes?: number },
): number {
  writeFileSync(file, 'SKU,Name,Price,Stock,Category\n')
  let text = ''
  let written = 0
  let n = 0
  for (; n < lines && written < bytes; n++) {
    const cents = (n * 7919 + seed * 104_729) % 1_000_000
    text += `SKU-${n},"Lamp, model ${n}",${(cents / 100).toFixed(2)},${(n * 31 + seed) % 500},Category ${n % 200}\n`
    if (n % 5000 < 4999 && n < lines - 1) continue
    appendFileSync(file, text)
    written += text.length
    text = ''
  }
  return n
}

export async function ingestProducts(shop: Shop, until: IngestOptions['until']) {
  const { pool, home, file, workspace } = shop
  const { upload, stopped } = await ingest({ pool, home }, file, {
    dataset: 'products',
    platform: 'file',
    workspaceId: workspace,
    actor: backEndActor(pool),
    until,
  })
  if (stopped) throw stopped
  return upload
}

export async function countProducts({ pool }: Shop): Promise<number> {
  const { rows } = await pool.query('select count(*) from public.products')
  return Number(rows[0]!.count)
}
