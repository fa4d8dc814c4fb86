/**
 * Dot products of one vector with many, in WebAssembly: V8 compiles no vector instructions from JavaScript. Measured for 200,000 × 200
 * on one core: 90 ms for float32 in JavaScript, 5 ms here.
 */

/** For each row of signed bytes, its dot product with a vector of 16-bit numbers. Addresses are in the memory that was given. */
export type Dots = (vector: number, rows: number, count: number, stride: number, products: number) => void

/** Bytes of a vector register: a row has a multiple of them, padded with zeros. */
export const LANES = 16

const I32 = 0x7f
const V128 = 0x7b
const EMPTY = 0x40

// Parameters and locals of the function, in this order.
const [VECTOR, ROWS, COUNT, STRIDE, PRODUCTS, END, ROW_END, AT, BYTES, LOW, HIGH] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
] as const

const get = (local: number): number[] => [0x20, local]
const set = (local: number): number[] => [0x21, local]
const constant = (value: number): number[] => [0x41, value]
const [ADD, MULTIPLY, LESS, NOT_LESS] = [0x6a, 0x6c, 0x49, 0x4f]
const increase = (local: number, by: number): number[] => [...get(local), ...constant(by), ADD, ...set(local)]
const simd = (...code: number[]): number[] => [0xfd, ...code]
const load = (offset: number): number[] => simd(0x00, 4, offset)
const ZERO = simd(0x0c, ...new Array<number>(LANES).fill(0))
const lane = (number: number): number[] => simd(0x1b, number)
const [EXTEND_LOW, EXTEND_HIGH] = [simd(0x87, 0x01), simd(0x88, 0x01)]
const [ADD_LANES, DOT] = [simd(0xae, 0x01), simd(0xba, 0x01)]

/** sum += the 16-bit halves of 16 bytes, times the 16-bit numbers at `offset`, added in pairs. */
const accumulate = (sum: number, extend: number[], offset: number): number[] => [
  ...[...get(sum), ...get(BYTES), ...extend, ...get(AT), ...load(offset), ...DOT, ...ADD_LANES, ...set(sum)],
]

const BODY = [
  ...[...get(ROWS), ...get(COUNT), ...get(STRIDE), MULTIPLY, ADD, ...set(END)],
  ...[0x02, EMPTY], // block: leave when all rows are done
  ...[0x03, EMPTY], // loop over rows
  ...[...get(ROWS), ...get(END), NOT_LESS, 0x0d, 1],
  ...[...ZERO, ...set(LOW), ...ZERO, ...set(HIGH)],
  ...[...get(VECTOR), ...set(AT), ...get(ROWS), ...get(STRIDE), ADD, ...set(ROW_END)],
  ...[0x03, EMPTY], // loop over 16 numbers each
  ...[...get(ROWS), ...load(0), ...set(BYTES)],
  ...accumulate(LOW, EXTEND_LOW, 0),
  ...accumulate(HIGH, EXTEND_HIGH, 16),
  ...increase(AT, 2 * LANES),
  ...increase(ROWS, LANES),
  ...[...get(ROWS), ...get(ROW_END), LESS, 0x0d, 0, 0x0b],
  ...[...get(LOW), ...get(HIGH), ...ADD_LANES, ...set(LOW)],
  ...get(PRODUCTS),
  ...[0, 1, 2, 3].flatMap((number) => [...get(LOW), ...lane(number), ...(number > 0 ? [ADD] : [])]),
  ...[0x36, 2, 0], // i32.store
  ...increase(PRODUCTS, 4),
  ...[0x0c, 0, 0x0b, 0x0b], // next row
  0x0b,
]

/** A length in LEB128. */
function lengthOf(length: number): number[] {
  return length < 0x80 ? [length] : [(length & 0x7f) | 0x80, ...lengthOf(length >> 7)]
}

const sized = (bytes: readonly number[]): number[] => [...lengthOf(bytes.length), ...bytes]
const section = (id: number, bytes: readonly number[]): number[] => [id, ...sized(bytes)]
const nameOf = (text: string): number[] => sized([...Buffer.from(text)])

const MODULE = Uint8Array.from([
  ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
  ...section(1, [1, 0x60, 5, I32, I32, I32, I32, I32, 0]),
  ...section(2, [1, ...nameOf('mirror'), ...nameOf('memory'), 0x02, 0x00, 1]),
  ...section(3, [1, 0]),
  ...section(7, [1, ...nameOf('dots'), 0x00, 0]),
  ...section(10, [1, ...sized([2, 3, I32, 3, V128, ...BODY])]),
])

/** The types of these come with those of browsers. */
declare const WebAssembly: {
  readonly Memory: new (size: { initial: number }) => Memory
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: Record<string, unknown> }
}

/** Growing replaces the buffer. */
export interface Memory {
  readonly buffer: ArrayBuffer
  /** By so many times 64 KiB. */
  grow(pages: number): number
}

export function createMemory(): Memory {
  return new WebAssembly.Memory({ initial: 1 })
}

export function createDots(memory: Memory): Dots {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(MODULE), { mirror: { memory } })
  return exports.dots as Dots
}
