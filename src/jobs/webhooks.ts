/**
 * The handler of webhook_deliver: one signed POST to one target. A 2xx is done, 410 switches the target off, everything else is
 * tried again by the queue. Neither the secret nor the path of the address, which may hold a token, is ever in an error.
 */
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import {
  type Address,
  HostRefused,
  orAborted,
  permittedAddresses,
  pinnedTo,
  type Resolve,
} from '../access/outbound-hosts.ts'
import { VERSION } from '../version.ts'
import { FatalJobError, type JobContext, type JobHandler } from './handlers.ts'
import type { Job } from './job.ts'
import { signatureOf } from './webhook-signature.ts'

export interface WebhookOptions {
  /** STAGEDOOR_WEBHOOK_HOSTS: empty, and no webhook leaves the house. */
  readonly hosts: readonly string[]
  /** From the lookup of the name to the answer; default 10 s. */
  readonly timeoutMs?: number
  readonly resolve?: Resolve
  /** Certificates to trust besides the public ones: a receiver inside the house. */
  readonly ca?: string
}

interface Target {
  readonly workspace_id: string | null
  readonly url: string
  readonly secret: string
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
    const status = await post(job, target, context.signal, options)
    if (status === 410) {
      await context.transaction((client) =>
        client.query('select iu_core.fn_webhook_target_gone($1, $2)', [
          code,
          'the receiver answered 410 Gone',
        ]),
      )
      throw new FatalJobError(`The webhook target ${code} is gone (410) and was switched off`)
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
  const named = /^webhook:(.+)$/.exec(job.payload_ref ?? '')?.[1] ?? job.safe_payload.consumer_id
  if (typeof named !== 'string')
    throw new FatalJobError('The job names no target: payload_ref is webhook:<target>')
  return named
}

async function readTarget(context: JobContext, code: string): Promise<Target | undefined> {
  const { rows } = await context.transaction((client) =>
    client.query<Target>(
      'select workspace_id, url, secret, enabled from iu_core.webhook_target where target_code = $1',
      [code],
    ),
  )
  return rows[0]
}

/** References only, and the same bytes in every attempt. */
function bodyOf(job: Job): string {
  const { type, event_type: eventType, consumer_id: _, ...references } = job.safe_payload
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
  aborted: AbortSignal,
  options: WebhookOptions,
): Promise<number> {
  const url = new URL(target.url)
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS
  const late = AbortSignal.timeout(timeoutMs)
  const signal = AbortSignal.any([aborted, late])
  try {
    const addresses = await orAborted(
      permittedAddresses(url, { hosts: options.hosts, setting: 'STAGEDOOR_WEBHOOK_HOSTS' }, options.resolve),
      signal,
    )
    return await send(url, addresses, job, target.secret, signal, options.ca)
  } catch (error) {
    if (error instanceof HostRefused) throw new FatalJobError(error.message)
    if (late.aborted && !aborted.aborted)
      throw new Error(`${url.host} did not answer within ${timeoutMs / 1000} s`)
    const { code, message } = error as NodeJS.ErrnoException
    throw new Error(`${url.host} could not be reached: ${code ?? message}`)
  }
}

function send(
  url: URL,
  addresses: readonly Address[],
  job: Job,
  secret: string,
  signal: AbortSignal,
  ca: string | undefined,
): Promise<number> {
  const body = bodyOf(job)
  const timestamp = Math.floor(Date.now() / 1000)
  const request = url.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method: 'POST',
        // A connection of its own: a kept one might lead to an address that was checked for another time.
        agent: false,
        lookup: pinnedTo(addresses),
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
        // The status says it all; what is in the answer is nobody's business.
        resolve(response.statusCode!)
        response.on('error', () => {})
        response.destroy()
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}
