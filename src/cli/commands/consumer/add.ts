import { Command, InvalidArgumentError, Option } from 'commander'
import pc from 'picocolors'
import type { Client } from '../../../db/connection.ts'
import { StagedoorError } from '../../../errors.ts'
import { type Consumer, type NewConsumer, registerConsumer } from '../../../events/consumers.ts'
import { EXECUTORS } from '../../../jobs/executors.ts'
import { workspaceOf } from '../../acting.ts'
import { type GlobalOptions, outputOf } from '../../context.ts'
import { administering } from '../../governing.ts'
import { whole } from '../../numbers.ts'
import { PLAYBOOK_START, warn, whatIsWrongWith } from '../../playbook-jobs.ts'
import { printNext } from '../upload/next-step.ts'
import { eventName } from './event-name.ts'
import { consumerLines, nextSteps } from './screen.ts'

interface AddOptions extends GlobalOptions {
  readonly on: { domain: string; type: string }
  readonly kind: string
  readonly key: string
  readonly payloadRef?: string
  readonly stream?: string
  readonly workspace?: string
  readonly global?: boolean
  readonly executor?: string
  readonly priority: number
  readonly maxDepth?: number
  readonly rate?: { rate: number; rate_period: string }
  readonly failOpen?: boolean
  readonly notes?: string
}

const FIELDS =
  'event_id, event_domain, event_type, event_stream, event_subject_ref, canonical_address, workspace_id, correlation_id, causation_event_id, actor'

export function addCommand(): Command {
  return new Command('add')
    .description('register a consumer that makes jobs of events; it makes none yet')
    .argument('<consumer>', 'lowercase letters, digits and _.-', consumerName)
    .requiredOption('--on <domain.type>', 'which events', eventName)
    .requiredOption('--kind <kind>', 'of the jobs')
    .option('--key <template>', 'one job for each value; fields of the event in braces', '{event_id}')
    .option('--payload-ref <template>', 'what the jobs are about, as {event_subject_ref}')
    .option('--stream <text>', 'only events of this stream')
    .option('--workspace <id or name>', 'only events of this one; default: the only one there is')
    .addOption(
      new Option('--global', 'events of all workspaces and of none; the back end reviews it').conflicts(
        'workspace',
      ),
    )
    .addOption(new Option('--executor <name>', 'who runs the jobs').choices(EXECUTORS).default('PG_worker'))
    .option('--priority <n>', 'of the jobs, higher first', whole(-32_767, 32_767), 0)
    .option('--max-depth <n>', 'how many times an event may have come of an event; default 8', whole(0, 1000))
    .option('--rate <n/period>', 'at most so many jobs, as 100/minute', rateOf)
    .option('--fail-open', 'an event that cannot be passed on is logged, and no issue is opened')
    .option('--notes <text>', 'for people')
    .addHelpText(
      'after',
      `
Fields: ${FIELDS}

  $ stagedoor consumer add mail_new_orders --on iu_sql.orders.insert --kind send_mail --key "{event_id}"`,
    )
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<AddOptions>()
      const output = outputOf(options)
      const { consumer, wrong } = await administering(options, async (client) => {
        const workspace = options.global ? undefined : await workspaceOf(client, options.workspace)
        return {
          consumer: await registerConsumer(client, newConsumer(id, options, workspace)),
          wrong: await wrongPlaybook(client, options),
        }
      }).catch((error: unknown) => {
        throw unknownEvent(error, options.on)
      })
      output.result(wrong === undefined ? consumer : { ...consumer, warning: wrong }, () => {
        output.line(saidOf(consumer))
        warn(output, wrong)
        for (const line of consumerLines(consumer)) output.line(line)
        printNext(output, nextSteps(consumer))
      })
    })
}

/** Nothing sends such events. Those of tables begin with a route, the others are listed. */
function unknownEvent(error: unknown, { domain, type }: AddOptions['on']): unknown {
  if (!(error instanceof StagedoorError) || error.code !== 'event_unknown') return error
  const [, table, event] = /^(.+)\.(insert|update|delete|truncate)$/.exec(type) ?? []
  if (domain !== 'iu_sql' || table === undefined) return error
  return new StagedoorError('event_unknown', error.details, {
    message: `No route sends ${domain}.${type}`,
    hint: `Add one first: \`stagedoor route add ${table} --on ${event} --keep id\`. \`stagedoor route list\` shows the routes there are.`,
    cause: error,
  })
}

async function wrongPlaybook(
  client: Client,
  { kind, payloadRef = '' }: AddOptions,
): Promise<string | undefined> {
  if (kind !== PLAYBOOK_START) return undefined
  const [, named] = /^playbook:(.+)$/.exec(payloadRef) ?? []
  return whatIsWrongWith(client, named, 'Say which: --payload-ref playbook:NAME')
}

function saidOf({ consumer_id, state }: Consumer): string {
  const said = state === 'disabled' ? 'is registered. It makes no jobs yet.' : 'is as it was.'
  return `${pc.green('✔')} ${pc.bold(consumer_id)} ${said}`
}

function newConsumer(id: string, options: AddOptions, workspace: string | undefined): NewConsumer {
  return {
    consumer_id: id,
    event_domain: options.on.domain,
    event_type: options.on.type,
    job_kind: options.kind,
    idempotency_key_template: options.key,
    priority: options.priority,
    fail_closed: options.failOpen !== true,
    ...options.rate,
    ...(options.payloadRef !== undefined && { payload_ref_template: options.payloadRef }),
    ...(options.stream !== undefined && { event_stream: options.stream }),
    ...(options.executor !== undefined && { executor: options.executor }),
    ...(options.maxDepth !== undefined && { max_depth: options.maxDepth }),
    ...(options.notes !== undefined && { notes: options.notes }),
    ...(workspace !== undefined && { workspace_id: workspace }),
  }
}

function consumerName(given: string): string {
  if (/^[a-z][a-z0-9_.-]{0,62}$/.test(given)) return given
  throw new InvalidArgumentError(
    'A name begins with a lowercase letter; then letters, digits and _.- follow.',
  )
}

function rateOf(given: string): { rate: number; rate_period: string } {
  const [, rate, period] = /^(\d{1,9})\/(second|minute|hour|day)$/.exec(given) ?? []
  if (rate === undefined) throw new InvalidArgumentError('So many in a time, as 10/second or 100/minute.')
  return { rate: Number(rate), rate_period: `1 ${period}` }
}
