/** Targets of webhooks, for administrators. A secret goes in and never comes out. */
import { HostRefused, permittedAddresses } from '../access/outbound-hosts.ts'
import type { Queryable } from '../db/connection.ts'
import { StagedoorError } from '../errors.ts'

export type WebhookPurpose = 'review' | 'alert' | 'event'

export interface WebhookTarget {
  readonly target_code: string
  /** Null: told of what happens in every workspace. */
  readonly workspace_id: string | null
  readonly purpose: WebhookPurpose
  readonly url: string
  readonly description: string | null
  readonly enabled: boolean
  /** Why it was switched off by itself: the receiver said that it is gone. */
  readonly disabled_reason: string | null
  readonly registered_by: string
  readonly registered_at: Date
  readonly changed_at: Date
}

/** What of a target can be set; a name that is left out stays as it is. A new one needs url, secret and purpose. */
export interface WebhookTargetSettings {
  readonly url?: string
  /** As newWebhookSecret makes it; the new and the old one with a blank between while the receiver changes over. */
  readonly secret?: string
  readonly purpose?: WebhookPurpose
  readonly workspace_id?: string
  readonly description?: string
  readonly enabled?: boolean
}

export async function setWebhookTarget(
  db: Queryable,
  code: string,
  settings: WebhookTargetSettings,
  actor?: string,
): Promise<void> {
  await db.query('select iu_core.fn_webhook_target_set($1, $2, $3)', [
    code,
    JSON.stringify(settings),
    actor ?? null,
  ])
}

/** Refuses an address that no webhook would be delivered to. A name that nobody can look up now may be there by then. */
export async function requireReachable(url: string, hosts: readonly string[]): Promise<void> {
  try {
    await permittedAddresses(new URL(url), { hosts, setting: 'STAGEDOOR_WEBHOOK_HOSTS' })
  } catch (error) {
    if (!(error instanceof HostRefused)) return
    throw new StagedoorError(
      'argument_invalid',
      { reason: `Nothing would be sent there: ${error.message}` },
      { cause: error },
    )
  }
}

/** Of one workspace; the back end may leave it out and gets all. */
export async function listWebhookTargets(db: Queryable, workspaceId?: string): Promise<WebhookTarget[]> {
  const { rows } = await db.query<WebhookTarget>('select * from iu_core.fn_webhook_targets($1)', [
    workspaceId ?? null,
  ])
  return rows
}

/** What was not delivered to it yet becomes a dead letter. */
export async function removeWebhookTarget(db: Queryable, code: string): Promise<void> {
  await db.query('select iu_core.fn_webhook_target_remove($1)', [code])
}
