/** Executions that a program starts at the same time go to the database together: one statement in flight, the others ride the next. */
import { setImmediate } from 'node:timers/promises'
import type { Pool, Queryable } from '../db/connection.ts'
import { mapDatabaseError } from '../db/database-error.ts'
import { isConnectionError } from '../db/transient.ts'
import type { JsonObject } from './playbook/definition.ts'
import { type StartOptions, startExecution } from './steering.ts'

export interface Start {
  readonly playbook: string
  readonly args: JsonObject
  readonly options: StartOptions
}

interface Waiting extends Start {
  resolve(id: string): void
  reject(error: unknown): void
}

const MOST = 500

export class Starts {
  private readonly pool: Pool
  private waiting: Waiting[] = []
  private sending: Promise<void> | undefined

  constructor(pool: Pool) {
    this.pool = pool
  }

  /** Resolves with its id, when that is committed. */
  add(start: Start): Promise<string> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ ...start, resolve, reject })
      this.sending ??= this.send()
    })
  }

  private async send(): Promise<void> {
    await setImmediate()
    try {
      while (this.waiting.length > 0) await this.startAll(this.waiting.splice(0, MOST))
    } finally {
      // In the same breath as the last look: who asks a moment later begins anew.
      this.sending = undefined
    }
  }

  private async startAll(starts: readonly Waiting[]): Promise<void> {
    if (starts.length === 1) return this.startOne(starts[0]!)
    try {
      const ids = await together(this.pool, starts)
      starts.forEach((start, place) => {
        start.resolve(ids[place]!)
      })
    } catch (error) {
      // Whether they were started is not known: to start them again is for whoever gave them a key.
      if (isConnectionError(error)) for (const start of starts) start.reject(mapDatabaseError(error))
      // One that is refused must not refuse the others.
      else for (const start of starts) await this.startOne(start)
    }
  }

  private async startOne({ playbook, args, options, resolve, reject }: Waiting): Promise<void> {
    await startExecution(this.pool, playbook, args, options).then(resolve, (error) =>
      reject(mapDatabaseError(error)),
    )
  }
}

async function together(db: Queryable, starts: readonly Start[]): Promise<string[]> {
  const asked = starts.map(({ playbook, args, options }) => ({ playbook, args, ...options }))
  const { rows } = await db.query<{ id: string }>({
    name: 'stagedoor_executions_start',
    text: `select noetl.fn_execution_start(a.start ->> 'playbook', a.start -> 'args', (a.start ->> 'workspace_id')::uuid,
                                           (a.start ->> 'version')::integer, a.start ->> 'idempotency_key')::text as id
             from jsonb_array_elements($1::jsonb) with ordinality a (start, n) order by a.n`,
    values: [JSON.stringify(asked)],
  })
  return rows.map((row) => row.id)
}
