/** The members of one object: put into jsonb's order (shorter keys first, then by bytes), the last of equal keys kept. */
import type { CanonicalOutput } from './canonical-output.ts'
import { unescapeInto } from './canonical-string.ts'

/** Up to so many bytes a loop is faster than a call into the runtime. */
const SHORT = 64
/** Up to so many members are put into order by insertion. */
const FEW = 12

/** Members of all objects that are open, the innermost last; what is wrong with each value is kept beside it. */
export class Members {
  count = 0
  /** Where each begins in the output, and where its key ends in #keys. */
  #starts = new Int32Array(256)
  #keyEnds = new Int32Array(256)
  #problems = new Uint8Array(256)
  /** All keys without their escapes, as they are compared. */
  #keys: Buffer = Buffer.allocUnsafe(4096)
  #written = Buffer.allocUnsafe(4096)
  /** Of one object that is being put into order. */
  #order = new Int32Array(64)
  #merged = new Int32Array(64)

  /** A member whose key stands in the output from `start`, quotes included, to the end. */
  open(start: number, output: CanonicalOutput): void {
    if (this.count === this.#starts.length) this.#grow()
    const from = this.#keyStart(this.count)
    const most = output.length - start
    if (from + most > this.#keys.length) this.#keys = enlarged(this.#keys, from + most)
    this.#starts[this.count] = start
    this.#keyEnds[this.count] = unescapeInto(this.#keys, from, output.bytes, start + 1, output.length - 1)
    this.#problems[this.count] = 0
    this.count++
  }

  /** Of the value of the newest member. */
  blame(problem: number): void {
    this.#problems[this.count - 1] = problem
  }

  /** Closes the object whose members begin at `base`; returns the first problem among those that stay, or 0. */
  close(base: number, output: CanonicalOutput): number {
    let problem = 0
    if (this.#inOrder(base)) {
      for (let member = base; member < this.count; member++) problem ||= this.#problems[member]!
    } else {
      const kept = this.#lastOfEqual(this.#sort(base), this.count - base)
      for (let index = 0; index < kept; index++) problem ||= this.#problems[this.#order[index]!]!
      this.#rewrite(base, kept, output)
    }
    this.count = base
    return problem
  }

  #keyStart(member: number): number {
    return member === 0 ? 0 : this.#keyEnds[member - 1]!
  }

  /** Rows of one table are often in order already, or all out of it. */
  #inOrder(base: number): boolean {
    for (let member = base + 1; member < this.count; member++) {
      if (this.#compare(member - 1, member) >= 0) return false
    }
    return true
  }

  #compare(a: number, b: number): number {
    const keys = this.#keys
    let at = this.#keyStart(a)
    let other = this.#keyStart(b)
    const end = this.#keyEnds[a]!
    const byLength = end - at - (this.#keyEnds[b]! - other)
    if (byLength !== 0) return byLength
    for (; at < end; at++, other++) {
      const difference = keys[at]! - keys[other]!
      if (difference !== 0) return difference
    }
    return 0
  }

  /** Members in order, in #order. Stable: a merge of runs that were put into order by insertion. */
  #sort(base: number): Int32Array {
    const length = this.count - base
    if (length > this.#order.length) {
      this.#order = new Int32Array(length * 2)
      this.#merged = new Int32Array(length * 2)
    }
    const items = this.#order
    for (let index = 0; index < length; index++) items[index] = base + index
    for (let from = 0; from < length; from += FEW) this.#insert(items, from, Math.min(from + FEW, length))
    for (let width = FEW; width < length; width *= 2) {
      for (let from = 0; from < length; from += 2 * width) {
        this.#merge(from, Math.min(from + width, length), Math.min(from + 2 * width, length))
      }
      ;[this.#order, this.#merged] = [this.#merged, this.#order]
    }
    return this.#order
  }

  #insert(items: Int32Array, from: number, end: number): void {
    for (let next = from + 1; next < end; next++) {
      const item = items[next]!
      let at = next
      for (; at > from && this.#compare(items[at - 1]!, item) > 0; at--) items[at] = items[at - 1]!
      items[at] = item
    }
  }

  #merge(from: number, middle: number, end: number): void {
    const items = this.#order
    let left = from
    let right = middle
    for (let to = from; to < end; to++) {
      const takeLeft = left < middle && (right >= end || this.#compare(items[left]!, items[right]!) <= 0)
      this.#merged[to] = takeLeft ? items[left++]! : items[right++]!
    }
  }

  /** Equal keys stand in the order in which they were written. Returns how many members are left. */
  #lastOfEqual(members: Int32Array, length: number): number {
    let count = 0
    for (let index = 0; index < length; index++) {
      const next = index + 1
      if (next < length && this.#compare(members[index]!, members[next]!) === 0) continue
      members[count++] = members[index]!
    }
    return count
  }

  #rewrite(base: number, kept: number, output: CanonicalOutput): void {
    const from = this.#starts[base]!
    const length = output.length - from
    if (length > this.#written.length) this.#written = Buffer.allocUnsafe(length * 2)
    const written = this.#written
    copyBytes(output.bytes, from, output.length, written, 0)
    const { bytes } = output
    let to = from
    for (let index = 0; index < kept; index++) {
      const member = this.#order[index]!
      if (to > from) {
        bytes[to++] = 0x2c
        bytes[to++] = 0x20
      }
      const start = this.#starts[member]! - from
      const end = member + 1 < this.count ? this.#starts[member + 1]! - 2 - from : length
      copyBytes(written, start, end, bytes, to)
      to += end - start
    }
    output.length = to
  }

  #grow(): void {
    const size = this.count * 2
    const grown = <T extends Int32Array | Uint8Array>(larger: T, old: T): T => {
      larger.set(old)
      return larger
    }
    this.#starts = grown(new Int32Array(size), this.#starts)
    this.#keyEnds = grown(new Int32Array(size), this.#keyEnds)
    this.#problems = grown(new Uint8Array(size), this.#problems)
  }
}

function copyBytes(from: Buffer, start: number, end: number, target: Buffer, at: number): void {
  if (end - start > SHORT) from.copy(target, at, start, end)
  else for (let index = start, to = at; index < end; index++, to++) target[to] = from[index]!
}

function enlarged(buffer: Buffer, needed: number): Buffer {
  const larger = Buffer.allocUnsafe(Math.max(needed, buffer.length * 2))
  buffer.copy(larger)
  return larger
}
