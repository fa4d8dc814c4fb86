/** What an execution refers to, as far as it is in memory. The machine says what it misses; it is brought, and asked again. */
import type { ResultValue } from '../event.ts'
import { KeepNeeded, ValueNeeded } from '../machine/decision.ts'
import type { Json } from '../playbook/definition.ts'
import type { ResultStore } from '../results/store.ts'
import { patiently } from './patience.ts'

type Reference = Extract<ResultValue, { readonly ref: string }>

const MOST = 32

export class ExecutionValues {
  private readonly execution: string
  private readonly results: ResultStore
  private readonly isWanted: () => boolean
  /** An error is what whoever needs the value is to meet instead. */
  private readonly loaded = new Map<string, { readonly value: Json } | { readonly error: unknown }>()
  private kept = new Map<string, ResultValue>()

  constructor(execution: string, results: ResultStore, isWanted: () => boolean) {
    this.execution = execution
    this.results = results
    this.isWanted = isWanted
  }

  value(result: Reference): Json {
    const known = this.loaded.get(result.ref)
    if (known === undefined) throw new ValueNeeded(result)
    // The one that was not used for longest makes room first.
    this.loaded.delete(result.ref)
    this.loaded.set(result.ref, known)
    if ('error' in known) throw known.error
    return known.value
  }

  keep(value: Json, name: string, nodeName: string): ResultValue {
    const known = this.kept.get(name)
    if (known === undefined) throw new KeepNeeded(value, name, nodeName)
    return known
  }

  /** They are of one decision, also those still on their way: the next may call another value by the same name. */
  forgetKept(): void {
    this.kept = new Map()
  }

  async load(result: Reference): Promise<void> {
    const loaded = await patiently(() => this.results.load(result), this.isWanted).then(
      (value) => ({ value }),
      (error) => ({ error }),
    )
    if (this.loaded.size >= MOST) this.loaded.delete(this.loaded.keys().next().value!)
    this.loaded.set(result.ref, loaded)
  }

  async store({ value, key, node_name }: KeepNeeded): Promise<void> {
    const { kept } = this
    const origin = { execution_id: this.execution, node_name, name: key }
    kept.set(key, await patiently(() => this.results.keep(value, origin), this.isWanted))
  }
}
