/** What reviewers are told in a chat and by e-mail: number, title, counts and a link, never a value of the data. */
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { afterEach, expect, it } from 'vitest'
import { emailsOf, keepEmail } from '../../../src/access/members.ts'
import type { JobContext } from '../../../src/jobs/handlers.ts'
import { mailRecipients, noticeText, readNotice } from '../../../src/jobs/messages.ts'
import type { Job } from '../../../src/jobs/queue.ts'
import { newWebhookSecret, setWebhookTarget, webhookHandler } from '../../../src/jobs/webhooks.ts'
import { inTransaction } from '../../../src/kernel/postgres/transaction.ts'
import { stage } from '../../staging/staged.ts'
import { useDatabase } from '../../support/database.ts'
import { createMember, createWorkspace, type Member } from '../../support/factories.ts'
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

it('says by when a record is decided, with the time of day, as long as it waits', async () => {
  const { staging_record_id: record } = await stage(db.pool('stagedoor_worker'), {
    workspace: trial.workspace,
  })
  const [{ change_id, expires_at }] = (await db.owner<{ change_id: string; expires_at: Date }>(
    `select c.change_id, r.expires_at from iu_core.change c join iu_core.iu_staging_record r on r.staging_record_id = c.subject_id
      where c.subject_id = $1`,
    [record],
  )) as [{ change_id: string; expires_at: Date }]
  const job = {
    payload: { change_id, type: 'review.waiting' },
    workspace_id: trial.workspace,
  } as unknown as Job
  const lines = async () =>
    noticeText(job, await readNotice({ transaction: asService } as unknown as JobContext, job), {
      publicUrl: PUBLIC,
    }).lines.filter((line) => line.startsWith('Decide by'))
  expect(await lines()).toEqual([
    `Decide by: ${expires_at.toISOString().slice(0, 10)} ${expires_at.toISOString().slice(11, 16)} UTC.`,
  ])
  await db.as(trial.reviewer, (client) =>
    client.query(`select iu_core.fn_iu_staging_reject($1, 'no')`, [record]),
  )
  expect(await lines()).toEqual([])
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
      mailDomains: ['example.com'],
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

it('e-mail goes to listed domains, or those of members, and to the people whose review is requested', async () => {
  await db.owner('delete from iu_core.webhook_target')
  await target('mail', 'mailto:team@example.com')
  const change = await submitted('Week 46')
  const as = (url: string, domains: string[] = []) =>
    asService((client) =>
      mailRecipients(client, { payload: { change_id: change.change_id } }, { code: 'mail', url }, domains),
    )
  await expect(as('mailto:team@example.com')).rejects.toThrow(/no member has a verified address there/)
  await expect(as('mailto:team@example.com', ['example.org'])).rejects.toMatchObject({
    hint: expect.stringContaining('STAGEDOOR_MAIL_DOMAINS=example.org,example.com'),
  })
  expect(await as('mailto:team@example.com', ['example.com'])).toEqual(['team@example.com'])
  // By name, and by a group; the author is not asked, and whoever left is not told.
  const [ann, ben, gone] = await Promise.all(
    ['reviewer', 'reviewer', 'reviewer'].map((role) => createMember(db, trial.workspace, role as 'reviewer')),
  )
  for (const [member, email] of [
    [ann, 'ann@example.com'],
    [ben, 'ben@example.net'],
    [gone, 'gone@example.com'],
  ] as const)
    await asService((client) => keepEmail(client, member!.userId, email))
  await asService(async (client) => {
    await client.query(`select iu_core.fn_group_add($1, 'Finance', $2)`, [trial.workspace, ben!.userId])
    await client.query('select iu_core.fn_change_reviewers_set($1, $2, $3)', [
      change.change_id,
      [ann!.userId, gone!.userId],
      ['finance'],
    ])
  })
  await db.owner('delete from public.workspace_members where user_id = $1', [gone!.userId])
  expect(await as('mailto:{reviewers}')).toEqual(['ann@example.com', 'ben@example.net'])
  expect(await as('mailto:{reviewers}', ['example.com'])).toEqual(['ann@example.com'])
  expect(await as('mailto:team@example.com')).toEqual(['team@example.com'])
  // An administrator sees the addresses of members, everybody sees their own.
  const admin = await createMember(db, trial.workspace, 'admin')
  const seen = (who: Member) =>
    db.as(who, async (client) => [...(await emailsOf(client, [ann!.userId, ben!.userId])).values()].sort())
  expect(await seen(admin)).toEqual(['ann@example.com', 'ben@example.net'])
  expect(await seen(ann!)).toEqual(['ann@example.com'])
  expect(await seen(trial.operator)).toEqual([])
})

it('a job of one workspace reads nothing about a change of another', async () => {
  const change = await submitted('Week 47')
  const other = await createWorkspace(db)
  const read = (workspace_id: string) =>
    readNotice(
      { transaction: asService } as unknown as JobContext,
      { payload: { change_id: change.change_id }, workspace_id } as unknown as Job,
    )
  expect(await read(trial.workspace)).toMatchObject({ number: change.number })
  expect(await read(other)).toBe(undefined)
})
