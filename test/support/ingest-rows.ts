/**
 * Uploads without files: staged rows written straight into the database, over small tables of the test's own. Groups have
 * items, both have figures by day (an id of ours, NULLs in the key); prices are known by their natural key only.
 */
import { createHash, randomUUID } from 'node:crypto'
import { beforeAll } from 'vitest'
import type { Dataset } from '../../src/ingest/datasets/dataset.ts'
import { inTransaction } from '../../src/kernel/postgres/transaction.ts'
import type { TestDatabase } from './database.ts'
import { type TestIngest, useIngest } from './ingest.ts'

export const TRIAL_TABLES = ['trial_groups', 'trial_items', 'trial_figures', 'trial_prices'] as const

const TABLES = `
  create table public.trial_groups (
    id uuid primary key default gen_random_uuid(), client_id uuid not null, code text not null, name text,
    seen timestamptz not null default now(), constraint trial_groups_code_once unique (client_id, code));
  create table public.trial_items (
    id uuid primary key default gen_random_uuid(), group_id uuid not null references public.trial_groups (id),
    code text not null, name text, constraint trial_items_code_once unique (group_id, code));
  create table public.trial_figures (
    id uuid primary key default gen_random_uuid(), client_id uuid not null,
    group_id uuid not null references public.trial_groups (id), item_id uuid references public.trial_items (id),
    day date not null, amount numeric(12, 2) constraint trial_figures_amount_sane check (amount < 1000000),
    units integer, note varchar(20), flag boolean, seen timestamptz not null default now(),
    double_units integer generated always as (units * 2) stored,
    constraint trial_figures_once_a_day unique nulls not distinct (item_id, group_id, day));
  create table public.trial_prices (
    workspace_id uuid not null, sku text not null, tier text, day date not null, price numeric(10, 2), note text,
    constraint trial_prices_once unique nulls not distinct (workspace_id, sku, tier, day))`

const text = (name: string) => ({ type: 'text' as const, aliases: { any: [name] } })

export const TRIAL: Dataset = {
  name: 'trial',
  title: 'Trial',
  version: 1,
  platforms: { file: { title: 'File' } },
  uploads: 'public.data_uploads',
  client: { table: 'public.clients', id: 'id', workspace: 'workspace_id', name: 'name' },
  fields: {
    group_code: { type: 'id', aliases: { any: ['Group'] } },
    group_name: text('Group name'),
    item_code: { type: 'id', aliases: { any: ['Item'] } },
    item_name: text('Item name'),
    day: { type: 'date', aliases: { any: ['Day'] } },
    amount: { type: 'money', aliases: { any: ['Amount'] } },
    units: { type: 'integer', aliases: { any: ['Units'] } },
    note: text('Note'),
    flag: { type: 'boolean', aliases: { any: ['Flag'] } },
  },
  rows: [
    {
      name: 'group',
      target: 'public.trial_groups',
      id: 'id',
      key: ['client_id', 'code'],
      requires: ['group_code|group_name'],
      identity: { id: 'group_code', name: 'group_name', nameColumn: 'name' },
      columns: { client_id: '$client', code: '$identity', name: 'group_name' },
    },
    {
      name: 'item',
      target: 'public.trial_items',
      id: 'id',
      key: ['group_id', 'code'],
      requires: ['item_code|item_name'],
      identity: { id: 'item_code', name: 'item_name', nameColumn: 'name' },
      columns: { group_id: '$group', code: '$identity', name: 'item_name' },
    },
    {
      name: 'figure',
      target: 'public.trial_figures',
      id: 'id',
      key: ['item_id', 'group_id', 'day'],
      requires: ['day'],
      columns: {
        client_id: '$client',
        group_id: '$group',
        item_id: '$item',
        day: 'day',
        amount: 'amount',
        units: 'units',
        note: 'note',
        flag: 'flag',
      },
    },
  ],
}

/** No id of ours, no clients: rows are known by their natural key, a part of which may be NULL. */
export const PRICES: Dataset = {
  name: 'prices',
  title: 'Prices',
  version: 1,
  platforms: { shop: { title: 'Shop' } },
  fields: {
    sku: { type: 'id', aliases: { any: ['SKU'] } },
    tier: text('Tier'),
    day: { type: 'date', aliases: { any: ['Day'] } },
    price: { type: 'money', aliases: { any: ['Price'] } },
    note: text('Note'),
  },
  rows: [
    {
      name: 'price',
      target: 'public.trial_prices',
      key: ['workspace_id', 'sku', 'tier', 'day'],
      requires: ['sku', 'day'],
      columns: {
        workspace_id: '$workspace',
        sku: 'sku',
        tier: 'tier',
        day: 'day',
        price: 'price',
        note: 'note',
      },
    },
  ],
}

export interface StagedLine {
  /** Field → value; a field that no line has is not in the file. */
  readonly [field: string]: string | number | boolean | null
}

