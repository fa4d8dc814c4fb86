/** Figures of executions: what this process's engine counted, and what the database says when it is asked. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { EngineHooks } from '../../executions/engine/hooks.ts'
import type { ExecutionStatistics } from '../../executions/statistics.ts'

const SECONDS = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 300]

export function engineMeasures(registers: Registry[]): EngineHooks {
  const events = new Counter({
    name: 'stagedoor_execution_events_total',
    help: 'Events that this process wrote into the logs of executions',
    registers,
  })
  const flush = new Histogram({
    name: 'stagedoor_execution_flush_seconds',
    help: 'How long a flush of events took until it was durable',
    buckets: SECONDS,
    registers,
  })
  const steps = new Counter({
    name: 'stagedoor_steps_ended_total',
    help: 'Steps and items of loops that ended in this process, by outcome',
    labelNames: ['outcome'],
    registers,
  })
  const duration = new Histogram({
    name: 'stagedoor_step_duration_seconds',
    help: 'How long the tools of a step or an item took in this process',
    buckets: SECONDS,
    registers,
  })
  const ended = new Counter({
    name: 'stagedoor_executions_ended_total',
    help: 'Executions that this process drove to their end',
    registers,
  })
  const lag = new Histogram({
    name: 'stagedoor_projection_lag_seconds',
    help: 'How old the oldest event was when it was folded',
    buckets: SECONDS,
    registers,
  })
  const behind = new Gauge({
    name: 'stagedoor_projection_behind_seconds',
    help: 'For how long the execution of this process that is furthest behind its log has been so',
    registers,
  })
  const shards = new Counter({
    name: 'stagedoor_engine_shards_taken_total',
    help: 'Shards that this process took over',
    registers,
  })
  const lost = new Counter({
    name: 'stagedoor_engine_leases_lost_total',
    help: 'Leases that the engine of this process lost',
    registers,
  })
  return {
    flushed(_executions, count, ms) {
      events.inc(count)
      flush.observe(ms / 1000)
    },
    ran(_step, outcome, ms) {
      steps.inc({ outcome })
      duration.observe(ms / 1000)
    },
    projected: (_executions, _events, lagMs) => lag.observe(lagMs / 1000),
    behind: (lagMs) => behind.set(lagMs / 1000),
    ended: () => ended.inc(),
    shardTaken: () => shards.inc(),
    leaseLost: () => lost.inc(),
  }
}

export function executionGauges(registers: Registry[]): (now: ExecutionStatistics) => void {
  const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Gauge({ name: `stagedoor_${name}`, help, labelNames, registers })
  const live = gauge('executions', 'Executions that have not ended, by status', ['status'])
  const lag = gauge('projection_last_lag_seconds', 'The largest lag of a shard when it was last projected')
  const inbox = gauge('execution_inbox', 'What executions were told and have not heard yet')
  const oldest = gauge('execution_inbox_oldest_seconds', 'How long the oldest of it has been waiting')
  const commands = gauge('execution_commands', 'Items of loops that engines run or will run', ['state'])
  const waits = gauge('execution_waits', 'Steps that wait for a time, an event or a person')
  const engines = gauge('engines', 'Processes that drive executions or run their items')
  const ownerless = gauge('execution_shards_without_owner', 'Shards that no living engine holds')
  const days = gauge('execution_partition_days', 'For how many days ahead the log has partitions')
  return (now) => {
    live.reset()
    for (const { status, executions } of now.live) live.set({ status }, executions)
    lag.set(now.projection_lag_ms / 1000)
    inbox.set(now.inbox)
    oldest.set(now.inbox_oldest_s)
    commands.set({ state: 'running' }, now.commands_running)
    commands.set({ state: 'waiting' }, now.commands_waiting)
    waits.set(now.waits)
    engines.set(now.engines)
    ownerless.set(now.shards_without_owner)
    days.set(now.partition_days)
  }
}
