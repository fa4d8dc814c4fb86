/** Fits an LSA model, in a worker thread for a large corpus: twenty thousand texts take many seconds, which would block the server. */
import { runInThread, threadFile } from '../../../runtime/worker-thread.ts'
import { bytesOf, floatsOf, normalise, wordlessVector } from '../embedder.ts'

/** Number of texts from which on a thread is used: fewer take only a moment. */
const MAX_TEXTS_INLINE = 300
const MAX_MEMORY_MB = 4096

const THREAD = threadFile('./thread.js', import.meta.url)

export async function fitInThread(corpus: Corpus, signal?: AbortSignal): Promise<LsaModel> {
  signal?.throwIfAborted()
  if (THREAD === undefined || corpus.starts.length <= MAX_TEXTS_INLINE) return fitLsa(corpus)
  return runInThread<LsaModel>(THREAD, {
    data: corpus,
    transfer: [corpus.starts, corpus.places, corpus.counts].map(({ buffer }) => buffer as ArrayBuffer),
    maxMemoryMb: MAX_MEMORY_MB,
    signal,
  })
}

// Latent semantic analysis: the directions in which the texts of a corpus differ most, by randomised subspace iteration. The same texts
// give the same model, bit for bit.
// Measured on Cranfield (1,400 texts, nDCG@10 of the vectors alone): words by log and entropy 0.547, by log and idf 0.54,
// counts as BM25 has them 0.54; eight iterations, or a subspace 100 wider, 0.549 for twice the time.

const LSA_DIMENSION = 200
const MAX_TERMS = 50_000
/** Fewer directions than texts: as many would only describe the single texts. Of 200 texts: 100 directions 0.544, 199 0.539. */
const TEXTS_PER_AXIS = 2
/** Additional directions of the subspace: with them the last ones converge much sooner. */
const OVERSAMPLING = 24
const ITERATIONS = 4

export function fitLsa(corpus: Corpus, dimension: number = LSA_DIMENSION): LsaModel {
  const documents = corpus.starts.length - 1
  const { kept, weights } = vocabulary(corpus, documents)
  const rows = weightRows(corpus, kept, weights)
  const terms = kept.map((place) => corpus.words[place]!)
  const axes = Math.min(dimension - 1, Math.ceil(documents / TEXTS_PER_AXIS))
  const width = Math.min(axes + OVERSAMPLING, documents, terms.length)
  const model = { dimension, documents, terms, weights }
  if (width === 0) return { ...model, projection: new Float32Array(terms.length * dimension) }

  let texts = times(rows, random(terms.length * width), width)
  for (let iteration = 0; iteration < ITERATIONS; iteration++) {
    orthonormalise(texts, width)
    texts = times(rows, transposedTimes(rows, texts, width, terms.length), width)
  }
  // A second pass, because one pass does not separate directions that are nearly equal.
  orthonormalise(texts, width)
  orthonormalise(texts, width)
  const basis = transposedTimes(rows, texts, width, terms.length)
  return { ...model, projection: principal({ basis, width, terms: terms.length, dimension, maxAxes: axes }) }
}

/**
 * The words of the model and their weights: 1 − entropy over the texts. Words of a single text are left out; if there are too many, the
 * most frequent are used.
 */
function vocabulary(corpus: Corpus, documents: number): { kept: number[]; weights: Float32Array } {
  const size = corpus.words.length
  const texts = new Int32Array(size)
  const totals = new Float64Array(size)
  const logs = new Float64Array(size)
  corpus.places.forEach((place, at) => {
    const count = corpus.counts[at]!
    texts[place]! += 1
    totals[place]! += count
    logs[place]! += count * Math.log(count)
  })
  const byWord = (a: number, b: number) => (corpus.words[a]! < corpus.words[b]! ? -1 : 1)
  const kept = [...texts.keys()]
    .filter((place) => texts[place]! >= 2)
    .sort((a, b) => texts[b]! - texts[a]! || byWord(a, b))
    .slice(0, MAX_TERMS)
    .sort(byWord)
  const most = Math.log(Math.max(documents, 2))
  const weights = Float32Array.from(kept, (place) =>
    Math.max(1 - (Math.log(totals[place]!) - logs[place]! / totals[place]!) / most, 0),
  )
  return { kept, weights }
}

