/**
 * The handler of webhook_deliver: one signed POST to one target. A 2xx completes the job, 410 disables the target, everything else is
 * retried by the queue. Neither the secret nor the path of the address, which may hold a token, is ever in an error.
 */

import { createHmac, randomBytes } from 'node:crypto'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import {
  type Address,
  abortable,
  HostRefused,
  permittedAddresses,
  pinLookup,
  type Resolve,
} from '../access/outbound-hosts.ts'
import { StagedoorError } from '../kernel/errors.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import { VERSION } from '../kernel/version.ts'
import { FatalJobError, type JobContext, type JobHandler } from './handlers.ts'
import {
  MESSAGE_BODIES,
  mailRecipients,
  noticeText,
  readNotice,
  requireMailDomain,
  sendMail,
} from './messages.ts'
import type { Job } from './queue.ts'
import type { WebhookFormat, WebhookPurpose, WebhookTarget } from './shapes.ts'

export type { WebhookPurpose, WebhookTarget } from './shapes.ts'

export interface WebhookOptions {
  /** STAGEDOOR_WEBHOOK_HOSTS; empty: no webhook is sent. */
  readonly hosts: readonly string[]
  /** From the lookup of the name to the answer; default 10 s. */
  readonly timeoutMs?: number
  readonly resolve?: Resolve
  /** Certificates to trust besides the public ones, for receivers in a private network. */
  readonly ca?: string
  /** SMTP_URL; without it no e-mail is sent. */
  readonly smtpUrl?: string | undefined
  readonly mailFrom?: string | undefined
  /** STAGEDOOR_MAIL_DOMAINS; empty: only the domains of members' verified addresses. */
  readonly mailDomains?: readonly string[] | undefined
  /** PUBLIC_URL: where links in messages lead. */
  readonly publicUrl?: string | undefined
}

interface Target {
  readonly workspace_id: string | null
  readonly url: string
  readonly secret: string
  readonly format: WebhookFormat
  readonly enabled: boolean
}

const TIMEOUT_MS = 10_000

export function webhookHandler(options: WebhookOptions): JobHandler {
  return async (job, context) => {
    const code = targetOf(job)
    const target = await readTarget(context, code)
    if (!target) throw new FatalJobError(`There is no webhook target ${code}`)
    if (target.workspace_id !== null && target.workspace_id !== job.workspace_id) {
      throw new FatalJobError(`The webhook target ${code} belongs to another workspace`)
    }
    if (!target.enabled) return { skipped: `the webhook target ${code} is switched off` }
    if (target.url.startsWith('mailto:')) {
      const recipients = await context
        .transaction((client) =>
          mailRecipients(client, job, { code, url: target.url }, options.mailDomains ?? []),
        )
        .catch((error: unknown) => {
          if (error instanceof StagedoorError && error.code === 'argument_invalid')
            throw new FatalJobError(`${error.message}. ${error.hint}`)
          throw error
        })
      if (recipients.length === 0) return { skipped: 'no requested reviewer has a verified e-mail address' }
      await sendMail(job, recipients, await readNotice(context, job), options)
      return { target: code, sent: true }
    }
    const body =
      target.format === 'json'
        ? bodyOf(job)
        : MESSAGE_BODIES[target.format](noticeText(job, await readNotice(context, job), options))
    const status = await post(job, target, body, context.signal, options)
    if (status === 410) {
      await context.transaction((client) =>
        client.query('select iu_core.fn_webhook_target_disable_gone($1, $2)', [
          code,
          'the receiver answered 410 Gone',
        ]),
      )
      throw new FatalJobError(`The webhook target ${code} answered 410 Gone and was disabled`)
    }
    if (status >= 300 && status < 400) {
      throw new Error(`The webhook target ${code} answered ${status}; redirects are not followed`)
    }
    if (status < 200 || status >= 300) throw new Error(`The webhook target ${code} answered ${status}`)
    return { target: code, status }
  }
}

/** A job names its target; one that a consumer made goes to the target with the consumer's name. */
function targetOf(job: Job): string {
  const named = /^webhook:(.+)$/.exec(job.payload_ref ?? '')?.[1] ?? job.payload.consumer_id
  if (typeof named !== 'string')
    throw new FatalJobError('The job names no target: payload_ref is webhook:<target>')
  return named
}

async function readTarget(context: JobContext, code: string): Promise<Target | undefined> {
  const { rows } = await context.transaction((client) =>
    client.query<Target>(
      'select workspace_id, url, secret, format, enabled from iu_core.webhook_target where target_code = $1',
      [code],
    ),
  )
  return rows[0]
}

