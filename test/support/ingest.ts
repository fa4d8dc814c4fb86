/** Everything an upload needs: the ad tables, the dataset, a workspace with a client, and people. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { beforeAll } from 'vitest'
import type { Dataset } from '../../src/ingest/datasets/dataset.ts'
import { type RegistrationOptions, registerDataset } from '../../src/ingest/datasets/registry.ts'
import { registerPack } from '../../src/ingest/packs.ts'
import {
  backEndActor,
  type IngestOptions,
  type IngestSource,
  ingest,
  queueUpload,
} from '../../src/ingest/pipeline.ts'
import { type Plan, planUpload } from '../../src/ingest/plan.ts'
import { homeUploadFiles, type UploadFiles } from '../../src/ingest/upload-files.ts'
import { findUpload, requireUpload, type Upload } from '../../src/ingest/uploads.ts'
import { inTransaction } from '../../src/kernel/postgres/transaction.ts'
import type { TestDatabase } from './database.ts'
import { createMember, createWorkspace, type Member } from './factories.ts'
import { MIGRATOR } from './template.ts'
import { temporaryHome } from './temporary-home.ts'

export interface TestIngest {
  readonly home: string
  workspace: string
  client: string
  operator: Member
  reviewer: Member
  agent: Member
  /** Writes the text as a file and ingests it for the workspace's client, by default without approval. */
  file(text: string | Buffer, options?: Partial<IngestOptions> & { name?: string }): Promise<Upload>
  run(source: IngestSource, options?: Partial<IngestOptions>): Promise<Upload>
  /** Stores the text as a file for a job, as HTTP does. Returns the id of the upload. */
  queue(text: string, files?: UploadFiles): Promise<string>
  plan(upload: string, options?: Parameters<typeof planUpload>[2]): Promise<Plan>
  find(upload: string): Promise<Upload>
  /** One statement as the back end. */
  service<R>(sql: string, values?: unknown[]): Promise<R[]>
  register(dataset: Dataset, options?: RegistrationOptions): Promise<void>
}

export function useIngest(db: TestDatabase, settings: { approval?: boolean } = {}): TestIngest {
  const home = temporaryHome('ingest')
  let files = 0
  const service = <T>(work: Parameters<typeof inTransaction<T>>[1]) =>
    inTransaction(db.pool('stagedoor_worker'), work, { role: 'service_role' })
  const target = () => ({
    dataset: 'ads',
    platform: 'meta',
    workspaceId: ingested.workspace,
    clientId: ingested.client,
  })
  const ingested: TestIngest = {
    home,
    workspace: '',
    client: '',
    operator: undefined as never,
    reviewer: undefined as never,
    agent: undefined as never,
    async file(text, { name, ...options } = {}) {
      const path = join(home, name ?? `file-${++files}.csv`)
      writeFileSync(path, text)
      return ingested.run(path, options)
    },
    async run(source, options = {}) {
      const pool = db.pool('stagedoor_worker')
      const { upload, created, stopped } = await ingest({ pool, home }, source, {
        ...target(),
        actor: backEndActor(pool, ingested.operator.userId),
        until: 'planned',
        ...options,
      })
      if (stopped && created) throw stopped
      return upload
    },
    async queue(text, stores = homeUploadFiles(home)) {
      const pool = db.pool('stagedoor_worker')
      const stored = await stores.put(Readable.from([text]))
      const { upload_id } = await queueUpload(
        { pool, home, files: stores },
        stored,
        { ...target(), actor: backEndActor(pool, ingested.operator.userId), until: 'planned' },
        findUpload,
      )
      return upload_id
    },
    plan: (upload, options) => service((client) => planUpload(client, upload, options)),
    find: (upload) => service((client) => requireUpload(client, upload)),
    service: (sql, values = []) =>
      service(async (client) => (await client.query(sql, values)).rows) as Promise<never[]>,
    register: (dataset, options) =>
      inTransaction(db.pool(MIGRATOR), (client) => registerDataset(client, dataset, options)),
  }
  beforeAll(async () => {
    await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`)
    await inTransaction(db.pool(MIGRATOR), (client) => registerPack(client, 'ads'))
    if (!settings.approval) await db.owner('update iu_core.ingest_dataset set approval_required = false')
    ingested.workspace = await createWorkspace(db)
    ingested.client = await createClient(db, ingested.workspace, 'Northwind')
    ingested.operator = await createMember(db, ingested.workspace, 'operator')
    ingested.reviewer = await createMember(db, ingested.workspace, 'reviewer')
    ingested.agent = await createMember(db, ingested.workspace, 'agent')
  })
  return ingested
}

export async function createClient(db: TestDatabase, workspace: string, name: string): Promise<string> {
  const [row] = await db.owner<{ id: string }>(
    'insert into public.clients (workspace_id, name) values ($1, $2) returning id',
    [workspace, name],
  )
  return row!.id
}