/** One normalised row per text. */
function weightRows(corpus: Corpus, kept: readonly number[], weights: Float32Array): SparseRows {
  const columnOf = new Int32Array(corpus.words.length).fill(-1)
  kept.forEach((place, column) => {
    columnOf[place] = column
  })
  const starts = new Int32Array(corpus.starts.length)
  const columns = new Int32Array(corpus.places.length)
  const values = new Float32Array(corpus.places.length)
  let end = 0
  for (let row = 0; row + 1 < corpus.starts.length; row++) {
    let squares = 0
    for (let at = corpus.starts[row]!; at < corpus.starts[row + 1]!; at++) {
      const column = columnOf[corpus.places[at]!]!
      if (column < 0) continue
      const value = weightOf(corpus.counts[at]!, weights[column]!)
      columns[end] = column
      values[end++] = value
      squares += value * value
    }
    for (let at = starts[row]!; at < end; at++) values[at]! /= Math.sqrt(squares) || 1
    starts[row + 1] = end
  }
  return { starts, columns, values }
}

interface Subspace {
  readonly basis: Float32Array
  readonly width: number
  readonly terms: number
  readonly dimension: number
  readonly maxAxes: number
}

/** The strongest directions of the subspace, normalised. */
function principal({ basis, width, terms, dimension, maxAxes }: Subspace): Float32Array {
  const { vectors, values } = eigenvectors(gram(basis, width), width)
  const projection = new Float32Array(terms * dimension)
  // Directions with tiny eigenvalues are rounding noise.
  const axes = values.filter((value, axis) => axis < maxAxes && value > values[0]! * 1e-7).length
  for (let axis = 0; axis < axes; axis++) {
    const scale = 1 / Math.sqrt(values[axis]!)
    const direction = vectors.subarray(axis * width, (axis + 1) * width)
    for (let term = 0; term < terms; term++) {
      let sum = 0
      for (let j = 0; j < width; j++) sum += basis[term * width + j]! * direction[j]!
      projection[term * dimension + axis] = sum * scale
    }
  }
  return projection
}

/** Uniform from −1 to 1, from a fixed seed. */
function random(length: number): Float32Array {
  let state = 7
  return Float32Array.from({ length }, () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2_147_483_648 - 1
  })
}

// The corpus as numbers: copying a million strings to a thread would be slow.

export interface Corpus {
  readonly words: readonly string[]
  /** The words of text t are from starts[t] to starts[t + 1], each a place in `words`. */
  readonly starts: Int32Array
  readonly places: Int32Array
  readonly counts: Int32Array
}

export class CorpusBuilder {
  private readonly known = new Map<string, number>()
  private readonly starts: number[] = [0]
  private readonly places: number[] = []
  private readonly counts: number[] = []

  add(lexemes: Iterable<string>, counts: Iterable<number>): void {
    for (const lexeme of lexemes) {
      let place = this.known.get(lexeme)
      if (place === undefined) {
        place = this.known.size
        this.known.set(lexeme, place)
      }
      this.places.push(place)
    }
    for (const count of counts) this.counts.push(count)
    this.starts.push(this.places.length)
  }

  build(): Corpus {
    return {
      words: [...this.known.keys()],
      starts: Int32Array.from(this.starts),
      places: Int32Array.from(this.places),
      counts: Int32Array.from(this.counts),
    }
  }
}

// Linear algebra on row-major matrices. Sums are double, storage is single precision: the corpus determines about three digits of a
// vector, not seven.

/** A sparse matrix: row r has the entries from starts[r] to starts[r + 1]. */
interface SparseRows {
  readonly starts: Int32Array
  readonly columns: Int32Array
  readonly values: Float32Array
}

/** rows × dense, where `dense` has `width` columns. */
function times(rows: SparseRows, dense: Float32Array, width: number): Float32Array {
  const count = rows.starts.length - 1
  const product = new Float32Array(count * width)
  for (let row = 0; row < count; row++) {
    const to = row * width
    for (let at = rows.starts[row]!; at < rows.starts[row + 1]!; at++) {
      const from = rows.columns[at]! * width
      const value = rows.values[at]!
      for (let j = 0; j < width; j++) product[to + j]! += value * dense[from + j]!
    }
  }
  return product
}

