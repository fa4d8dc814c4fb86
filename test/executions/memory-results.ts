import { MAX_INLINE_BYTES, type ResultValue } from '../../src/executions/event.ts'
import type { ResultStore } from '../../src/executions/results.ts'
import type { Json } from '../../src/kernel/json.ts'

/** A store of results that end with the process. */
export function createMemoryResultStore(): ResultStore {
  const stored = new Map<string, string>()
  return {
    async store(value) {
      const text = JSON.stringify(value)
      const bytes = Buffer.byteLength(text)
      if (bytes <= MAX_INLINE_BYTES) return { value: JSON.parse(text) as Json }
      const ref = String(stored.size + 1)
      stored.set(ref, text)
      return { ref, bytes }
    },
    async load(result: ResultValue) {
      return 'value' in result ? result.value : (JSON.parse(stored.get(result.ref)!) as Json)
    },
  }
}
