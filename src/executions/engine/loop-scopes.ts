/** What the items of a loop see: read once by each engine that runs some of them. */
import type { Pool } from '../../db/connection.ts'
import { refOfUri } from '../event.ts'
import type { Json, JsonObject } from '../playbook/definition.ts'
import type { ResultStore } from '../results/store.ts'
import { patiently } from './patience.ts'

export interface LoopScope {
  readonly scope: JsonObject
  /** What its items come from, if it is kept by reference. */
  readonly parent_ref?: string
  /** For those whose command does not carry its item. */
  items(): Promise<readonly Json[]>
}

const MOST = 100
/** As they are kept; in memory a collection takes a multiple of it. */
const MOST_BYTES = 128 * 1024 * 1024

export class LoopScopes {
  private readonly pool: Pool
  private readonly results: ResultStore
  private readonly mostBytes: number
  /** The one that was not asked for longest comes first. */
  private readonly known = new Map<string, Promise<LoopScope>>()
  private readonly bytes = new Map<string, number>()

  constructor(pool: Pool, results: ResultStore, mostBytes = MOST_BYTES) {
    this.pool = pool
    this.results = results
    this.mostBytes = mostBytes
  }

  of(execution: string, loop: string): Promise<LoopScope> {
    const scope = this.known.get(loop) ?? this.begin(execution, loop)
    this.known.delete(loop)
    this.known.set(loop, scope)
    this.makeRoom(loop)
    return scope
  }

  private begin(execution: string, loop: string): Promise<LoopScope> {
    const read = this.read(execution, loop)
    read.catch(() => this.forget(loop))
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
    const parent = context.collection_ref ?? context.scope_ref
    let items: Promise<Json> | undefined
    return {
      scope: (await this.kept(loop, context, 'scope')) as JsonObject,
      ...(typeof parent === 'string' && { parent_ref: refOfUri(parent) }),
      items: () => {
        items ??= this.kept(loop, context, 'collection').catch((error) => {
          // The next one asks again.
          items = undefined
          throw error
        })
        return items as Promise<readonly Json[]>
      },
    }
  }

  private async kept(loop: string, context: JsonObject, name: string): Promise<Json> {
    const ref = context[`${name}_ref`]
    if (typeof ref !== 'string') return context[name] ?? {}
    const bytes = (context[`${name}_bytes`] as number | undefined) ?? 0
    const value = await patiently(() => this.results.load({ ref: refOfUri(ref), bytes }))
    if (this.known.has(loop)) this.bytes.set(loop, (this.bytes.get(loop) ?? 0) + bytes)
    this.makeRoom(loop)
    return value
  }

  private makeRoom(needed: string): void {
    let bytes = 0
    for (const some of this.bytes.values()) bytes += some
    for (const loop of this.known.keys()) {
      if (this.known.size <= MOST && bytes <= this.mostBytes) return
      if (loop === needed) continue
      bytes -= this.bytes.get(loop) ?? 0
      this.forget(loop)
    }
  }

  private forget(loop: string): void {
    this.known.delete(loop)
    this.bytes.delete(loop)
  }
}
