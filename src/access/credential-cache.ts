/**
 * Answers of the database about cookies and machine tokens, kept for a moment: a page of the console asks many things at once. What this
 * process revokes is forgotten at once; what another process revokes works here for at most `forMs` longer.
 */

/** The longest time for which a revoked credential still works in another process. */
const CREDENTIAL_CACHE_MS = 3_000
const MAX_ENTRIES = 10_000

export class CredentialCache<T extends { readonly subject: string }> {
  private readonly entries = new Map<string, { readonly value: T; readonly until: number }>()
  private readonly forMs: number

  constructor(forMs = CREDENTIAL_CACHE_MS) {
    this.forMs = forMs
  }

  /** Only what is valid is kept: a credential that was refused is asked for again. */
  async get(hash: string, load: () => Promise<T | undefined>): Promise<T | undefined> {
    const kept = this.entries.get(hash)
    if (kept && kept.until > performance.now()) return kept.value
    this.entries.delete(hash)
    const askedAt = performance.now()
    const value = await load()
    // A revocation while the database was asked: its answer may be from before.
    if (value === undefined || this.forMs === 0 || this.forgottenAt >= askedAt) return value
    if (this.entries.size >= MAX_ENTRIES) this.entries.delete(this.entries.keys().next().value!)
    this.entries.set(hash, { value, until: askedAt + this.forMs })
    return value
  }

  private forgottenAt = Number.NEGATIVE_INFINITY

  forget(belongs: (value: T) => boolean): void {
    this.forgottenAt = performance.now()
    for (const [hash, { value }] of this.entries) if (belongs(value)) this.entries.delete(hash)
  }
}
