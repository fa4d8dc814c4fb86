/** The library: one database, the rooms over it, closed together. */
import { listWorkspaces, type Workspace } from '../access/members.ts'
import { type Changes, changesLibrary } from '../changes/library.ts'
import { type Consumers, consumersLibrary, type Routes, routesLibrary } from '../events/library.ts'
import * as outbox from '../events/outbox.ts'
import {
  type Executions,
  executionsLibrary,
  type Playbooks,
  playbooksLibrary,
} from '../executions/library.ts'
import * as gates from '../gates/gates.ts'
import { type Ingest, ingestLibrary } from '../ingest/library.ts'
import { type Jobs, jobsLibrary, type Schedules, schedulesLibrary } from '../jobs/library.ts'
import { type Config, readConfig } from '../kernel/config.ts'
import { StagedoorError } from '../kernel/errors.ts'
import { type Client, createPool, inStatement } from '../kernel/postgres/connection.ts'
import { createHealthProbe, type HealthCheck } from '../kernel/postgres/health.ts'
import { type MigrationPlan, migrate, planMigration } from '../kernel/postgres/migrate/migrate.ts'
import { type Database, openDatabase } from '../kernel/postgres/open.ts'
import { inTransaction, SERVICE_ROLE } from '../kernel/postgres/transaction.ts'
import type { Search } from '../search/library.ts'
import { type SearchTables, searchTablesLibrary } from '../search/tables.ts'
import { withBlobHealth } from '../staging/blobs.ts'
import { deleteTrash } from '../staging/maintenance.ts'
import * as records from '../staging/records.ts'
import { type Documents, documentsLibrary, type Topics, topicsLibrary } from '../units/library.ts'
import { type Approvals, approvalsLibrary, type RequireApproval } from './approvals.ts'
import { createSearch, withStoreHealth } from './search.ts'
import { blobProof, knownBlobs, openStores } from './stores.ts'
import { readTrace, type Trace } from './trace.ts'
import { type Units, unitsOf } from './units.ts'
import { libraryWork, type Work, type WorkOptions } from './work.ts'

export interface StagedoorOptions {
  /** Your PostgreSQL; without it (and without DATABASE_URL) the embedded server in `home` is started. */
  readonly databaseUrl?: string
  /** The same database directly and as the login that migrates; default: `databaseUrl`. */
  readonly databaseDirectUrl?: string
  /** Folder of the embedded server, of the blobs (`blobs` in it), of uploaded files (`uploads`, `spool`); default `.stagedoor`. */
  readonly home?: string
}

