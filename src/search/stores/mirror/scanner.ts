/** Runs scans of a mirror in a thread of its own: 200,000 vectors take milliseconds in which the process would answer nobody. */
import { type Transferable, Worker } from 'node:worker_threads'
import { threadFile } from '../../../runtime/worker-thread.ts'
import type { NearestPoint } from '../store.ts'
import { VectorIndex } from './vector-index.ts'

/** Vectors as they travel: a string for each id would take longer than the scan. */
export interface PackedVectors {
  /** One after the other. */
  readonly numbers: Float32Array<ArrayBuffer>
  /** Of 36 characters each. */
  readonly ids: string
  /** Of each id. */
  readonly workspaces: string
}

/** What a scanner does, in the order in which it is asked; `put` and `remove` answer how many vectors there are. */
export interface ScanCommands {
  clear: { readonly asked: Record<string, never>; readonly answer: number }
  put: { readonly asked: { readonly vectors: PackedVectors }; readonly answer: number }
  remove: { readonly asked: { readonly ids: readonly string[] }; readonly answer: number }
  nearest: {
    readonly asked: {
      readonly workspace: string
      readonly vector: Float32Array
      readonly limit: number
      readonly only?: readonly string[]
    }
    readonly answer: NearestPoint[]
  }
  vectors: { readonly asked: { readonly ids: readonly string[] }; readonly answer: Map<string, Float32Array> }
}

export interface Scanner {
  run<Kind extends keyof ScanCommands>(
    kind: Kind,
    asked: ScanCommands[Kind]['asked'],
  ): Promise<ScanCommands[Kind]['answer']>
  close(): Promise<void>
}

/** The thread has ended, with what it held. */
export class ScannerLost extends Error {
  override readonly name = 'ScannerLost'
}

const THREAD = threadFile('./thread.js', import.meta.url)

export function openScanner(thread: URL | undefined = THREAD): Scanner {
  return thread === undefined ? new InlineScanner() : new ThreadScanner(thread)
}

const ID_LENGTH = 36

/** The commands, as the thread and the process itself run them. */
export class ScanRunner implements Runners {
  private index: VectorIndex | undefined

  clear(): number {
    this.index = undefined
    return 0
  }

  put({ vectors: { numbers, ids, workspaces } }: ScanCommands['put']['asked']): number {
    const count = ids.length / ID_LENGTH
    if (count === 0) return this.size
    this.index ??= new VectorIndex(numbers.length / count)
    this.index.put({ numbers, ids: unpack(ids), workspaces: unpackRepeated(workspaces) })
    return this.size
  }

  remove({ ids }: ScanCommands['remove']['asked']): number {
    for (const id of ids) this.index?.remove(id)
    return this.size
  }

  nearest({ workspace, vector, ...options }: ScanCommands['nearest']['asked']): NearestPoint[] {
    return this.index?.nearest(workspace, vector, options) ?? []
  }

  vectors({ ids }: ScanCommands['vectors']['asked']): Map<string, Float32Array> {
    return this.index?.vectors(ids) ?? new Map()
  }

  private get size(): number {
    return this.index?.size ?? 0
  }
}

type Runners = {
  [Kind in keyof ScanCommands]: (asked: ScanCommands[Kind]['asked']) => ScanCommands[Kind]['answer']
}

function unpack(packed: string): string[] {
  const ids: string[] = []
  for (let from = 0; from < packed.length; from += ID_LENGTH) ids.push(packed.slice(from, from + ID_LENGTH))
  return ids
}

/** Few of them are different: each is kept once. */
function unpackRepeated(packed: string): string[] {
  const known = new Map<string, string>()
  return unpack(packed).map((id) => {
    const same = known.get(id) ?? id
    known.set(id, same)
    return same
  })
}

class InlineScanner implements Scanner {
  private readonly runner: Runners = new ScanRunner()

  async run<Kind extends keyof ScanCommands>(kind: Kind, asked: ScanCommands[Kind]['asked']) {
    return this.runner[kind](asked)
  }

  async close(): Promise<void> {
    this.runner.clear({})
  }
}

export interface ScanMessage {
  readonly number: number
  readonly kind: keyof ScanCommands
  readonly asked: unknown
}

export type ScanReply = { readonly number: number } & (
  | { readonly answer: unknown }
  | { readonly error: string }
)

interface Pending {
  // biome-ignore lint/suspicious/noExplicitAny: answers of every command
  readonly resolve: (answer: any) => void
  readonly reject: (error: Error) => void
}

/** The thread takes one command after the other. A process that waits for no answer may end. */
class ThreadScanner implements Scanner {
  private readonly worker: Worker
  private readonly pending = new Map<number, Pending>()
  private last = 0
  private lost: ScannerLost | undefined

  constructor(file: URL) {
    this.worker = new Worker(file)
    this.worker.unref()
    this.worker.on('message', (reply: ScanReply) => this.settle(reply))
    this.worker.on('error', (cause) => this.lose(new ScannerLost('The thread of the scan failed', { cause })))
    this.worker.on('exit', (code) => this.lose(new ScannerLost(`The thread of the scan ended (${code})`)))
  }

  run<Kind extends keyof ScanCommands>(
    kind: Kind,
    asked: ScanCommands[Kind]['asked'],
  ): Promise<ScanCommands[Kind]['answer']> {
    const { lost } = this
    if (lost !== undefined) return Promise.reject(lost)
    return new Promise((resolve, reject) => {
      const number = ++this.last
      if (this.pending.size === 0) this.worker.ref()
      this.pending.set(number, { resolve, reject })
      this.worker.postMessage({ number, kind, asked } satisfies ScanMessage, transferredOf(asked))
    })
  }

  async close(): Promise<void> {
    await this.worker.terminate()
  }

  private settle(reply: ScanReply): void {
    const waiting = this.pending.get(reply.number)
    this.pending.delete(reply.number)
    if (this.pending.size === 0) this.worker.unref()
    if ('error' in reply) waiting?.reject(new Error(reply.error))
    else waiting?.resolve(reply.answer)
  }

  private lose(lost: ScannerLost): void {
    this.lost ??= lost
    for (const { reject } of this.pending.values()) reject(this.lost)
    this.pending.clear()
  }
}

/** Pages of vectors are moved; a question's vector is copied, because it is used again. */
function transferredOf(asked: ScanCommands[keyof ScanCommands]['asked']): Transferable[] {
  return 'vectors' in asked ? [(asked as { vectors: PackedVectors }).vectors.numbers.buffer] : []
}
