/** A decision of the machine as what is written of it. */

import type { Decision } from '../machine/decision.ts'
import { planOf } from '../machine/plan.ts'
import type { CatalogEntry } from './catalog.ts'
import { childStart, unknownChild } from './children.ts'
import type { Append } from './flush.ts'
import { outboxOf } from './outbox.ts'

export interface Address {
  readonly execution_id: string
  readonly shard_id: number
  readonly epoch: string
}

/** `latest`: what the playbooks of its children are just now. */
export function decided(
  address: Address,
  entry: CatalogEntry,
  decision: Decision,
  latest: ReadonlyMap<string, CatalogEntry>,
): Omit<Append, 'durable' | 'refused'> {
  const { execution_id, shard_id } = address
  const { state, events, commands, commands_gone, waits, waits_gone, messages, children, collect, ended } =
    decision
  const append: { -readonly [Name in keyof Append]?: Append[Name] } & Address & Pick<Append, 'events'> = {
    ...address,
    events,
  }
  // Most decisions have none of these.
  if (commands.length > 0) {
    const { catalog_id, playbook } = entry
    const { steps } = planOf(playbook)
    append.commands = commands.map((command) => {
      const { needs } = steps.get(command.node_name)!
      const row = { ...command, execution_id, shard_id, catalog_id }
      return needs.length > 0 ? { ...row, needs } : row
    })
  }
  if (commands_gone.length > 0) {
    append.commands_gone = commands_gone.map(({ loop_id }) => ({ execution_id, loop_id }))
  }
  if (waits.length > 0) append.waits = waits.map((wait) => ({ ...wait, execution_id, shard_id }))
  if (waits_gone.length > 0) append.waits_gone = waits_gone.map(({ node_id }) => ({ execution_id, node_id }))
  if (children.length + messages.length > 0) {
    const starts = children.map((child) => {
      const found = latest.get(child.playbook)
      return found ? childStart(state!, child, found) : unknownChild(state!, child)
    })
    append.messages = [...starts, ...messages]
  }
  if (collect.length > 0) append.collect = collect.map((one) => ({ ...one, execution_id }))
  if (ended) {
    append.ended = true
    append.outbox = outboxOf(state!, entry)
  }
  return append
}
