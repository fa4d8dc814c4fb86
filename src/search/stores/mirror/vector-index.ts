/**
 * The vectors of a collection in memory, by workspace. It runs in the thread of scanner.ts, or in the process itself.
 *
 * A number takes two bytes, a coarse and a fine one: the vector's greatest number divided by 32,512 is a step, and
 * `value = (256 × coarse + fine) × step`. A scan reads the coarse bytes alone; the best of it are scored again with both. A cosine is
 * right to four digits.
 */
import type { NearestPoint } from '../store.ts'
import { createDots, createMemory, type Dots, LANES } from './dots.ts'

/** Rows of a piece. A workspace grows by pieces: nothing is copied, and a small workspace takes little memory. */
const PIECE_ROWS = 128
const MAX_COARSE = 127
const STEPS = 256 * MAX_COARSE
/** The question's numbers have 12 bits: products of 4,096 numbers add up to less than 2³¹. */
const MAX_QUESTION = 2047
const PAGE_BYTES = 65_536
/** WebAssembly memory grows by this much. */
const GROWTH_BYTES = 1 << 20

/** How many of the scan are scored with all their digits. Measured: recall@10 and @100 in docs/decisions/0028-vector-mirror.md. */
const rescored = (limit: number): number => 2 * limit + 100

interface Piece {
  /** Of its coarse numbers in the memory. */
  readonly from: number
  readonly fine: Int8Array
  readonly steps: Float32Array
  readonly ids: string[]
  workspace: string
}

/** A place of a vector: the number of its piece × PIECE_ROWS + its row. */
type Place = number

export interface Vectors {
  /** One after the other. */
  readonly numbers: Float32Array
  readonly ids: readonly string[]
  /** Of each. */
  readonly workspaces: readonly string[]
}

export class VectorIndex {
  readonly dimension: number
  /** Bytes of a row: the dimension, padded to whole registers. */
  private readonly stride: number
  private readonly memory = createMemory()
  private readonly dots: Dots
  private coarse: Int8Array
  /** Where the next piece begins: below it are the question, the products of one piece, and the pieces. */
  private end: number
  private readonly products: number
  private readonly pieces: Piece[] = []
  private readonly free: number[] = []
  /** Numbers of its pieces, by workspace; all but the last are full. */
  private readonly blocks = new Map<string, number[]>()
  private readonly places = new Map<string, Place>()

  constructor(dimension: number) {
    this.dimension = dimension
    this.stride = Math.ceil(dimension / LANES) * LANES
    this.dots = createDots(this.memory)
    this.coarse = new Int8Array(this.memory.buffer)
    this.products = 2 * this.stride
    this.end = Math.ceil((this.products + 4 * PIECE_ROWS) / LANES) * LANES
    this.reserve(this.end)
  }

  get size(): number {
    return this.places.size
  }

  /** Of all vectors, without their ids. */
  get bytes(): number {
    return this.memory.buffer.byteLength + this.pieces.length * PIECE_ROWS * (this.dimension + 4)
  }

  put({ numbers, ids, workspaces }: Vectors): void {
    ids.forEach((id, at) => {
      const workspace = workspaces[at]!
      const known = this.places.get(id)
      if (known !== undefined && this.pieceOf(known).workspace !== workspace) this.remove(id)
      const place = this.places.get(id) ?? this.append(id, workspace)
      this.write(place, numbers, at * this.dimension)
    })
  }

  /** The last vector of the workspace takes its place. */
  remove(id: string): void {
    const place = this.places.get(id)
    if (place === undefined) return
    this.places.delete(id)
    const { workspace } = this.pieceOf(place)
    const block = this.blocks.get(workspace)!
    const lastPiece = this.pieces[block.at(-1)!]!
    const last = block.at(-1)! * PIECE_ROWS + lastPiece.ids.length - 1
    const moved = lastPiece.ids.pop()!
    if (last !== place) this.move(moved, last, place)
    if (lastPiece.ids.length > 0) return
    this.free.push(block.pop()!)
    if (block.length === 0) this.blocks.delete(workspace)
  }