/** References only, and the same bytes in every attempt. */
function bodyOf(job: Job): string {
  const { type, event_type: eventType, consumer_id: _, ...references } = job.payload
  return JSON.stringify({
    type: type ?? eventType ?? job.job_kind,
    timestamp: job.enqueued_at.toISOString(),
    data: {
      ...references,
      subject: job.target_ref,
      address: job.source_ref,
      workspace_id: job.workspace_id,
      event_id: job.causation_event_id,
      correlation_id: job.correlation_id,
    },
  })
}

async function post(
  job: Job,
  target: Target,
  body: string,
  aborted: AbortSignal,
  options: WebhookOptions,
): Promise<number> {
  const url = new URL(target.url)
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS
  const late = AbortSignal.timeout(timeoutMs)
  const signal = AbortSignal.any([aborted, late])
  try {
    const addresses = await abortable(
      permittedAddresses(url, { hosts: options.hosts, setting: 'STAGEDOOR_WEBHOOK_HOSTS' }, options.resolve),
      signal,
    )
    return await send({ url, addresses, job, body, secret: target.secret, signal, ca: options.ca })
  } catch (error) {
    if (error instanceof HostRefused) throw new FatalJobError(error.message)
    if (late.aborted && !aborted.aborted)
      throw new Error(`${url.host} did not answer within ${timeoutMs / 1000} s`)
    const { code, message } = error as NodeJS.ErrnoException
    throw new Error(`${url.host} could not be reached: ${code ?? message}`)
  }
}

interface Delivery {
  readonly url: URL
  /** The addresses that were checked: no other is connected to. */
  readonly addresses: readonly Address[]
  readonly job: Job
  readonly body: string
  readonly secret: string
  readonly signal: AbortSignal
  readonly ca: string | undefined
}

function send({ url, addresses, job, body, secret, signal, ca }: Delivery): Promise<number> {
  const timestamp = Math.floor(Date.now() / 1000)
  const request = url.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method: 'POST',
        // A connection of its own: a kept one might lead to an address that was checked for another time.
        agent: false,
        lookup: pinLookup(addresses),
        signal,
        ...(ca !== undefined && { ca }),
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'user-agent': `Stagedoor/${VERSION}`,
          'webhook-id': job.job_id,
          'webhook-timestamp': timestamp,
          'webhook-signature': signatureOf(secret, job.job_id, timestamp, body),
        },
      },
      (response: IncomingMessage) => {
        // Only the status is used; the body of the answer is not read.
        resolve(response.statusCode!)
        response.on('error', () => {})
        response.destroy()
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

// Targets of webhooks, for administrators. A secret goes in and never comes out.

/** What of a target can be set; a name that is left out stays as it is. A new one needs url, secret and purpose. */
export interface WebhookTargetSettings {
  readonly url?: string | undefined
  /** As newWebhookSecret makes it; the new and the old one with a blank between while the receiver changes over. */
  readonly secret?: string | undefined
  readonly purpose?: WebhookPurpose | undefined
  readonly format?: WebhookFormat | undefined
  readonly workspace_id?: string | undefined
  readonly description?: string | undefined
  readonly enabled?: boolean | undefined
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

/** Refuses an address that webhooks may not be sent to. A name that cannot be resolved now is accepted. */
export async function requireReachable(
  db: Queryable,
  { code, url }: { readonly code: string; readonly url: string },
  { hosts, mailDomains = [] }: Pick<WebhookOptions, 'hosts' | 'mailDomains'>,
): Promise<void> {
  if (url.startsWith('mailto:')) return requireMailDomain(db, { code, url }, mailDomains)
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

/** Enqueues one delivery of the type test. Returns the job. */
export async function testWebhookTarget(db: Queryable, code: string): Promise<string> {
  const { rows } = await db.query<{ job_id: string }>('select iu_core.fn_webhook_target_test($1) as job_id', [
    code,
  ])
  return rows[0]!.job_id
}

/** Deletes the target. Deliveries that are still queued become dead letters. */
export async function deleteWebhookTarget(db: Queryable, code: string): Promise<void> {
  await db.query('select iu_core.fn_webhook_target_delete($1)', [code])
}

// Signatures as the Standard Webhooks specification describes them.

const PREFIX = 'whsec_'

/** A new secret, shown once to the person who registers the target. The receiver needs it. */
export function newWebhookSecret(): string {
  return PREFIX + randomBytes(32).toString('base64')
}

/** One signature for each secret, with a blank between: while a secret is replaced the receiver may know either. */
export function signatureOf(secrets: string, id: string, timestamp: number, body: string): string {
  return secrets
    .split(' ')
    .map((secret) => {
      const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
    })
    .join(' ')
}
