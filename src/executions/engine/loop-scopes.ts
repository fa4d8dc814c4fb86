/** What the items of a loop see: read once by each engine that runs some of them. */
import type { Pool } from '../../db/connection.ts'
import type { Json, JsonObject } from '../playbook/definition.ts'
import type { ResultStore } from '../results/store.ts'
import { patiently } from './patience.ts'

export interface LoopScope {
  readonly scope: JsonObject
  /** For those whose command does not carry its item. */
  items(): Promise<readonly Json[]>
}

const MOST = 100

export class LoopScopes {
  private readonly pool: Pool
  private readonly results: ResultStore
  private readonly known = new Map<string, Promise<LoopScope>>()

  constructor(pool: Pool, results: ResultStore) {
    this.pool = pool
    this.results = results
  }

  of(execution: string, loop: string): Promise<LoopScope> {
    const known = this.known.get(loop)
    if (known !== undefined) return known
    const read = this.read(execution, loop)
    read.catch(() => this.known.delete(loop))
    if (this.known.size >= MOST) this.known.delete(this.known.keys().next().value!)
    this.known.set(loop, read)
    return read
  }

  private async read(execution: string, loop: string): Promise<LoopScope> {
    const { rows } = await patiently(() =>
      this.pool.query<{ context: JsonObject }>('select noetl.fn_loop_scope($1, $2) as context', [
        execution,
        loop,
      ]),
    )
    const { context } = rows[0]!
    let items: Promise<Json> | undefined
    return {
      scope: (await this.kept(context, 'scope')) as JsonObject,
      items: () => {
        items ??= this.kept(context, 'collection')
        return items as Promise<readonly Json[]>
      },
    }
  }

  private async kept(context: JsonObject, name: string): Promise<Json> {
    const ref = context[`${name}_ref`]
    if (typeof ref !== 'string') return context[name] ?? {}
    const bytes = (context[`${name}_bytes`] as number | undefined) ?? 0
    return patiently(() => this.results.load({ ref, bytes }))
  }
}
