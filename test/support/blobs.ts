/** A blob store of its own for one test file, that can be looked into. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import type { BlobStore } from '../../src/runtime/stores/blob-store.ts'
import { createDiskBlobStore } from '../../src/runtime/stores/disk-store.ts'

export interface TestBlobs {
  readonly store: BlobStore
  /** References of what is kept. */
  kept(): Promise<string[]>
  /** How many uploads have begun and not ended. */
  drafts(): number
  /** Changes the bytes behind the store's back. */
  tamper(ref: string, bytes: string): void
}

export function useBlobs(): TestBlobs {
  const folder = mkdtempSync(join(tmpdir(), 'stagedoor-test-blobs-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const store = createDiskBlobStore(folder)
  return {
    store,
    async kept() {
      const refs: string[] = []
      for await (const ref of store.list(new Date(Date.now() + 3_600_000))) refs.push(ref)
      return refs
    },
    drafts() {
      return readdirSync(folder).includes('drafts') ? readdirSync(join(folder, 'drafts')).length : 0
    },
    tamper(ref, bytes) {
      const name = ref.slice('disk:'.length)
      writeFileSync(join(folder, name.slice(0, 2), name), bytes)
    },
  }
}
