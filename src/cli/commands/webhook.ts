import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { Command, Option } from 'commander'
import pc from 'picocolors'
import type { Client } from '../../db/connection.ts'
import { StagedoorError } from '../../errors.ts'
import { type Consumer, findConsumer } from '../../events/consumers.ts'
import { enqueue, findJob, type JobRecord } from '../../jobs/queue.ts'
import { newWebhookSecret } from '../../jobs/webhook-signature.ts'
import {
  listWebhookTargets,
  removeWebhookTarget,
  setWebhookTarget,
  type WebhookPurpose,
  type WebhookTarget,
} from '../../jobs/webhook-targets.ts'
import { workspaceOf } from '../acting.ts'
import { configOf, type GlobalOptions, outputOf, withAdministrator } from '../context.ts'
import { administering } from '../governing.ts'
import { type Output, table } from '../output.ts'
import { printNext } from './upload/next-step.ts'

const PURPOSES: readonly WebhookPurpose[] = ['review', 'alert', 'event']

export function webhookCommand(): Command {
  const webhook = new Command('webhook')
    .description('webhooks: other systems are told, signed and with retries')
    .addHelpText(
      'after',
      `
  $ stagedoor webhook add reviewers --url https://chat.example.com/hooks/1 --purpose review
  $ stagedoor webhook test reviewers

They go only to hosts that STAGEDOOR_WEBHOOK_HOSTS names. Each carries references, an id that is the same in every
attempt, and a signature after the Standard Webhooks specification.`,
    )
  webhook.addCommand(addCommand())
  webhook.addCommand(listCommand())
  webhook.addCommand(testCommand())
  webhook.addCommand(removeCommand())
  return webhook
}

interface AddOptions extends GlobalOptions {
  readonly url?: string
  readonly purpose?: WebhookPurpose
  readonly workspace?: string
  readonly description?: string
  readonly newSecret?: boolean
  readonly disable?: boolean
  readonly enable?: boolean
}

function addCommand(): Command {
  return new Command('add')
    .description('add a target, or change one; the secret is shown once')
    .argument('<target>', 'its name: lowercase letters, digits and _.-', targetName)
    .option('--url <address>', 'where it is told; needed for a new one')
    .addOption(
      new Option('--purpose <purpose>', 'of what it is told; needed for a new one').choices(PURPOSES),
    )
    .option('--workspace <id or name>', 'only of what happens there; default: of all')
    .option('--description <text>', 'for people')
    .option('--new-secret', 'replace the secret of one that there is')
    .addOption(new Option('--disable', 'switch it off').conflicts('enable'))
    .option('--enable', 'switch it on again')
    .action(async (code: string, _options, command: Command) => {
      const options = command.optsWithGlobals<AddOptions>()
      const output = outputOf(options)
      const { target, secret, teller } = await administering(options, async (client) => {
        const known = await find(client, code)
        const secret = known && !options.newSecret ? undefined : newWebhookSecret()
        const workspace =
          options.workspace === undefined ? undefined : await workspaceOf(client, options.workspace)
        await setWebhookTarget(client, code, {
          ...(secret !== undefined && { secret }),
          ...(options.url !== undefined && { url: options.url }),
          ...(options.purpose !== undefined && { purpose: options.purpose }),
          ...(options.description !== undefined && { description: options.description }),
          ...((options.enable || options.disable) && { enabled: options.enable === true }),
          ...(workspace !== undefined && { workspace_id: workspace }),
        })
        const target = (await find(client, code))!
        return { target, secret, teller: await tellerOf(client, target) }
      })
      output.result({ ...target, ...(secret !== undefined && { secret }) }, () => {
        output.line(`${pc.green('✔')} ${code} is told ${told(target)}.`)
        if (secret !== undefined) {
          output.line('\nWith this secret the receiver checks the signature. It is shown once:')
          output.line(`    ${pc.bold(secret)}`)
        }
        warnOfHost(output, options, target.url)
        printNext(output, [
          { what: 'Try it', command: `stagedoor webhook test ${code}` },
          ...(teller && teller.state !== 'active'
            ? [
                {
                  what: `Nothing tells it yet: the consumer ${teller.consumer_id} is ${teller.state === 'disabled' ? 'off' : 'not active yet'}`,
                  command: `stagedoor consumer dry-run ${teller.consumer_id}`,
                },
              ]
            : []),
        ])
      })
    })
}