  nearest(
    workspace: string,
    vector: Float32Array,
    { limit, only }: { limit: number; only?: readonly string[] | undefined },
  ): NearestPoint[] {
    const places =
      only === undefined ? this.scan(workspace, vector, rescored(limit)) : this.placesOf(workspace, only)
    const best = new TopK<NearestPoint>(limit, isFurther)
    for (const place of places) {
      const score = this.exactScore(place, vector)
      if (best.accepts(score)) best.offer({ id: this.idAt(place), score })
    }
    return best.ranked()
  }

  vectors(ids: readonly string[]): Map<string, Float32Array> {
    const found = new Map<string, Float32Array>()
    for (const id of ids) {
      const place = this.places.get(id)
      if (place === undefined) continue
      const { coarse, fine, fineFrom, step } = this.rowAt(place)
      const vector = new Float32Array(this.dimension)
      for (let at = 0; at < this.dimension; at++)
        vector[at] = (256 * this.coarse[coarse + at]! + fine[fineFrom + at]!) * step
      found.set(id, vector)
    }
    return found
  }

  /** The best of a workspace by the coarse numbers. */
  private scan(workspace: string, vector: Float32Array, limit: number): Place[] {
    const block = this.blocks.get(workspace) ?? []
    if (limit <= 0 || !this.writeQuestion(vector)) return []
    const best = new TopK<ScoredPlace>(limit, isLess)
    const products = new Int32Array(this.memory.buffer, this.products, PIECE_ROWS)
    for (const number of block) {
      const { from, steps, ids } = this.pieces[number]!
      this.dots(0, from, ids.length, this.stride, this.products)
      for (let row = 0; row < ids.length; row++) {
        const score = products[row]! * steps[row]!
        if (best.accepts(score)) best.offer({ place: number * PIECE_ROWS + row, score })
      }
    }
    return best.all().map(({ place }) => place)
  }

  /** At the beginning of the memory. False if all numbers are zero: everything is equally near. */
  private writeQuestion(vector: Float32Array): boolean {
    const greatest = greatestOf(vector, 0, vector.length)
    const question = new Int16Array(this.memory.buffer, 0, this.stride)
    for (let at = 0; at < this.dimension; at++)
      question[at] = Math.round((vector[at]! / greatest) * MAX_QUESTION)
    return greatest > 0
  }

  private exactScore(place: Place, vector: Float32Array): number {
    const { coarse, fine, fineFrom, step } = this.rowAt(place)
    const { coarse: bytes, dimension } = this
    let low = 0
    let high = 0
    for (let at = 0; at < dimension; at++) {
      high += vector[at]! * bytes[coarse + at]!
      low += vector[at]! * fine[fineFrom + at]!
    }
    return (256 * high + low) * step
  }

  private placesOf(workspace: string, ids: readonly string[]): Place[] {
    return [...new Set(ids)].flatMap((id) => {
      const place = this.places.get(id)
      return place !== undefined && this.pieceOf(place).workspace === workspace ? [place] : []
    })
  }

  private append(id: string, workspace: string): Place {
    const block = this.blocks.get(workspace) ?? []
    this.blocks.set(workspace, block)
    let number = block.at(-1)
    if (number === undefined || this.pieces[number]!.ids.length === PIECE_ROWS) {
      number = this.emptyPiece(workspace)
      block.push(number)
    }
    const place = number * PIECE_ROWS + this.pieces[number]!.ids.push(id) - 1
    this.places.set(id, place)
    return place
  }

  private emptyPiece(workspace: string): number {
    const number = this.free.pop() ?? this.addPiece()
    this.pieces[number]!.workspace = workspace
    return number
  }

  private addPiece(): number {
    const from = this.end
    this.reserve(from + PIECE_ROWS * this.stride)
    this.end = from + PIECE_ROWS * this.stride
    return (
      this.pieces.push({
        from,
        fine: new Int8Array(PIECE_ROWS * this.dimension),
        steps: new Float32Array(PIECE_ROWS),
        ids: [],
        workspace: '',
      }) - 1
    )
  }

  private reserve(bytes: number): void {
    const missing = bytes - this.memory.buffer.byteLength
    if (missing <= 0) return
    this.memory.grow(Math.ceil(Math.max(missing, GROWTH_BYTES) / PAGE_BYTES))
    // Growing detaches the views.
    this.coarse = new Int8Array(this.memory.buffer)
  }

