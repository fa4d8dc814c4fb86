/** What a worker of search tells whoever measures it. */

/** Where a process may die; for tests. */
export type Boundary = 'claimed' | 'read' | 'text' | 'removed' | 'embedded' | 'upserted' | 'written'

export interface ProjectionHooks {
  claimed?(rows: number): void
  /** Rows that are in search as they are now. */
  done?(rows: number, ms: number): void
  failed?(rows: number, deadLetters: number): void
  /** Rows that wait for an embedder or a store. */
  waiting?(rows: number): void
  /** Chunks that were sent to the embedder of a collection. */
  embedded?(collection: string, chunks: number): void
  switched?(collection: string): void
  boundary?(name: Boundary): Promise<void> | void
}
