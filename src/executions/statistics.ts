/** How executions do: for people and for a scrape now and then. */
import type { Queryable } from '../db/connection.ts'

export interface ExecutionStatistics {
  /** How old the oldest event was when it was last folded, over all shards. */
  readonly projection_lag_ms: number
  /** That nobody has ended yet, by status; what has ended is counted by events. */
  readonly live: readonly { readonly status: string; readonly executions: number }[]
  /** What executions were told and have not heard yet. */
  readonly inbox: number
  readonly inbox_oldest_s: number
  /** Items of loops and steps for other processes: handed out to an engine, and waiting for one. */
  readonly commands_running: number
  readonly commands_waiting: number
  readonly waits: number
  /** Processes that drive, or run items, with a lease. */
  readonly engines: number
  readonly shards_without_owner: number
  readonly partition_days: number
}

export async function executionStatistics(db: Queryable): Promise<ExecutionStatistics> {
  const { rows } = await db.query<ExecutionStatistics>(
    `select (select coalesce(max(lag_ms), 0) from noetl.projection_checkpoint) as projection_lag_ms,
            (select coalesce(json_agg(json_build_object('status', status, 'executions', n)), '[]')
               from (select coalesce(x.status, 'PENDING') as status, count(*)::int as n
                       from noetl.checkpoint k left join noetl.execution x using (execution_id)
                      where not k.ended group by 1) as live) as live,
            (select count(*)::int from noetl.inbox) as inbox,
            (select coalesce(extract(epoch from clock_timestamp() - min(sent_at)), 0)::float8 from noetl.inbox) as inbox_oldest_s,
            (select count(*)::int from noetl.command where leased_by is not null) as commands_running,
            (select count(*)::int from noetl.command where leased_by is null) as commands_waiting,
            (select count(*)::int from noetl.wait) as waits,
            (select count(*)::int from noetl.engine where leased_until > clock_timestamp()) as engines,
            (select count(*)::int from noetl.execution_shard s
              where not exists (select from noetl.engine g where g.engine_id = s.owner and g.leased_until > clock_timestamp()))
              as shards_without_owner,
            coalesce(noetl.fn_execution_partition_days_left(), 0) as partition_days`,
  )
  return rows[0]!
}