  private write(place: Place, numbers: Float32Array, from: number): void {
    const { coarse, fine, fineFrom } = this.rowAt(place)
    const greatest = greatestOf(numbers, from, this.dimension)
    const perStep = greatest > 0 ? STEPS / greatest : 0
    for (let at = 0; at < this.dimension; at++) {
      const steps = Math.round(numbers[from + at]! * perStep)
      const high = (steps + 128) >> 8
      this.coarse[coarse + at] = high
      fine[fineFrom + at] = steps - 256 * high
    }
    this.pieceOf(place).steps[place % PIECE_ROWS] = greatest / STEPS
  }

  private move(id: string, from: Place, to: Place): void {
    const source = this.rowAt(from)
    const target = this.rowAt(to)
    this.coarse.copyWithin(target.coarse, source.coarse, source.coarse + this.stride)
    target.fine.set(source.fine.subarray(source.fineFrom, source.fineFrom + this.dimension), target.fineFrom)
    const piece = this.pieceOf(to)
    piece.steps[to % PIECE_ROWS] = source.step
    piece.ids[to % PIECE_ROWS] = id
    this.places.set(id, to)
  }

  private pieceOf(place: Place): Piece {
    return this.pieces[Math.floor(place / PIECE_ROWS)]!
  }

  private idAt(place: Place): string {
    return this.pieceOf(place).ids[place % PIECE_ROWS]!
  }

  private rowAt(place: Place): { coarse: number; fine: Int8Array; fineFrom: number; step: number } {
    const { from, fine, steps } = this.pieceOf(place)
    const row = place % PIECE_ROWS
    return { coarse: from + row * this.stride, fine, fineFrom: row * this.dimension, step: steps[row]! }
  }
}

function greatestOf(numbers: Float32Array, from: number, count: number): number {
  let greatest = 0
  for (let at = from; at < from + count; at++) greatest = Math.max(greatest, Math.abs(numbers[at]!))
  return greatest
}

interface ScoredPlace {
  readonly place: Place
  readonly score: number
}

const isLess = (a: ScoredPlace, b: ScoredPlace): boolean => a.score < b.score

/** Equal scores are ordered by id, so that an answer is always the same. */
const isFurther = (a: NearestPoint, b: NearestPoint): boolean =>
  a.score < b.score || (a.score === b.score && a.id > b.id)

/** The best k of many, without sorting the many. */
class TopK<T extends { readonly score: number }> {
  private readonly limit: number
  private readonly isWorse: (a: T, b: T) => boolean
  /** A heap: the worst is first, the one that the next must beat. */
  private readonly heap: T[] = []

  constructor(limit: number, isWorse: (a: T, b: T) => boolean) {
    this.limit = limit
    this.isWorse = isWorse
  }

  accepts(score: number): boolean {
    return this.heap.length < this.limit || (this.limit > 0 && score >= this.heap[0]!.score)
  }

  offer(item: T): void {
    if (this.heap.length < this.limit) {
      this.heap.push(item)
      this.rise(this.heap.length - 1)
    } else if (this.limit > 0 && this.isWorse(this.heap[0]!, item)) {
      this.heap[0] = item
      this.sink()
    }
  }

  all(): readonly T[] {
    return this.heap
  }

  ranked(): T[] {
    return [...this.heap].sort((a, b) => (this.isWorse(a, b) ? 1 : -1))
  }

  private rise(from: number): void {
    for (let at = from; at > 0; ) {
      const above = (at - 1) >> 1
      if (!this.isWorse(this.heap[at]!, this.heap[above]!)) return
      this.swap(at, above)
      at = above
    }
  }

  private sink(): void {
    for (let at = 0; ; ) {
      let worst = at
      for (const below of [2 * at + 1, 2 * at + 2]) {
        if (below < this.heap.length && this.isWorse(this.heap[below]!, this.heap[worst]!)) worst = below
      }
      if (worst === at) return
      this.swap(at, worst)
      at = worst
    }
  }

  private swap(a: number, b: number): void {
    const first = this.heap[a]!
    this.heap[a] = this.heap[b]!
    this.heap[b] = first
  }
}