export interface Stagedoor {
  readonly gates: {
    list(): Promise<gates.Gate[]>
    /** Returns whether it was closed before. */
    open(gate: string, reason?: string): Promise<boolean>
    close(gate: string, reason?: string): Promise<boolean>
    history(gate?: string): Promise<gates.GateChange[]>
  }
  readonly events: {
    /** With `client` in your own transaction: rolled back, there is no event. Its role must be able to emit. */
    emit(events: readonly outbox.NewEvent[], options?: { client?: Client }): Promise<string[]>
    register(reader: string, options?: { fromBeginning?: boolean }): Promise<boolean>
    /** Deletes the reader with its position: registered again, it starts from the beginning. Returns whether it existed. */
    delete(reader: string): Promise<boolean>
    /**
     * Hands the reader's next events to `work` and moves the watermark when it resolves: nothing is lost,
     * and what `work` writes through `client` is committed with the watermark, so exactly once.
     * Returns how many there were.
     */
    read(
      reader: string,
      work: (events: outbox.OutboxEvent[], client: Client) => Promise<void>,
      options?: { limit?: number },
    ): Promise<number>
    list(page?: { limit?: number; after?: string }): Promise<outbox.OutboxEvent[]>
  }
  /** Tenants. */
  readonly workspaces: {
    list(): Promise<Workspace[]>
  }
  /**
   * Acts as the back end (service_role), for others where they are named (`owner_actor`, `approvedBy`). What people do
   * goes through the API, under their own role. Blobs are proved before approval and consumption if they are those of
   * `home`: always with the embedded server, else if there is a folder `blobs` in it.
   */
  readonly staging: {
    /** As an object, or as JSON text, which keeps what JavaScript rounds: numbers beyond 2^53. */
    create(record: records.NewRecord | string): Promise<records.CreatedRecord>
    list(filter?: Partial<records.RecordFilter>): Promise<records.StagingRecord[]>
    get(id: string): Promise<records.StagingRecord | undefined>
    part(id: string, index: number): Promise<records.Part | undefined>
    checklist(id: string): Promise<records.ChecklistItem[]>
    tick(id: string, item: string, ticked?: boolean, note?: string): Promise<void>
    /** `digest` is the one that was looked at; other bytes, no approval. */
    approve(id: string, decision: Parameters<typeof records.approveRecord>[2]): Promise<void>
    reject(id: string, reason: string): Promise<void>
    withdraw(id: string): Promise<void>
    /** Returns the run's id. */
    consume(id: string, consumer?: Parameters<typeof records.consumeRecord>[2]): Promise<string>
    unregister(id: string): Promise<void>
    expire(limit?: number): Promise<number>
    /** With the embedded server the blobs of what was cleaned go, too; elsewhere the server deletes them in a while. */
    cleanup(scope?: records.CleanupScope): Promise<records.CleanupResult>
    health(sample?: number): Promise<records.StagingHealth>
  }
  /** Ask a person, and wait for the decision: one awaited line. */
  readonly approvals: Approvals
  /** A function that runs only after a person has approved its arguments, once. */
  readonly requireApproval: RequireApproval
  readonly ingest: Ingest
  /** What is reviewed, by its number: status, conversation, reviewers, history. */
  readonly changes: Changes
  readonly jobs: Jobs
  readonly schedules: Schedules
  /** What happens to your tables becomes events. */
  readonly routes: Routes
  /** Events become jobs. */
  readonly consumers: Consumers
  readonly playbooks: Playbooks
  /** Durable work: playbooks on an append-only log. */
  readonly executions: Executions
  /** Knowledge in pieces: versions for good, from documents through review. */
  readonly units: Units
  /** The words that units may carry as topics. */
  readonly topics: Topics
  /** What was cut into units. */
  readonly documents: Documents
  /** Units and documents by words and by meaning, with their freshness. */
  readonly search: Search
  /** Your own tables in search. */
  readonly searchTables: SearchTables
  /**
   * Runs this program as a Stagedoor process, until `stop` of it or `close` of the whole: the roles that the options name, and all
   * maintenance (partitions, retention, expiry of staging, work of dead processes). `jobs.work`, `executions.work` and
   * `search.work` run one role each.
   */
  work(options: WorkOptions): Promise<Work>
  /** From a change to its effects, by the id of any event, job or execution among them. */
  trace(id: string): Promise<Trace>
  health(): Promise<HealthCheck[]>
  plan(): Promise<MigrationPlan>
  migrate(): Promise<MigrationPlan>
  close(): Promise<void>
}

export async function createStagedoor(options: StagedoorOptions = {}): Promise<Stagedoor> {
  const { databaseUrl, databaseDirectUrl = databaseUrl } = options
  const config = readConfig(process.env, {
    // Given together: a DATABASE_DIRECT_URL of the environment may be another database's.
    ...(databaseUrl !== undefined && { databaseUrl }),
    ...(databaseDirectUrl !== undefined && { databaseDirectUrl }),
    ...(options.home !== undefined && { home: options.home }),
  })
  for (const { setting, suggestion } of config.unknown)
    process.emitWarning(`${setting} is not a setting of Stagedoor and has no effect${suggestion}`)
  const database = await openDatabase(config, { share: true, announce: true })
  return assemble(database, config)
}