export interface StageOptions {
  dataset?: Dataset
  workspace?: string
  client?: string | null
  hash?: string
  runMode?: string
  /** Lines (by position) that the reader found wrong or left out. */
  invalid?: readonly number[]
  skipped?: readonly number[]
  /** Fields of the file where no line is there to tell. */
  fields?: readonly string[]
  uploadedBy?: string
  /** Of the file. */
  headers?: readonly string[]
  cursor?: { name: string; value: unknown }
}

export interface Planned {
  upload_id: string
  digest: string
  totals: Record<string, Record<string, number>>
  refusal: string | null
  review_record_id: string | null
}

export interface TrialIngest extends TestIngest {
  /** Begins and stages in one transaction; lines are numbered from 2, as in a file with a header. */
  stage(lines: readonly StagedLine[], options?: StageOptions): Promise<string>
  planned(
    upload: string,
    mode?: 'STRICT' | 'LENIENT',
    threshold?: number,
    onConflict?: 'keep_theirs' | 'use_mine',
  ): Promise<Planned>
  stagePlanned(
    lines: readonly StagedLine[],
    options?: StageOptions,
    mode?: 'STRICT' | 'LENIENT',
  ): Promise<Planned>
  promote(plan: Planned): Promise<Record<string, unknown>>
  /** Handed in by the operator, approved by the reviewer with every box ticked. */
  approved(plan: Planned): Promise<void>
  undo(upload: string, digest?: string): Promise<{ undo_totals: Record<string, Record<string, number>> }>
  promoted(
    lines: readonly StagedLine[],
    options?: StageOptions,
    mode?: 'STRICT' | 'LENIENT',
  ): Promise<Planned>
  /** Every row of the tables as text, in order: what a test compares before and after. */
  image(tables?: readonly string[]): Promise<Record<string, string[]>>
}

/** What promotion and undo write, ours and the target tables: everything that must not change when they are refused. */
export const WRITTEN_TABLES = [
  ...TRIAL_TABLES.map((table) => `public.${table}`),
  'public.staging_rows',
  'public.staging_id_resolution',
  'iu_core.ingest_upload',
  'iu_core.ingest_plan',
  'iu_core.ingest_plan_row',
  'iu_core.ingest_conflict_answer',
  'iu_core.ingest_kept_cell',
  'iu_core.ingest_plan_mark',
  'iu_core.ingest_promotion',
  'iu_core.ingest_ledger',
  'iu_core.ingest_cursor',
  'iu_core.event_outbox',
  'iu_core.dot_iu_command_run',
  'iu_core.iu_staging_record',
  'public.data_uploads',
]

export function useTrial(db: TestDatabase, settings: { approval?: boolean } = {}): TrialIngest {
  const ingest = useIngest(db, settings)
  beforeAll(async () => {
    await db.owner(TABLES)
    for (const dataset of [TRIAL, PRICES])
      await ingest.register(dataset, { approvalRequired: settings.approval ?? false })
  })
  const trial: TrialIngest = Object.assign(ingest, {
    stage: (lines: readonly StagedLine[], options: StageOptions = {}) => stage(db, ingest, lines, options),
    async planned(upload: string, mode = 'STRICT', threshold = 0.9, onConflict?: string) {
      const [plan] = await ingest.service<Planned>(
        'select * from iu_core.fn_ingest_plan($1, $2, $3, p_on_conflict => $4)',
        [upload, mode, threshold, onConflict ?? null],
      )
      return plan!
    },
    async stagePlanned(lines: readonly StagedLine[], options: StageOptions = {}, mode = 'STRICT' as const) {
      return trial.planned(await trial.stage(lines, options), mode)
    },
    async promote(plan: Planned) {
      const [row] = await ingest.service<Record<string, unknown>>(
        'select * from iu_core.fn_ingest_promote($1, $2)',
        [plan.upload_id, plan.digest],
      )
      return row!
    },
    async approved({ upload_id, digest }: Planned) {
      await ingest.service('select iu_core.fn_ingest_submit($1, $2, $3)', [
        upload_id,
        digest,
        ingest.operator.userId,
      ])
      await db.as(ingest.reviewer, async (client) =>
        client.query('select iu_core.fn_ingest_approve($1, $2, $3)', [
          upload_id,
          digest,
          await boxes(db, upload_id),
        ]),
      )
    },
    async promoted(lines: readonly StagedLine[], options: StageOptions = {}, mode = 'STRICT' as const) {
      const plan = await trial.stagePlanned(lines, options, mode)
      await trial.promote(plan)
      return plan
    },
    async undo(upload: string, digest?: string) {
      const [row] = await ingest.service<{ undo_totals: Record<string, Record<string, number>> }>(
        'select * from iu_core.fn_ingest_undo($1, $2)',
        [upload, digest ?? null],
      )
      return row!
    },
    async image(tables: readonly string[] = WRITTEN_TABLES) {
      const parts = tables.map(
        (table) =>
          `select '${table}' as name, coalesce(array_agg(t::text order by t::text), '{}') as rows from ${table} t`,
      )
      const rows = await db.owner<{ name: string; rows: string[] }>(parts.join(' union all '))
      return Object.fromEntries(rows.map(({ name, rows }) => [name, rows]))
    },
  }) as TrialIngest
  return trial
}

