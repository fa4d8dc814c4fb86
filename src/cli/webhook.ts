/** `stagedoor webhook`: other systems are notified. */
import { setTimeout } from 'node:timers/promises'
import pc from 'picocolors'
import { type Consumer, findConsumer } from '../events/consumers.ts'
import { findJob, type JobRecord } from '../jobs/queue.ts'
import { WEBHOOK_FORMATS } from '../jobs/shapes.ts'
import {
  deleteWebhookTarget,
  listWebhookTargets,
  newWebhookSecret,
  setWebhookTarget,
  testWebhookTarget,
  type WebhookTarget,
} from '../jobs/webhooks.ts'
import type { Config } from '../kernel/config.ts'
import type { Client } from '../kernel/postgres/connection.ts'
import { argumentInvalid } from './arguments.ts'
import { command, commandGroup } from './command.ts'
import { workspaceIfNamed } from './session.ts'
import type { Output } from './terminal.ts'

const PURPOSES = ['review', 'alert', 'event'] as const
const CODE = 'as `stagedoor webhook list` shows it'

export const webhookCommand = () =>
  commandGroup(
    'webhook',
    'webhooks: other systems are notified, signed and with retries',
    [setCommand(), listCommand(), testCommand(), deleteCommand()],
    `
  $ stagedoor webhook set reviewers --url https://chat.example.com/hooks/1 --purpose review
  $ stagedoor webhook set chat --url https://hooks.slack.com/services/… --purpose review --format slack
  $ stagedoor webhook set mail --url mailto:reviewers@example.com --purpose review
  $ stagedoor webhook test reviewers

They go only to hosts that STAGEDOOR_WEBHOOK_HOSTS names, e-mails through SMTP_URL. Each carries references, an id that is the same in every
attempt, and a signature after the Standard Webhooks specification.`,
  )

const setCommand = () =>
  command('set', 'create a target, or update one; the secret is shown once')
    .argument('<target>', 'its name: lowercase letters, digits and _.-', targetName)
    .option(
      '--url <address>',
      'where it is notified, or mailto:name@host for e-mail, or mailto:{reviewers} for the people whose review is requested; needed for a new one',
    )
    .option('--format <format>', 'signed JSON, or a message in the shape of Slack or Teams', WEBHOOK_FORMATS)
    .option('--purpose <purpose>', 'what it is notified of; needed for a new one', PURPOSES)
    .workspace('only of what happens there; default: of all')
    .option('--description <text>', 'for people')
    .option('--new-secret', 'replace the secret of one that there is')
    .option('--disable', 'switch it off')
    .conflicts('enable')
    .option('--enable', 'switch it on again')
    .run(async ({ options, output, config, administrator }, code) => {
      const { url, purpose, format, description, enable, disable } = options
      const { target, secret, notifier } = await administrator(async (client) => {
        const known = await find(client, code)
        const secret = known && !options.newSecret ? undefined : newWebhookSecret()
        const workspace_id = await workspaceIfNamed(client, options.workspace)
        const enabled = enable || disable ? enable === true : undefined
        await setWebhookTarget(client, code, {
          secret,
          url,
          purpose,
          format,
          description,
          enabled,
          workspace_id,
        })
        const target = (await find(client, code))!
        return { target, secret, notifier: await notifierOf(client, target) }
      })
      output.result({ ...target, secret }, () => {
        output.done(`${code} is notified ${purposeText(target)}.`)
        if (secret !== undefined) {
          output.line('\nWith this secret the receiver checks the signature. It is shown once:')
          output.line(`    ${pc.bold(secret)}`)
        }
        warnOfHost(output, config, target.url)
        const off = notifier?.state === 'disabled' ? 'off' : 'not active yet'
        output.next(
          ['Try it', `stagedoor webhook test ${code}`],
          notifier &&
            notifier.state !== 'active' && [
              `Nothing is sent to it yet: the consumer ${notifier.consumer_id} is ${off}`,
              `stagedoor consumer dry-run ${notifier.consumer_id}`,
            ],
        )
      })
    })

function targetName(given: string): string {
  if (!URL.canParse(given) || !/^https?:/.test(given)) return given
  throw argumentInvalid(
    'The name of the target is missing',
    `Usage: stagedoor webhook set NAME --url ${given} --purpose review`,
  )
}

