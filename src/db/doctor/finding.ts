/** What doctor says. */
export type FindingKind =
  | 'missing'
  | 'unexpected'
  | 'drifted'
  | 'owner'
  | 'grant'
  | 'rls'
  | 'index'
  | 'role'
  | 'login'
  | 'pooler'
  | 'partitions'
  | 'workspaces'
  | 'migrations'

export interface Finding {
  readonly kind: FindingKind
  /** `table iu_core.event_outbox`, `role stagedoor_api` … */
  readonly object: string
  /** What is wrong with it, as the end of a sentence that begins with the object. */
  readonly problem: string
  /** A statement, which ends with a semicolon, or a command. */
  readonly remedy: string
}