async function stage(
  db: TestDatabase,
  ingest: TestIngest,
  lines: readonly StagedLine[],
  options: StageOptions,
): Promise<string> {
  const dataset = options.dataset ?? TRIAL
  const platform = Object.keys(dataset.platforms)[0]!
  const leaf = dataset.rows[dataset.rows.length - 1]!.name
  const fields = [...new Set([...(options.fields ?? []), ...lines.flatMap((line) => Object.keys(line))])]
  const rowTypes = dataset.rows
    .filter(({ requires }) => requires.every((one) => one.split('|').some((field) => fields.includes(field))))
    .map(({ name }) => name)
  const layout = { fields, row_types: rowTypes, leaf }
  const staged = lines.map((line, place) => ({
    row_number: place + 2,
    raw_payload: Object.fromEntries(
      Object.entries(line).map(([key, value]) => [key, value === null ? '' : String(value)]),
    ),
    normalized_payload: { ...line, ...identities(dataset, rowTypes, fields, line) },
    ...verdict(place, options),
  }))
  return inTransaction(
    db.pool('stagedoor_worker'),
    async (client) => {
      const { rows: begun } = await client.query(
        `select * from iu_core.fn_ingest_begin(p_workspace_id => $1, p_dataset => $2, p_platform => $3, p_file_name => 'rows.csv',
           p_file_hash => $4, p_byte_len => 1, p_client_id => $5, p_run_mode => $6, p_uploaded_by => $7,
           p_cursor_name => $8, p_cursor_value => $9)`,
        [
          options.workspace ?? ingest.workspace,
          dataset.name,
          platform,
          options.hash ?? sha256(randomUUID()),
          dataset.client ? (options.client ?? ingest.client) : null,
          options.runMode ?? 'SAFE_PROD',
          options.uploadedBy ?? ingest.operator.userId,
          options.cursor?.name ?? null,
          options.cursor ? JSON.stringify(options.cursor.value) : null,
        ],
      )
      const [{ upload_id, reader_token, created }] = begun
      if (!created) return upload_id
      await client.query(
        `insert into public.staging_rows (workspace_id, client_id, upload_id, platform, row_type, row_number, raw_payload,
                                          normalized_payload, validation_status, validation_errors, validation_warnings)
         select u.workspace_id, u.client_id, u.upload_id, u.platform, $2, r.row_number, r.raw_payload, r.normalized_payload,
                r.validation_status, r.validation_errors, r.validation_warnings
           from iu_core.ingest_upload u, jsonb_to_recordset($3) as r (row_number integer, raw_payload jsonb,
                normalized_payload jsonb, validation_status public.staging_validation_status, validation_errors jsonb,
                validation_warnings jsonb)
          where u.upload_id = $1`,
        [upload_id, leaf, JSON.stringify(staged)],
      )
      await client.query('select iu_core.fn_ingest_complete_reading($1, $2, $3, $4)', [
        upload_id,
        reader_token,
        JSON.stringify({ layout, lines: lines.length, ...(options.headers && { headers: options.headers }) }),
        '[]',
      ])
      return upload_id
    },
    { role: 'service_role' },
  )
}

function verdict(place: number, { invalid = [], skipped = [] }: StageOptions) {
  const problem = [{ line: place + 2, rule: 'test.said_so', message: 'The test says so.' }]
  if (invalid.includes(place))
    return { validation_status: 'invalid', validation_errors: problem, validation_warnings: [] }
  if (skipped.includes(place))
    return { validation_status: 'skipped', validation_errors: [], validation_warnings: problem }
  return { validation_status: 'valid', validation_errors: [], validation_warnings: [] }
}

/** As the compiled statement writes them: the id, or where the file has no id column the names from the root. */
export function identities(dataset: Dataset, rowTypes: string[], fields: string[], line: StagedLine) {
  const found: Record<string, string | null> = {}
  const names: unknown[] = []
  for (const { name, identity } of dataset.rows) {
    if (!identity || !rowTypes.includes(name)) continue
    names.push(line[identity.name ?? ''] ?? null)
    const byId = identity.id !== undefined && fields.includes(identity.id)
    if (byId) found[`@${name}`] = (line[identity.id!] as string | null) ?? null
    else
      found[`@${name}`] = names.at(-1) === null ? null : `name:${sha256(JSON.stringify(names)).slice(0, 32)}`
  }
  return found
}

export function sha256(value: string): string {
  return createHash('sha256').update(value).digest('hex')
}

/** The ids of what a reviewer must have looked at. */
export async function boxes(db: TestDatabase, upload: string): Promise<string[]> {
  const [plan] = await db.owner<{ left_out: boolean; deleted: boolean }>(
    `select exists (select from iu_core.ingest_plan_row p where p.upload_id = u.upload_id and p.action = 'delete') as deleted,
            u.invalid_count > 0 or exists (select from iu_core.ingest_plan_row p
                                            where p.upload_id = u.upload_id and p.action = 'refused') as left_out
       from iu_core.ingest_upload u where upload_id = $1`,
    [upload],
  )
  return ['changes', ...(plan!.left_out ? ['left_out'] : []), ...(plan!.deleted ? ['deleted'] : [])]
}
