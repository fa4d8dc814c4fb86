/** What the figures were measured on. */
import { availableParallelism, cpus, release, totalmem, type } from 'node:os'

export interface Machine {
  readonly cores: number
  readonly memory_gb: number
  readonly cpu: string
  readonly system: string
}

export function describeMachine(): Machine {
  return {
    cores: availableParallelism(),
    memory_gb: Math.round(totalmem() / 2 ** 30),
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    system: `${type()} ${release()} ${process.arch}`,
  }
}
