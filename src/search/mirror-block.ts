/** The vectors of one workspace: in long pieces, so that a scan reads memory in order, and without gaps. */
import { StagedoorError } from '../errors.ts'
import { Best } from './best.ts'
import type { Near } from './stores/store.ts'

/** Vectors in a piece. A block grows by pieces: nothing is copied, and a small workspace takes little. */
const PIECE = 1_024

export class MirrorBlock {
  private readonly dimension: number
  private readonly pieces: Float32Array[] = []
  private readonly ids: string[] = []
  private readonly places = new Map<string, number>()

  constructor(dimension: number) {
    this.dimension = dimension
  }

  put(id: string, vector: Float32Array): void {
    this.fits(vector)
    const place = this.places.get(id) ?? this.ids.length
    if (place === this.ids.length) {
      this.ids.push(id)
      this.places.set(id, place)
      if (place % PIECE === 0) this.pieces.push(new Float32Array(PIECE * this.dimension))
    }
    this.at(place).set(vector)
  }

  /** The last takes its place. */
  remove(id: string): void {
    const place = this.places.get(id)
    if (place === undefined) return
    const last = this.ids.length - 1
    const moved = this.ids[last]!
    this.at(place).set(this.at(last))
    this.ids[place] = moved
    this.places.set(moved, place)
    this.places.delete(id)
    this.ids.pop()
    if (last % PIECE === 0) this.pieces.pop()
  }

  vector(id: string): Float32Array | undefined {
    const place = this.places.get(id)
    return place === undefined ? undefined : this.at(place).slice()
  }

  nearest(vector: Float32Array, limit: number, only?: readonly string[]): Near[] {
    this.fits(vector)
    const best = new Best(limit)
    if (only !== undefined) {
      for (const id of new Set(only)) {
        const place = this.places.get(id)
        if (place === undefined) continue
        // Not through at(): a view for each point costs more than its product.
        const score = dot(vector, this.pieces[Math.floor(place / PIECE)]!, (place % PIECE) * this.dimension)
        if (score >= best.least) best.offer(id, score)
      }
      return best.ranked()
    }
    for (let place = 0, piece = 0; place < this.ids.length; piece++) {
      const numbers = this.pieces[piece]!
      const end = Math.min(this.ids.length, place + PIECE)
      for (let from = 0; place < end; place++, from += this.dimension) {
        const score = dot(vector, numbers, from)
        if (score >= best.least) best.offer(this.ids[place]!, score)
      }
    }
    return best.ranked()
  }

  private at(place: number): Float32Array {
    const from = (place % PIECE) * this.dimension
    return this.pieces[Math.floor(place / PIECE)]!.subarray(from, from + this.dimension)
  }

  private fits({ length }: Float32Array): void {
    if (length === this.dimension) return
    throw new StagedoorError('argument_invalid', {
      reason: `A vector of ${length} numbers does not fit into a collection of ${this.dimension}`,
    })
  }
}

/** Four sums at once: each waits for its own last addition only. */
function dot(vector: Float32Array, numbers: Float32Array, from: number): number {
  const length = vector.length
  let a = 0
  let b = 0
  let c = 0
  let d = 0
  let at = 0
  for (; at + 3 < length; at += 4) {
    a += vector[at]! * numbers[from + at]!
    b += vector[at + 1]! * numbers[from + at + 1]!
    c += vector[at + 2]! * numbers[from + at + 2]!
    d += vector[at + 3]! * numbers[from + at + 3]!
  }
  for (; at < length; at++) a += vector[at]! * numbers[from + at]!
  return a + b + (c + d)
}