/** transpose(rows) × dense; `rows` has `columns` columns. */
function transposedTimes(
  rows: SparseRows,
  dense: Float32Array,
  width: number,
  columns: number,
): Float32Array {
  const product = new Float32Array(columns * width)
  for (let row = 0; row + 1 < rows.starts.length; row++) {
    const from = row * width
    for (let at = rows.starts[row]!; at < rows.starts[row + 1]!; at++) {
      const to = rows.columns[at]! * width
      const value = rows.values[at]!
      for (let j = 0; j < width; j++) product[to + j]! += value * dense[from + j]!
    }
  }
  return product
}

/** The Gram matrix of the columns: width × width. */
function gram(dense: Float32Array, width: number): Float64Array {
  const product = new Float64Array(width * width)
  for (let row = 0; row < dense.length; row += width) {
    for (let i = 0; i < width; i++) {
      const value = dense[row + i]!
      const to = i * width
      for (let j = i; j < width; j++) product[to + j]! += value * dense[row + j]!
    }
  }
  for (let i = 0; i < width; i++) {
    for (let j = 0; j < i; j++) product[i * width + j] = product[j * width + i]!
  }
  return product
}

/**
 * Makes the columns orthonormal, in place, by the Cholesky factor of their Gram matrix: one pass over the rows, where Gram-Schmidt needs
 * one per pair. Once is exact enough between iterations, twice at the end.
 */
function orthonormalise(dense: Float32Array, width: number): void {
  const factor = cholesky(gram(dense, width), width)
  for (let row = 0; row < dense.length; row += width) {
    for (let j = 0; j < width; j++) {
      const value = dense[row + j]! / factor[j * width + j]!
      dense[row + j] = value
      const from = j * width
      for (let next = j + 1; next < width; next++) dense[row + next]! -= value * factor[from + next]!
    }
  }
}

/** The upper Cholesky factor. A zero pivot is replaced by a tiny one. */
function cholesky(symmetric: Float64Array, width: number): Float64Array {
  const factor = symmetric.slice()
  let trace = 0
  for (let i = 0; i < width; i++) trace += symmetric[i * width + i]!
  const least = Math.max(trace, 1e-30) * 1e-12
  for (let i = 0; i < width; i++) {
    const row = i * width
    const pivot = Math.sqrt(Math.max(factor[row + i]!, least))
    factor[row + i] = pivot
    for (let j = i + 1; j < width; j++) factor[row + j]! /= pivot
    for (let below = i + 1; below < width; below++) {
      const share = factor[row + below]!
      const to = below * width
      for (let j = below; j < width; j++) factor[to + j]! -= share * factor[row + j]!
    }
  }
  return factor
}

/**
 * Eigenvectors of a symmetric matrix, one per row, the greatest eigenvalue first. One-sided Jacobi on rows, because rows are contiguous
 * in memory.
 */
function eigenvectors(symmetric: Float64Array, width: number): { vectors: Float64Array; values: number[] } {
  const rows = symmetric.slice()
  const rotated = new Float64Array(width * width)
  for (let i = 0; i < width; i++) rotated[i * width + i] = 1
  const squares = new Float64Array(width)
  const matrices = { rows, rotated, squares }
  for (let sweep = 0, moved = true; moved && sweep < 30; sweep++) {
    moved = false
    // Computed again for each sweep, because rotations accumulate rounding errors.
    for (let p = 0; p < width; p++) squares[p] = dot(rows, p * width, p * width, width)
    for (let p = 0; p < width; p++) {
      for (let q = p + 1; q < width; q++) moved = rotate(matrices, p, q) || moved
    }
  }
  const lengths = Array.from(squares, Math.sqrt)
  const order = lengths.map((_, i) => i).sort((a, b) => lengths[b]! - lengths[a]! || a - b)
  const vectors = new Float64Array(width * width)
  order.forEach((from, to) => {
    vectors.set(rotated.subarray(from * width, (from + 1) * width), to * width)
  })
  return { vectors, values: order.map((i) => lengths[i]!) }
}

