/** Executions of the library: those of the room, with the tools of this machine and handlers of the program's. */
import type { Config } from '../config.ts'
import type { Client, Pool } from '../db/connection.ts'
import type { Database } from '../db/open.ts'
import type { Engine } from '../executions/engine/engine.ts'
import { executionsLibrary, type Executions as Room, type WorkOptions } from '../executions/library.ts'
import type { PlaybookHandlers } from '../executions/tool.ts'
import { handlerTool } from '../executions/tools/handler.ts'
import type { Ingest } from '../ingest/library.ts'
import { type Equipment, playbookEquipment } from './playbook-equipment.ts'

export interface Executions extends Omit<Room, 'work'> {
  /** Drives executions and runs their steps in this process until it is stopped, or until `close` of the whole. */
  work(options?: WorkOptions & { readonly handlers?: PlaybookHandlers }): Promise<Engine>
}

interface Surroundings {
  readonly config: Config
  readonly database: Database
  /** As dot_executor. */
  readonly pool: Pool
  worker<T>(work: (client: Client) => Promise<T>): Promise<T>
  readonly ingest: Ingest
  prove(client: Client, record: string): Promise<void>
}

export function executionsOf(around: Surroundings): Executions & { close(): Promise<void> } {
  const { config, database, pool, worker, ingest, prove } = around
  const equipped: Equipment[] = []
  const room = executionsLibrary({
    pool,
    workerUrl: database.workerUrl,
    worker,
    equip(own, tools) {
      const equipment = playbookEquipment({ config, database, pool: own, tools, ingest, prove })
      equipped.push(equipment)
      return equipment
    },
  })
  return {
    ...room,
    work: ({ handlers, tools, ...options } = {}) =>
      room.work({ ...options, tools: { ...(handlers && { handler: handlerTool(handlers) }), ...tools } }),
    async close() {
      await room.close()
      await Promise.all(equipped.map((one) => one.close()))
    },
  }
}
