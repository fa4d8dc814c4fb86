/** How every attempt at everything ends, from a seed alone: the same for the reference, the machine and the real engine. */
import { createHash } from 'node:crypto'
import type { Json } from '../../../src/kernel/json.ts'

export interface Place {
  readonly playbook: string
  readonly salt: string
  readonly step: string
  /** The how-manieth entry of the step, from 1. */
  readonly entry: number
  readonly index?: number | undefined
  readonly attempt: number
}

export type Scripted =
  | {
      readonly status: 'completed'
      readonly value: { readonly n: number; readonly v: number; readonly much?: string }
    }
  | { readonly status: 'failed'; readonly retryable: boolean }

export class Script {
  readonly #seed: number
  readonly #failures: number

  constructor(seed: number, failures: number) {
    this.#seed = seed
    this.#failures = failures
  }

  /** Steps called c… count and never fail. Some results are too large for an event. */
  ends(place: Place): Scripted {
    const { playbook, salt, step, entry, index = -1, attempt } = place
    const chance = this.chances(playbook, salt, step, entry, index, attempt)
    if (!step.startsWith('c') && chance[0]! < this.#failures) {
      return { status: 'failed', retryable: chance[1]! < 0.8 }
    }
    const value = { n: entry, v: Math.floor(chance[2]! * 10) }
    return { status: 'completed', value: chance[3]! < 0.15 ? { ...value, much: 'x'.repeat(9_000) } : value }
  }

  /** Whether the event comes, or the wait times out. */
  comes(playbook: string, salt: string, step: string, entry: number): boolean {
    return this.chances(playbook, salt, step, entry)[0]! < 0.5
  }

  chances(...parts: Json[]): number[] {
    const bytes = createHash('md5')
      .update(JSON.stringify([this.#seed, ...parts]))
      .digest()
    return [0, 4, 8, 12].map((at) => bytes.readUInt32BE(at) / 2 ** 32)
  }
}
