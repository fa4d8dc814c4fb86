/** Runs scans of a mirror in a thread of its own: 200,000 vectors take milliseconds in which the process would answer nobody. */
import type { Transferable } from 'node:worker_threads'
import { CommandThread, threadFile } from '../../../runtime/worker-thread.ts'
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

/** What a scanner does, one command after the other; `put` and `remove` answer how many vectors there are. */
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

/** `run` rejects with a ThreadLost when the thread has ended, with what it held. */
export interface Scanner {
  run<Kind extends keyof ScanCommands>(
    kind: Kind,
    asked: ScanCommands[Kind]['asked'],
  ): Promise<ScanCommands[Kind]['answer']>
  close(): Promise<void>
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

class ThreadScanner implements Scanner {
  private readonly thread: CommandThread

  constructor(file: URL) {
    this.thread = new CommandThread(file, 'the scan')
  }

  run<Kind extends keyof ScanCommands>(
    kind: Kind,
    asked: ScanCommands[Kind]['asked'],
  ): Promise<ScanCommands[Kind]['answer']> {
    return this.thread.run(kind, asked, transferredOf(asked))
  }

  close(): Promise<void> {
    return this.thread.close()
  }
}

/** Pages of vectors are moved; a question's vector is copied, because it is used again. */
function transferredOf(asked: ScanCommands[keyof ScanCommands]['asked']): Transferable[] {
  return 'vectors' in asked ? [(asked as { vectors: PackedVectors }).vectors.numbers.buffer] : []
}
