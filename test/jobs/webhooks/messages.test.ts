/** What reviewers are told in a chat and by e-mail: number, title, counts and a link, never a value of the data. */
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { afterEach, expect, it } from 'vitest'
import { newWebhookSecret, setWebhookTarget, webhookHandler } from '../../../src/jobs/webhooks.ts'
import { inTransaction } from '../../../src/kernel/postgres/transaction.ts'
import { useDatabase } from '../../support/database.ts'
import { useTrial } from '../../support/ingest-rows.ts'
import { until } from '../../support/until.ts'
import { useJobs } from '../worker/support.ts'
import { useReceivers } from './receiver.ts'

const db = useDatabase()
const trial = useTrial(db, { approval: true })
const jobs = useJobs(db)
const startReceiver = useReceivers()
const servers: SMTPServer[] = []
const PUBLIC = 'https://stagedoor.example.com'
afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise<void>((resolve) => server.close(() => resolve()))
})

const asService = <T>(work: Parameters<typeof inTransaction<T>>[1]) =>
  inTransaction(db.pool('stagedoor_worker'), work, { role: 'service_role' })
const target = (code: string, url: string, format?: 'slack' | 'teams') =>
  asService((client) =>
    setWebhookTarget(client, code, { url, format, secret: newWebhookSecret(), purpose: 'review' }),
  )

/** A plan of an upload with a title that tries to be markup, submitted; reviewers are told of it. */
async function submitted(title: string): Promise<{ number: number; change_id: string }> {
  const plan = await trial.stagePlanned([
    { group_code: `g${title.length}`, group_name: 'secret value', day: '2026-11-01', amount: 4711 },
  ])
  await trial.service('select iu_core.fn_ingest_submit($1, $2, $3)', [
    plan.upload_id,
    plan.digest,
    trial.operator.userId,
  ])
  const [change] = await db.owner<{ number: number; change_id: string }>(
    'update iu_core.change set title = $2 where subject_id = $1 returning number, change_id',
    [plan.upload_id, title],
  )
  await asService((client) => client.query('select iu_core.fn_notify_reviewers($1)', [plan.upload_id]))
  return change!
}

it('Slack and Teams get a message in their shape, with a link to the very change', async () => {
  const receiver = await startReceiver()
  await target('slack', `http://127.0.0.1:${receiver.port}/slack`, 'slack')
  await target('teams', `http://127.0.0.1:${receiver.port}/teams`, 'teams')
  const { number } = await submitted('Spend <https://evil.example|click> [x](https://evil.example)')
  await jobs.start({
    webhook_deliver: webhookHandler({ hosts: [`127.0.0.1:${receiver.port}`], publicUrl: PUBLIC }),
  })
  await until('both were delivered', () => receiver.received.length === 2)
  const body = (path: string) => JSON.parse(receiver.received.find((one) => one.path === path)!.body)
  const slack = body('/slack').blocks[0].text.text
  expect(slack).toContain(`<${PUBLIC}/changes/${number}|Open it>`)
  expect(slack).toContain('&lt;https://evil.example|click&gt;')
  expect(slack).toContain('Rows: 2 new.')
  expect(slack).toContain('Review: 0 of 1 approval; still needed: 1 more approval.')
  const { content } = body('/teams').attachments[0]
  expect(content).toMatchObject({ type: 'AdaptiveCard', actions: [{ url: `${PUBLIC}/changes/${number}` }] })
  expect(content.body[0].text).toContain('\\[x\\]\\(https://evil.example\\)')
  expect(JSON.stringify(receiver.received)).not.toMatch(/secret value|4711/)
  await asService((client) => client.query(`delete from iu_core.webhook_target`)).catch(() => {})
  await db.owner('delete from iu_core.webhook_target')
})

it('an address gets an e-mail through the mail server, tried again under the same id', async () => {
  const mails: { to: string[]; text: string }[] = []
  let refusals = 1
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, session, done) {
      let text = ''
      stream.on('data', (chunk) => {
        text += chunk
      })
      stream.on('end', () => {
        mails.push({ to: session.envelope.rcptTo.map(({ address }) => address), text })
        done(refusals-- > 0 ? Object.assign(new Error('busy'), { responseCode: 451 }) : null)
      })
    },
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  await db.owner(
    `update iu_core.job_kind set backoff = '1 millisecond', max_backoff = '2 milliseconds' where job_kind = 'webhook_deliver'`,
  )
  await expect(target('mail', 'mailto:a@example.com?bcc=b@example.com')).rejects.toThrow(
    /mailto: and one address/,
  )
  await target('mail', 'mailto:reviewers@example.com')
  const { number, change_id } = await submitted('Week 45')
  const smtpUrl = `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`
  await jobs.start({
    webhook_deliver: webhookHandler({
      hosts: [],
      smtpUrl,
      mailFrom: 'Stagedoor <door@example.com>',
      publicUrl: PUBLIC,
    }),
  })
  await until('the second attempt was taken', () => mails.length === 2)
  expect(mails[1]!.to).toEqual(['reviewers@example.com'])
  const { text } = mails[1]!
  expect(text).toMatch(new RegExp(`Subject: \\[Stagedoor\\] #${number} Week 45`))
  expect(text).toContain(`${PUBLIC}/changes/${number}`)
  expect(text).not.toMatch(/secret value|4711/)
  const id = /Message-ID: (\S+)/i
  expect(id.exec(text)![1]).toBe(id.exec(mails[0]!.text)![1])

  // A mention tells them, too, and what was decided tells nobody.
  await asService((client) => client.query('select iu_core.fn_notify_reviewers($1)', [change_id]))
  await until('they were told of the mention', () => mails.length === 3)
  await db.owner(`update iu_core.change set status = 'closed', closed_at = now() where change_id = $1`, [
    change_id,
  ])
  const [told] = await db.owner('select iu_core.fn_notify_reviewers($1) as told', [change_id])
  expect(told).toEqual({ told: { skipped: 'it waits for no approval' } })
})
