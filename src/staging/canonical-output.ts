/** What has been written so far. Buffers grow by doubling, so that each byte is copied a few times at most. */
export class CanonicalOutput {
  bytes: Buffer
  length = 0

  constructor(capacity: number) {
    this.bytes = Buffer.allocUnsafe(capacity)
  }

  /** After it, `count` bytes can be written without asking again. */
  reserve(count: number): void {
    const needed = this.length + count
    if (needed <= this.bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(needed, this.bytes.length * 2))
    this.bytes.copy(larger, 0, 0, this.length)
    this.bytes = larger
  }

  finish(): Buffer {
    return this.bytes.subarray(0, this.length)
  }
}