/** The consumer that makes webhooks for this purpose. */
function notifierOf(client: Client, { purpose }: WebhookTarget): Promise<Consumer | undefined> | undefined {
  if (purpose === 'event') return undefined
  return findConsumer(client, purpose === 'review' ? 'notify_reviewers' : 'alert_evaluate')
}

/** The worker reads its own environment; here one can only say what is so in this one. */
function warnOfHost(output: Output, { webhookHosts, smtpUrl, mailDomains }: Config, url: string): void {
  if (url.startsWith('mailto:')) {
    if (smtpUrl === undefined) output.line(pc.yellow('\nThe worker needs SMTP_URL, or no e-mail is sent.'))
    const domain = url.slice(url.lastIndexOf('@') + 1)
    if (url.includes('@') && !mailDomains.includes(domain))
      output.line(
        pc.yellow(
          `\nThe worker needs STAGEDOOR_MAIL_DOMAINS=${[...mailDomains, domain].join(',')}, unless members have verified addresses there.`,
        ),
      )
    return
  }
  const { host, hostname, port } = new URL(url)
  const isNamed = (one: string) => one === host || (port === '' && one.startsWith(`${hostname}:`))
  if (webhookHosts.some(isNamed)) return
  const hosts = [...webhookHosts, host].join(',')
  output.line(pc.yellow(`\nThe worker needs STAGEDOOR_WEBHOOK_HOSTS=${hosts}, or nothing is sent there.`))
}

function purposeText({ purpose, workspace_id }: WebhookTarget): string {
  const of = {
    review: 'when something needs a review',
    alert: 'when an alert rule fires',
    event: 'of events that a consumer dispatches',
  }[purpose]
  return workspace_id === null ? of : `${of}, in its workspace`
}

const listCommand = () =>
  command('list', 'all targets; never their secrets').run(async ({ output, administrator }) => {
    const example =
      '  stagedoor webhook set reviewers --url https://chat.example.com/hooks/1 --purpose review'
    output.list(
      await administrator((client) => listWebhookTargets(client)),
      [
        { title: 'target', value: (one) => one.target_code },
        {
          value: ({ enabled }) => (enabled ? '● on' : '○ off'),
          paint: (cell, { enabled }) => (enabled ? pc.green(cell) : pc.yellow(cell)),
        },
        { title: 'purpose', value: (one) => one.purpose },
        { title: 'address', value: (one) => one.url },
        { value: (one) => one.disabled_reason ?? one.description, dim: true },
      ],
      `No webhook yet. One notifies a chat or another system that something needs a review:\n${pc.cyan(example)}`,
    )
  })

const testCommand = () =>
  command('test', 'send one webhook of the type test')
    .argument('<target>', CODE)
    .run(async ({ output, administrator, administratorClient }, code) => {
      const id = await administrator((client) => testWebhookTarget(client, code))
      const job = await administratorClient((client) => endOf(client, id))
      output.result({ job_id: id, status: job?.status ?? 'waiting', result: job?.result ?? null }, () => {
        if (job?.status === 'completed') return output.done(`Delivered: ${JSON.stringify(job.result)}`)
        if (job?.last_error) output.line(pc.red(`✖ ${job.last_error}`))
        else
          output.warn(
            `No worker has claimed it yet. The server delivers it, where STAGEDOOR_WEBHOOK_HOSTS names its host.`,
          )
        output.next(['See its status', `stagedoor job show ${id}`])
      })
    })

const deleteCommand = () =>
  command('delete', 'delete a target; what was not delivered yet becomes a dead letter')
    .argument('<target>', CODE)
    .run(async ({ output, administrator }, code) => {
      await administrator((client) => deleteWebhookTarget(client, code))
      output.result({ target_code: code, deleted: true }, `${code} is deleted.`)
    })

const ANSWER_MS = 10_000

/** As it is when it has ended or failed once, or when that takes too long. */
async function endOf(client: Client, id: string): Promise<JobRecord | undefined> {
  const until = performance.now() + ANSWER_MS
  for (;;) {
    const job = await findJob(client, id)
    if (job?.finished_at || job?.last_error || performance.now() > until) return job
    await setTimeout(200)
  }
}

async function find(client: Client, code: string): Promise<WebhookTarget | undefined> {
  return (await listWebhookTargets(client)).find(({ target_code }) => target_code === code)
}