function targetName(given: string): string {
  if (!URL.canParse(given) || !/^https?:/.test(given)) return given
  throw new StagedoorError(
    'argument_invalid',
    { reason: 'The name of the target is missing' },
    { hint: `Usage: stagedoor webhook add NAME --url ${given} --purpose review` },
  )
}

/** The consumer that makes webhooks for this purpose. */
function tellerOf(client: Client, { purpose }: WebhookTarget): Promise<Consumer | undefined> | undefined {
  const tellers: Partial<Record<WebhookPurpose, string>> = {
    review: 'notify_reviewers',
    alert: 'alert_evaluate',
  }
  const id = tellers[purpose]
  return id === undefined ? undefined : findConsumer(client, id)
}

/** The worker reads its own environment; here one can only say what is so in this one. */
function warnOfHost(output: Output, options: GlobalOptions, url: string): void {
  const { webhookHosts } = configOf(options)
  const { host, hostname, port } = new URL(url)
  if (
    webhookHosts.includes(host) ||
    (port === '' && webhookHosts.some((one) => one.startsWith(`${hostname}:`)))
  )
    return
  output.line(
    pc.yellow(
      `\nThe worker needs STAGEDOOR_WEBHOOK_HOSTS=${[...webhookHosts, host].join(',')}, or nothing is sent there.`,
    ),
  )
}

function told({ purpose, workspace_id }: WebhookTarget): string {
  const of = {
    review: 'when something waits for a review',
    alert: 'when an alert rule fires',
    event: 'of events that a consumer passes on',
  }[purpose]
  return workspace_id === null ? of : `${of}, in its workspace`
}

function listCommand(): Command {
  return new Command('list')
    .description('all targets; never their secrets')
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const output = outputOf(options)
      const targets = await administering(options, (client) => listWebhookTargets(client))
      output.result(targets, () => {
        if (targets.length === 0) {
          output.line('No webhook yet. One tells a chat or another system that something waits:')
          return output.line(
            pc.cyan(
              '  stagedoor webhook add reviewers --url https://chat.example.com/hooks/1 --purpose review',
            ),
          )
        }
        output.line(
          table(
            [
              ['target', '', 'purpose', 'address', ''],
              ...targets.map((one) => [
                one.target_code,
                one.enabled ? '● on' : '○ off',
                one.purpose,
                one.url,
                one.disabled_reason ?? one.description ?? '',
              ]),
            ],
            (cell, column, row) => {
              if (row === 0 || column === 4) return pc.dim(cell)
              return column === 1 ? (targets[row - 1]!.enabled ? pc.green(cell) : pc.yellow(cell)) : cell
            },
          ),
        )
      })
    })
}

function testCommand(): Command {
  return new Command('test')
    .description('send one webhook of the type test')
    .argument('<target>', 'as `stagedoor webhook list` shows it')
    .action(async (code: string, _options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const output = outputOf(options)
      const id = await administering(options, async (client) => {
        const target = await find(client, code)
        if (!target) throw notThere(code)
        return enqueue(client, {
          job_kind: 'webhook_deliver',
          idempotency_key: `test:${randomUUID()}`,
          payload_ref: `webhook:${code}`,
          safe_payload: { type: 'test' },
          ...(target.workspace_id !== null && { workspace_id: target.workspace_id }),
        })
      })
      const job = await withAdministrator(options, (client) => endOf(client, id))
      output.result({ job_id: id, state: job?.state ?? 'waiting', result: job?.result ?? null }, () => {
        if (job?.state === 'completed')
          return output.line(`${pc.green('✔')} Delivered: ${JSON.stringify(job.result)}`)
        if (job?.last_error) output.line(pc.red(`✖ ${job.last_error}`))
        else
          output.line(
            `${pc.yellow('●')} Nobody has taken it yet. The server delivers it, where STAGEDOOR_WEBHOOK_HOSTS names its host.`,
          )
        printNext(output, [{ what: 'See how it goes', command: `stagedoor job show ${id}` }])
      })
    })
}

function removeCommand(): Command {
  return new Command('remove')
    .description('take a target away; what was not delivered yet becomes a dead letter')
    .argument('<target>', 'as `stagedoor webhook list` shows it')
    .action(async (code: string, _options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const output = outputOf(options)
      await administering(options, (client) => removeWebhookTarget(client, code))
      output.result({ target_code: code, removed: true }, () =>
        output.line(`${pc.green('✔')} ${code} is gone.`),
      )
    })
}

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

function notThere(target: string): StagedoorError {
  return new StagedoorError('webhook_target_not_found', { target })
}
