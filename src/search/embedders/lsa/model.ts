/** A fitted model: where each known word points. Kept in search_generation.model as bytes of our own. */
import { normalise, wordless } from '../vectors.ts'

export interface LsaModel {
  readonly dimension: number
  /** How many texts it was fitted on. */
  readonly documents: number
  readonly terms: readonly string[]
  readonly weights: Float32Array
  /** terms × dimension. */
  readonly projection: Float32Array
}

/** Of a word in a text: the same for what a model is fitted on and what it is asked. */
export function weightOf(count: number, weight: number): number {
  return (1 + Math.log(count)) * weight
}

export type Projection = (counts: Map<string, number>, use: 'passage' | 'query') => Float32Array

export function projectionOf({ dimension, terms, weights, projection }: LsaModel): Projection {
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
    return normalise(vector) ? vector : wordless(dimension, use)
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

/** Little-endian, as every machine that this runs on is. */
export function bytesOf(floats: Float32Array): Buffer {
  return Buffer.from(floats.buffer, floats.byteOffset, floats.byteLength)
}

/** A copy: what the driver hands out starts at any byte, floats only at every fourth. */
export function floatsOf(bytes: Uint8Array): Float32Array {
  return new Float32Array(Uint8Array.from(bytes).buffer)
}
