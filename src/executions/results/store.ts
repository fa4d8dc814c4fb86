/** Where results are kept, by reference when they are large. */
import type { ResultValue } from '../event.ts'
import type { Json } from '../playbook/definition.ts'

export interface ResultOrigin {
  readonly execution_id: string
  readonly node_name?: string
  readonly command_id?: string
  readonly name?: string
  /** The reference that it was made from. */
  readonly parent_ref?: string
}

export interface ResultStore {
  /** Durable when it resolves. Throws ToolError when it is over the limit. */
  keep(value: Json, origin: ResultOrigin): Promise<ResultValue>
  load(result: ResultValue): Promise<Json>
}