/** For commands of the CLI, which open the database themselves. */
export function assemble(database: Database, config: Config): Stagedoor {
  const { home } = config
  const stores = openStores(config)
  const blobs = knownBlobs(database, stores)
  const workers = createPool(database.workerUrl, { role: 'dot_executor', purpose: 'library', max: 4 })
  const administrator = createPool(database.directUrl, {
    role: 'workflow_admin',
    purpose: 'administration',
    max: 2,
  })
  const probe = createHealthProbe()
  const worker = <T>(work: (client: Client) => Promise<T>) => inTransaction(workers, work)
  const statement = <T>(work: (client: Client) => Promise<T>) => inStatement(workers, work)
  const service = <T>(work: (client: Client) => Promise<T>) => inTransaction(workers, work, SERVICE_ROLE)
  const { prove } = blobProof(database, stores)
  const admin = <T>(work: (client: Client) => Promise<T>) => inTransaction(administrator, work)
  const { work, ...starters } = libraryWork(config, database)
  const proposals =
    database.proposalUrl === undefined
      ? undefined
      : createPool(database.proposalUrl, { purpose: 'proposals', max: 2 })
  const ingest = ingestLibrary({
    pool: workers,
    home,
    files: stores.uploads,
    proposalPool: proposals,
    service,
    admin,
  })
  const asking = approvalsLibrary({ service, listenUrl: database.workerUrl })
  const search = createSearch({ config, database, pool: workers, statement })
  return {
    gates: {
      list: () => worker(gates.listGates),
      open: (gate, reason) => admin((client) => gates.setGate(client, gate, true, reason)),
      close: (gate, reason) => admin((client) => gates.setGate(client, gate, false, reason)),
      history: (gate) => worker((client) => gates.gateHistory(client, gate)),
    },
    workspaces: { list: () => service(listWorkspaces) },
    events: {
      emit: (events, { client } = {}) =>
        client ? outbox.emitEvents(client, events) : worker((own) => outbox.emitEvents(own, events)),
      register: (reader, { fromBeginning = false } = {}) =>
        worker((client) => outbox.registerReader(client, reader, fromBeginning)),
      delete: (reader) => worker((client) => outbox.deleteReader(client, reader)),
      read: (reader, work, { limit = 1000 } = {}) =>
        worker(async (client) => {
          const events = await outbox.readEvents(client, reader, limit)
          if (events.length > 0) await work(events, client)
          return events.length
        }),
      list: ({ limit = 50, after } = {}) =>
        worker((client) => outbox.listEvents(client, { limit, ...(after !== undefined && { after }) })),
    },
    staging: {
      create: (record) => service((client) => records.createRecord(client, textOf(record))),
      list: (filter = {}) => service((client) => records.listRecords(client, { limit: 50, ...filter })),
      get: (id) => service((client) => records.findRecord(client, id)),
      part: (id, index) => service((client) => records.readPart(client, id, index)),
      checklist: (id) => service((client) => records.readChecklist(client, id)),
      tick: (id, item, ticked = true, note) =>
        service((client) => records.tickItem(client, id, item, { ticked, note })),
      approve: (id, decision) =>
        service(async (client) => {
          await prove?.(client, id)
          await records.approveRecord(client, id, decision)
        }),
      reject: (id, reason) => service((client) => records.rejectRecord(client, id, reason)),
      withdraw: (id) => service((client) => records.withdrawRecord(client, id)),
      consume: (id, consumer = {}) =>
        service(async (client) => {
          await prove?.(client, id)
          return records.consumeRecord(client, id, consumer)
        }),
      unregister: (id) => service((client) => records.unregisterRecord(client, id)),
      expire: (limit) => service((client) => records.expireRecords(client, limit)),
      async cleanup(scope) {
        const result = await service((client) => records.cleanRecords(client, scope))
        // Only the embedded server's blobs are surely the ones in this folder.
        if (blobs && database.kind === 'embedded' && !result.dry_run) {
          while ((await service((client) => deleteTrash(client, blobs))) > 0);
        }
        return result
      },
      health: async (sample) => {
        const zone = await service(async (client) => {
          const health = await records.stagingHealth(client, sample)
          return blobs ? withBlobHealth(client, blobs, health, sample) : health
        })
        return withStoreHealth(workers, config, zone)
      },
    },
    approvals: asking.approvals,
    requireApproval: asking.requireApproval,
    ingest,
    changes: changesLibrary({ service }),
    jobs: jobsLibrary({ pool: workers, worker, ...starters }),
    schedules: schedulesLibrary({ worker }),
    routes: routesLibrary({ admin, service, worker }),
    consumers: consumersLibrary({ admin, administrator, service, worker }),
    playbooks: playbooksLibrary({ worker }),
    executions: executionsLibrary({ pool: workers, worker, ...starters }),
    units: unitsOf({ worker, statement, service }),
    topics: topicsLibrary({ statement }),
    documents: documentsLibrary({ worker }),
    search: { ...search, work: (options = {}) => starters.startSearchWorker(options) },
    searchTables: searchTablesLibrary({ admin, service, worker }),
    work,
    trace: (id) => worker((client) => readTrace(client, id)),
    health: () => worker(probe),
    plan: () => planMigration({ url: database.directUrl }),
    migrate: () => migrate({ url: database.directUrl }),
    async close() {
      await asking.close()
      await starters.close()
      await ingest.close()
      await search.close()
      stores.close()
      await Promise.all([workers.end(), administrator.end(), proposals?.end()])
      await database.close()
    },
  }
}

function textOf(record: records.NewRecord | string): string {
  if (typeof record === 'string') return record
  try {
    return JSON.stringify(record)
  } catch (error) {
    const reason = `The record cannot be written as JSON (${(error as Error).message}); give its JSON text instead`
    throw new StagedoorError('argument_invalid', { reason }, { cause: error })
  }
}
