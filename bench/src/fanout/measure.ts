/**
 * What both contenders measure in the same way, in two processes: this one starts the fan-out and runs shards, the other one, a
 * fork of the same script, runs shards only as they come.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import pg from 'pg'
import { postgresCpuMs } from '../cpu.ts'
import { perSecond } from '../statistics.ts'
import type { FanoutTask } from './fanout.ts'

export interface FanoutWorker {
  stop(): Promise<void>
}

/** In the process that measures. */
export interface FanoutLead extends FanoutWorker {
  /** Both processes have what they need. */
  ready(): Promise<void>
  /** From the first step until the end of the last is durable. */
  run(shards: number): Promise<void>
  /** Shards that the tables say have ended. */
  ended(): Promise<number>
}

export interface FanoutContender {
  open(task: FanoutTask, ran: (shard: number) => void): Promise<FanoutWorker>
  lead(task: FanoutTask, ran: (shard: number) => void): Promise<FanoutLead>
}

const OTHER = 'other'
const WARM_UP_MS = 1000
const WARM_UP_SHARDS = 200

export async function measure(script: string, contender: FanoutContender): Promise<void> {
  const task = JSON.parse(process.argv[2] ?? '{}') as FanoutTask
  const runs: number[] = []
  const ran = (shard: number): void => {
    runs.push(shard)
  }
  if (process.argv[3] === OTHER) return work(await contender.open(task, ran), runs)
  // Before the other one: whoever comes first makes the tables of a peer.
  const worker = await contender.lead(task, ran)
  const other = fork(script, [process.argv[2]!, OTHER])
  await receive<string>(other)
  await worker.ready()
  await lead(task, worker, runs, other)
}

async function work(worker: FanoutWorker, runs: readonly number[]): Promise<void> {
  process.send!('ready')
  await once(process, 'message')
  const warm = runs.length
  const cpu = process.cpuUsage()
  await once(process, 'message')
  const cpu_ms = cpuMs(cpu)
  await worker.stop()
  process.send!({ runs: runs.slice(warm), cpu_ms }, () => process.exit(0))
}

async function lead(
  { shards, url }: FanoutTask,
  worker: FanoutLead,
  runs: readonly number[],
  other: ChildProcess,
): Promise<void> {
  // Every contender gets the same time, not the same number of shards.
  const until = performance.now() + WARM_UP_MS
  while (performance.now() < until) await worker.run(WARM_UP_SHARDS)
  const [warm, endedBefore] = [runs.length, await worker.ended()]
  other.send('measure')
  const session = new pg.Client(url)
  await session.connect()
  const cpu = process.cpuUsage()
  const postgres = await postgresCpuMs(session)
  const started = performance.now()
  await worker.run(shards)
  const elapsed = performance.now() - started
  const postgres_us = (((await postgresCpuMs(session)) - postgres) * 1000) / shards
  await session.end()
  const cpu_ms = cpuMs(cpu)
  other.send('stop')
  const theirs = await receive<{ runs: number[]; cpu_ms: number }>(other)
  const ended = (await worker.ended()) - endedBefore
  await worker.stop()

  const all = [...runs.slice(warm), ...theirs.runs]
  const different = new Set(all).size
  console.log(
    JSON.stringify({
      shards_per_s: perSecond(shards, elapsed),
      ms: elapsed,
      share_of_other: theirs.runs.length / all.length,
      cpu_ms,
      postgres_us,
      other_cpu_ms: theirs.cpu_ms,
      missed: shards - Math.min(different, ended),
      doubled: all.length - different + Math.max(0, ended - shards),
    }),
  )
  process.exit(0)
}

async function receive<T>(other: ChildProcess): Promise<T> {
  const gone = once(other, 'exit').then(() => {
    throw new Error('the other process ended before it answered')
  })
  const [message] = await Promise.race([once(other, 'message'), gone])
  return message as T
}

function cpuMs(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since)
  return (user + system) / 1000
}
