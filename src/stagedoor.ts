/** The library: one database, the modules over it, closed together. */
import { readConfig } from './config.ts'
import { createPool } from './db/connection.ts'
import { createHealthProbe, type HealthCheck } from './db/health.ts'
import { type MigrationPlan, migrate, planMigration } from './db/migrate/migrate.ts'
import { type Database, openDatabase } from './db/open.ts'
import { inTransaction } from './db/transaction.ts'
import * as outbox from './events/outbox.ts'
import * as gates from './gates/gates.ts'

export interface StagedoorOptions {
  /** Your PostgreSQL; without it the embedded server in `home` is started. */
  readonly databaseUrl?: string
  /** Folder of the embedded server; default `.stagedoor`. */
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
    emit(events: readonly outbox.NewEvent[]): Promise<string[]>
    register(reader: string, options?: { fromBeginning?: boolean }): Promise<boolean>
    /**
     * Hands the reader's next events to `work` and moves the watermark when it resolves: nothing is lost,
     * and what `work` writes through `client` is committed with the watermark, so exactly once.
     * Returns how many there were.
     */
    read(
      reader: string,
      work: (
        events: outbox.OutboxEvent[],
        client: Parameters<Parameters<typeof inTransaction>[1]>[0],
      ) => Promise<void>,
      options?: { limit?: number },
    ): Promise<number>
    list(page?: { limit?: number; before?: string }): Promise<outbox.OutboxEvent[]>
  }
  health(): Promise<HealthCheck[]>
  plan(): Promise<MigrationPlan>
  migrate(): Promise<MigrationPlan>
  close(): Promise<void>
}

export async function createStagedoor(options: StagedoorOptions = {}): Promise<Stagedoor> {
  const config = readConfig(process.env, {
    ...(options.databaseUrl !== undefined && { databaseUrl: options.databaseUrl }),
    ...(options.home !== undefined && { home: options.home }),
  })
  const database = await openDatabase(config, { share: true })
  return assemble(database)
}

/** For the CLI and the server, which open the database themselves. */
export function assemble(database: Database): Stagedoor {
  const workers = createPool(database.workerUrl, { role: 'dot_executor', purpose: 'library', max: 4 })
  const administrator = createPool(database.directUrl, {
    role: 'workflow_admin',
    purpose: 'administration',
    max: 2,
  })
  const probe = createHealthProbe()
  const worker = <T>(work: Parameters<typeof inTransaction<T>>[1]) => inTransaction(workers, work)
  const admin = <T>(work: Parameters<typeof inTransaction<T>>[1]) => inTransaction(administrator, work)
  return {
    gates: {
      list: () => worker(gates.listGates),
      open: (gate, reason) => admin((client) => gates.setGate(client, gate, true, reason)),
      close: (gate, reason) => admin((client) => gates.setGate(client, gate, false, reason)),
      history: (gate) => worker((client) => gates.gateHistory(client, gate)),
    },
    events: {
      emit: (events) => worker((client) => outbox.emitEvents(client, events)),
      register: (reader, { fromBeginning = false } = {}) =>
        worker((client) => outbox.registerReader(client, reader, fromBeginning)),
      read: (reader, work, { limit = 1000 } = {}) =>
        worker(async (client) => {
          const events = await outbox.readEvents(client, reader, limit)
          if (events.length > 0) await work(events, client)
          return events.length
        }),
      list: ({ limit = 50, before } = {}) =>
        worker((client) => outbox.listEvents(client, { limit, ...(before !== undefined && { before }) })),
    },
    health: () => worker(probe),
    plan: () => planMigration({ url: database.directUrl }),
    migrate: () => migrate({ url: database.directUrl }),
    async close() {
      await Promise.all([workers.end(), administrator.end()])
      await database.close()
    },
  }
}