/** Rotates two rows so that they are orthogonal. False if they already are. */
function rotate(
  { rows, rotated, squares }: Record<'rows' | 'rotated' | 'squares', Float64Array>,
  p: number,
  q: number,
): boolean {
  const width = squares.length
  const product = dot(rows, p * width, q * width, width)
  if (Math.abs(product) <= 1e-7 * Math.sqrt(squares[p]! * squares[q]!)) return false
  const half = (squares[q]! - squares[p]!) / (2 * product)
  const tangent = (half < 0 ? -1 : 1) / (Math.abs(half) + Math.sqrt(half * half + 1))
  const cosine = 1 / Math.sqrt(tangent * tangent + 1)
  const sine = tangent * cosine
  squares[p]! -= tangent * product
  squares[q]! += tangent * product
  for (const matrix of [rows, rotated]) {
    for (let a = p * width, b = q * width; a < (p + 1) * width; a++, b++) {
      const ofP = matrix[a]!
      const ofQ = matrix[b]!
      matrix[a] = cosine * ofP - sine * ofQ
      matrix[b] = sine * ofP + cosine * ofQ
    }
  }
  return true
}

function dot(matrix: Float64Array, p: number, q: number, width: number): number {
  let sum = 0
  for (let j = 0; j < width; j++) sum += matrix[p + j]! * matrix[q + j]!
  return sum
}

// A fitted model: the vector of each known word. Stored in search_generation.model in a binary format.

export interface LsaModel {
  readonly dimension: number
  /** How many texts it was fitted on. */
  readonly documents: number
  readonly terms: readonly string[]
  readonly weights: Float32Array
  /** terms × dimension. */
  readonly projection: Float32Array
}

/** The weight of a word in a text: the same for fitting and for queries. */
function weightOf(count: number, weight: number): number {
  return (1 + Math.log(count)) * weight
}

type LsaProjection = (counts: Map<string, number>, use: 'passage' | 'query') => Float32Array

export function projectionOf({ dimension, terms, weights, projection }: LsaModel): LsaProjection {
  const places = new Map(terms.map((lexeme, place) => [lexeme, place]))
  return (counts, use) => {
    const vector = new Float32Array(dimension)
    for (const [lexeme, count] of counts) {
      const place = places.get(lexeme)
      if (place === undefined) continue
      const value = weightOf(count, weights[place]!)
      const from = place * dimension
      for (let axis = 0; axis < dimension; axis++) vector[axis]! += value * projection[from + axis]!
    }
    return normalise(vector) ? vector : wordlessVector(dimension, use)
  }
}

const VERSION = 1
const HEADER = 20

/** Version, dimension, documents, terms, bytes of the words; then the words by lines, the weights and the projection. */
export function encodeModel(model: LsaModel): Buffer {
  const words = Buffer.from(model.terms.join('\n'))
  const header = Buffer.alloc(HEADER)
  header.writeUInt8(VERSION, 0)
  header.writeUInt32LE(model.dimension, 4)
  header.writeUInt32LE(model.documents, 8)
  header.writeUInt32LE(model.terms.length, 12)
  header.writeUInt32LE(words.length, 16)
  return Buffer.concat([header, words, bytesOf(model.weights), bytesOf(model.projection)])
}

export function decodeModel(bytes: Buffer): LsaModel {
  if (bytes.length < HEADER || bytes.readUInt8(0) !== VERSION) {
    throw new Error(`the model is not of version ${VERSION}`)
  }
  const dimension = bytes.readUInt32LE(4)
  const documents = bytes.readUInt32LE(8)
  const count = bytes.readUInt32LE(12)
  const weightsFrom = HEADER + bytes.readUInt32LE(16)
  const projectionFrom = weightsFrom + count * 4
  if (bytes.length !== projectionFrom + count * dimension * 4) throw new Error('the model is cut off')
  const words = bytes.toString('utf8', HEADER, weightsFrom)
  return {
    dimension,
    documents,
    terms: count === 0 ? [] : words.split('\n'),
    weights: floatsOf(bytes.subarray(weightsFrom, projectionFrom)),
    projection: floatsOf(bytes.subarray(projectionFrom)),
  }
}
