/** Pull requests for SQL: tables of somebody else that are opened, statements that are proposed, promoted and undone. */
import { afterAll, beforeAll } from 'vitest'
import { backEndActor, promotePlan } from '../../src/ingest/pipeline.ts'
import { undoUpload } from '../../src/ingest/promotion.ts'
import {
  type OpenTableOptions,
  openProposalTable,
  type ProposalOptions,
  type ProposalTable,
  proposalGrants,
  propose,
} from '../../src/ingest/proposals/proposals.ts'
import type { Upload } from '../../src/ingest/uploads.ts'
import { asStagedoorError } from '../../src/kernel/errors.ts'
import { type Client, createPool, type Pool } from '../../src/kernel/postgres/connection.ts'
import { inTransaction, SERVICE_ROLE } from '../../src/kernel/postgres/transaction.ts'
import type { TestDatabase } from './database.ts'
import { createMember, createWorkspace, type Member } from './factories.ts'
import { MIGRATOR } from './template.ts'

export interface TestProposals {
  workspace: string
  operator: Member
  reviewer: Member
  agent: Member
  proposalPool: Pool
  /** As the superuser, who owns the tables. */
  sql<R>(text: string): Promise<R[]>
  /** Creates tables, opens them and grants what the statements say that come back. */
  open(table: string, options?: Partial<OpenTableOptions>): Promise<ProposalTable>
  propose(statement: string, options?: Partial<ProposalOptions>): Promise<Upload>
  promote(upload: Upload): Promise<void>
  undo(upload: Upload): Promise<void>
  /** Every row as PostgreSQL writes it, in order. */
  image(table: string): Promise<string[]>
}

/** Opens a table to which workflow_admin has its rights already, and grants what comes back. */
export async function openToStatements(db: TestDatabase, workspaceId: string, table: string): Promise<void> {
  const grants = await inTransaction(db.pool(MIGRATOR), async (client) => {
    await openProposalTable(client, table, { workspaceId })
    return proposalGrants(client, table)
  })
  await db.pool('postgres').query(grants.join('\n'))
}

export function useProposals(db: TestDatabase, settings: { approval?: boolean } = {}): TestProposals {
  const admin = <T>(work: (client: Client) => Promise<T>) => inTransaction(db.pool(MIGRATOR), work)
  const test: TestProposals = {
    workspace: '',
    operator: undefined as never,
    reviewer: undefined as never,
    agent: undefined as never,
    proposalPool: undefined as never,
    sql: async (text) => (await db.pool('postgres').query(text)).rows as never[],
    async open(table, options = {}) {
      const openIt = () =>
        admin((client) => openProposalTable(client, table, { workspaceId: test.workspace, ...options }))
      const refused = await openIt().then(
        () => undefined,
        (error) => asStagedoorError(error),
      )
      if (refused) {
        if (refused.code !== 'dataset_invalid') throw refused
        await test.sql((refused.details.statements as string[]).join('\n'))
      }
      const opened = await openIt()
      if (!settings.approval)
        await db.owner('update iu_core.ingest_dataset set approval_required = false where dataset = $1', [
          opened.dataset,
        ])
      await test.sql((await admin((client) => proposalGrants(client, opened.target))).join('\n'))
      return opened
    },
    async propose(statement, options = {}) {
      const pool = db.pool('stagedoor_worker')
      const { upload } = await propose({ pool, home: '', proposalPool: test.proposalPool }, statement, {
        actor: backEndActor(pool, test.operator.userId),
        workspaceId: test.workspace,
        ...options,
      })
      return upload
    },
    async promote({ upload_id, plan_digest }) {
      const pool = db.pool('stagedoor_worker')
      await promotePlan({ pool }, backEndActor(pool, test.operator.userId), upload_id, plan_digest!)
    },
    async undo({ upload_id }) {
      await inTransaction(
        db.pool('stagedoor_worker'),
        (client) => undoUpload(client, upload_id, { undoneBy: test.reviewer.userId }),
        SERVICE_ROLE,
      )
    },
    image: async (table) =>
      (await test.sql<{ row: string }>(`select t::text as row from ${table} t order by 1`)).map(
        ({ row }) => row,
      ),
  }
  beforeAll(async () => {
    await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`)
    test.workspace = await createWorkspace(db)
    test.operator = await createMember(db, test.workspace, 'operator')
    test.reviewer = await createMember(db, test.workspace, 'reviewer')
    test.agent = await createMember(db, test.workspace, 'agent')
    test.proposalPool = createPool(db.url('stagedoor_proposer'), { max: 4, purpose: 'proposals' })
  })
  afterAll(() => test.proposalPool.end())
  return test
}
