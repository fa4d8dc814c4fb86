/** `stagedoor consumer`: events become jobs, after a dry run and the review of a second person. */
import { InvalidArgumentError } from 'commander'
import pc from 'picocolors'
import {
  activateConsumer,
  backfillConsumer,
  type Consumer,
  consumerEvidence,
  deleteConsumer,
  disableConsumer,
  dryRunConsumer,
  listConsumers,
  listUndelivered,
  registerConsumer,
  requireConsumer,
  reviewConsumer,
} from '../events/consumers.ts'
import { StagedoorError } from '../kernel/errors.ts'
import type { Client } from '../kernel/postgres/connection.ts'
import { API_PREFIX } from '../kernel/version.ts'
import { integerBetween, parseEventName, parsePastTime } from './arguments.ts'
import { command, commandGroup } from './command.ts'
import { formatAge, formatRelativeTime, joinWords } from './format.ts'
import { PLAYBOOK_START, startWorkerStep } from './job.ts'
import { playbookStartProblem } from './playbook.ts'
import { workspaceOf } from './session.ts'
import { type Column, type Fact, formatFacts, type NextStep, paintStage, stageLabel } from './terminal.ts'
import { printableLine } from './text.ts'

export const consumerCommand = () =>
  commandGroup(
    'consumer',
    'consumers: events become jobs',
    [
      registerCommand(),
      listCommand(),
      showCommand(),
      stepCommand(
        'dry-run',
        'record the jobs that it would make; it makes none',
        'is in dry run',
        dryRunConsumer,
      ),
      evidenceCommand(),
      reviewCommand(),
      stepCommand(
        'activate',
        'let a reviewed consumer make jobs of new events',
        'is active',
        activateConsumer,
      ),
      stepCommand(
        'disable',
        'make no more jobs; its review stays',
        'is disabled and makes no jobs',
        disableConsumer,
      ),
      backfillCommand(),
      deleteCommand(),
    ],
    `
  $ stagedoor consumer register mail_new_orders --on iu_sql.orders.insert --kind send_mail
  $ stagedoor consumer dry-run mail_new_orders
  $ stagedoor consumer evidence mail_new_orders
  $ stagedoor consumer review mail_new_orders --evidence 3 --as reviewer
  $ stagedoor consumer activate mail_new_orders

Nothing is dispatched while the gate queue.consumer_dispatch.enabled is closed.`,
  )

const SHOWN_TROUBLES = 5
const FIELDS =
  'event_id, event_domain, event_type, event_stream, event_subject_ref, canonical_address, workspace_id, correlation_id, causation_event_id, actor'

const consumerVerb = (name: string, description: string) =>
  command(name, description).argument('<consumer>', 'as `stagedoor consumer list` shows it')

const listCommand = () =>
  command('list', 'all consumers and the status of each')
    .actor()
    .run(async ({ output, transaction }) => {
      const example = pc.cyan(
        '  stagedoor consumer register tell_me --on staging.record_created --kind tell_me',
      )
      const none = `No consumer yet. One makes jobs of events:\n${example}`
      output.list(await transaction(listConsumers), COLUMNS, none)
    })

const COLUMNS: Column<Consumer>[] = [
  { title: 'consumer', value: (one) => one.consumer_id },
  { title: 'status', value: (one) => stageLabel(one.state), paint: paintStage },
  { title: 'event', value: eventOf },
  {
    title: 'job',
    value: (one) => `→ ${one.job_kind}${one.executor === 'PG_worker' ? '' : ` (${one.executor})`}`,
  },
  { value: (one) => one.notes, dim: true, shrinkTo: 15 },
]

function eventOf({ event_domain, event_type, event_stream }: Consumer): string {
  return joinWords([`${event_domain}.${event_type}`, event_stream], ' ')
}

const showCommand = () =>
  consumerVerb('show', 'one consumer: its events and jobs, its status, its failures')
    .actor()
    .run(async ({ output, transaction }, id) => {
      const { consumer, undelivered } = await transaction(async (client) => ({
        consumer: await requireConsumer(client, id),
        undelivered: await listUndelivered(client, { consumer: id, limit: SHOWN_TROUBLES }),
      }))
      const { registered_at, registered_by, reviewed_at, reviewed_by, activated_at } = consumer
      const show = () => {
        output.line(`${paintStage(stageLabel(consumer.state))}  ${pc.bold(id)}`)
        output.line(
          factsOf(
            consumer,
            ['registered', `${formatRelativeTime(registered_at)} by ${registered_by}`],
            ['reviewed', reviewed_at && `${formatRelativeTime(reviewed_at)} by ${reviewed_by}`],
            ['activated', activated_at && formatRelativeTime(activated_at)],
          ),
        )
        if (undelivered.length > 0) output.line(`\n${pc.bold('Not dispatched')}, newest first`)
        for (const { event_id, outcome, detail, dispatched_at } of undelivered) {
          const problem = detail?.problem === outcome ? undefined : detail?.problem
          const why = typeof problem === 'string' ? `  ${printableLine(problem)}` : ''
          output.line(
            `  ${formatAge(dispatched_at)} ago  ${pc.red(outcome.replace('_', ' '))}  ${pc.dim(event_id)}${why}`,
          )
        }
      }
      output.result({ ...consumer, undelivered }, show, ...nextSteps(consumer))
    })

function factsOf(one: Consumer, ...more: readonly Fact[]): string {
  const priority = one.priority === 0 ? '' : `, priority ${one.priority}`
  const facts: Fact[] = [
    ['event', eventOf(one)],
    ['job', `${one.job_kind}, run by ${one.executor}${priority}`],
    ['one for each', one.idempotency_key_template],
    ['about', one.payload_ref_template],
    ['workspace', one.workspace_id ?? 'all'],
    ['depth', `at most ${one.max_depth}`],
    ['rate', one.rate !== null && `${one.rate} in ${one.rate_period}`],
    ['if it fails', one.fail_closed ? 'a dead letter and an issue' : 'it is only logged'],
    ['notes', one.notes],
    ...more,
  ]
  return formatFacts(facts, '    ')
}

function nextSteps({ consumer_id: id, state, reviewed_by, job_kind, executor }: Consumer): NextStep[] {
  const step = (what: string, verb: string): NextStep => [what, `stagedoor consumer ${verb}`]
  switch (state) {
    case 'disabled':
      return reviewed_by !== null
        ? [step('Activate it again', `activate ${id}`)]
        : [step('Start its dry run: it records the jobs that it would have made', `dry-run ${id}`)]
    case 'dry_run':
      return [step('When events have come, check the jobs that it would have made', `evidence ${id}`)]
    case 'reviewed':
      return [step('Let it make jobs', `activate ${id}`)]
    case 'active':
      return [
        startWorkerStep(job_kind, executor),
        step('Make jobs of past events, too', `backfill ${id} --from 1d`),
      ]
  }
}

const evidenceCommand = () =>
  consumerVerb('evidence', 'the jobs that a consumer in dry run would have made, newest first')
    .limit()
    .actor()
    .run(async ({ options, output, transaction, isExternal }, id) => {
      const { consumer, evidence } = await transaction(async (client) => ({
        consumer: await requireConsumer(client, id),
        evidence: await consumerEvidence(client, id, options.limit),
      }))
      const review = (await isExternal())
        ? `POST ${API_PREFIX}/consumers/${id}/review with their token and {"evidence": ${evidence.length}}`
        : `stagedoor consumer review ${id} --evidence ${evidence.length} --as reviewer`
      output.result({ evidence }, () => {
        if (evidence.length === 0 && consumer.state !== 'disabled')
          return output.line(
            `${id} is in dry run and has seen no event yet. The dispatcher runs in \`stagedoor start\`.`,
          )
        output.line(
          evidence.length === 0
            ? `${id} has had no dry run yet.`
            : `${pc.bold(id)} would have made jobs of the kind ${consumer.job_kind} with these keys (it made none):`,
        )
        for (const { event_id, idempotency_key, payload_ref, problem, dispatched_at } of evidence) {
          const about = payload_ref ? pc.dim(printableLine(`  about ${payload_ref}`)) : ''
          const job =
            problem === null
              ? `${printableLine(idempotency_key ?? '')}${about}`
              : `${pc.red(printableLine(problem))} ${pc.dim(event_id)}`
          output.line(`  ${formatAge(dispatched_at)} ago  ${job}`)
        }
        if (consumer.state === 'dry_run') output.next(['A second person checks it and reviews it', review])
        else output.next(...nextSteps(consumer))
      })
    })

const registerCommand = () =>
  command('register', 'register a consumer that creates jobs from events; it starts disabled')
    .argument('<consumer>', 'lowercase letters, digits and _.-', parseConsumerName)
    .requiredOption('--on <domain.type>', 'which events', parseEventName)
    .requiredOption('--kind <kind>', 'of the jobs')
    .option('--key <template>', 'one job for each value; fields of the event in braces', '{event_id}')
    .option('--payload-ref <template>', 'what the jobs are about, as {event_subject_ref}')
    .option('--stream <text>', 'only events of this stream')
    .workspace('only events of this one; default: the only one there is')
    .option('--global', 'events of all workspaces and of none; the back end reviews it')
    .conflicts('workspace')
    .option('--executor <name>', 'which workers run the jobs', 'PG_worker')
    .option('--priority <n>', 'of the jobs, higher first', integerBetween(-32_767, 32_767), 0)
    .option(
      '--max-depth <n>',
      'how many events may lie between the first cause and this one; default 8',
      integerBetween(0, 1000),
    )
    .option('--rate <n/period>', 'at most so many jobs, as 100/minute', parseRate)
    .option('--fail-open', 'an event that cannot be dispatched is logged, and no issue is opened')
    .option('--notes <text>', 'for people')
    .examples(
      `Fields: ${FIELDS}

  $ stagedoor consumer register mail_new_orders --on iu_sql.orders.insert --kind send_mail --key "{event_id}"`,
    )
    .run(async ({ options, output, administrator }, id) => {
      const { on, kind } = options
      const { consumer, wrong } = await administrator(async (client) => ({
        consumer: await registerConsumer(client, {
          consumer_id: id,
          event_domain: on.domain,
          event_type: on.type,
          event_stream: options.stream,
          workspace_id: options.global ? undefined : await workspaceOf(client, options.workspace),
          job_kind: kind,
          idempotency_key_template: options.key,
          payload_ref_template: options.payloadRef,
          executor: options.executor,
          priority: options.priority,
          max_depth: options.maxDepth,
          ...options.rate,
          fail_closed: options.failOpen !== true,
          notes: options.notes,
        }),
        wrong: await wrongPlaybook(client, kind, options.payloadRef),
      })).catch((error: unknown) => {
        throw unknownEvent(error, on)
      })
      const show = () => {
        const isNew = consumer.state === 'disabled'
        output.done(`${pc.bold(id)} ${isNew ? 'is registered. It makes no jobs yet.' : 'is unchanged.'}`)
        if (wrong !== undefined) output.caution(wrong)
        output.line(factsOf(consumer))
      }
      const result = wrong === undefined ? consumer : { ...consumer, warning: wrong }
      output.result(result, show, ...nextSteps(consumer))
    })

function parseConsumerName(given: string): string {
  if (/^[a-z][a-z0-9_.-]{0,62}$/.test(given)) return given
  throw new InvalidArgumentError(
    'A name begins with a lowercase letter; then letters, digits and _.- follow.',
  )
}

function parseRate(given: string): { rate: number; rate_period: string } {
  const [, rate, period] = /^(\d{1,9})\/(second|minute|hour|day)$/.exec(given) ?? []
  if (rate === undefined) throw new InvalidArgumentError('So many in a time, as 10/second or 100/minute.')
  return { rate: Number(rate), rate_period: `1 ${period}` }
}

async function wrongPlaybook(client: Client, kind: string, payloadRef = ''): Promise<string | undefined> {
  if (kind !== PLAYBOOK_START) return undefined
  const [, named] = /^playbook:(.+)$/.exec(payloadRef) ?? []
  return playbookStartProblem(client, named, 'Say which: --payload-ref playbook:NAME')
}

/** Nothing sends such events. Those of tables begin with a route, the others are listed. */
function unknownEvent(error: unknown, { domain, type }: { domain: string; type: string }): unknown {
  if (!(error instanceof StagedoorError) || error.code !== 'event_unknown') return error
  const [, table, event] = /^(.+)\.(insert|update|delete|truncate)$/.exec(type) ?? []
  if (domain !== 'iu_sql' || table === undefined) return error
  return new StagedoorError('event_unknown', error.details, {
    message: `No route sends ${domain}.${type}`,
    hint: `Register one first: \`stagedoor route register ${table} --on ${event} --columns id\`. \`stagedoor route list\` shows the routes there are.`,
    cause: error,
  })
}

const stepCommand = (
  name: string,
  description: string,
  done: string,
  change: (client: Client, id: string) => Promise<Consumer>,
) =>
  consumerVerb(name, description).run(async ({ output, administrator }, id) => {
    const consumer = await administrator((client) => change(client, id))
    output.result(consumer, `${id} ${done}.`, ...nextSteps(consumer))
  })

const reviewCommand = () =>
  consumerVerb(
    'review',
    'confirm that you have checked the evidence and agree; not whoever registered the consumer',
  )
    .requiredOption(
      '--evidence <n>',
      'how many lines you checked, as `consumer evidence` says',
      integerBetween(1, 1000),
    )
    .actor()
    .run(async ({ options: { evidence }, output, decide }, id) => {
      const consumer = await decide((client, actor) => reviewConsumer(client, id, { evidence, actor }), {
        find: async (client) => (await requireConsumer(client, id)).workspace_id,
        call: `POST ${API_PREFIX}/consumers/${id}/review`,
      })
      output.result(consumer, `${id} is reviewed.`, ...nextSteps(consumer))
    })

const deleteCommand = () =>
  consumerVerb('delete', 'delete a consumer; jobs that it created stay').run(
    async ({ output, administrator }, id) => {
      await administrator((client) => deleteConsumer(client, id))
      output.result({ consumer_id: id, deleted: true }, `${id} is deleted.`)
    },
  )

const backfillCommand = () =>
  consumerVerb('backfill', 'make jobs of past events, too; events that it already handled make none')
    .requiredOption('--from <time>', '2h or 7d ago, or 2026-11-01T00:00:00Z', parsePastTime)
    .option('--to <time>', 'default: now', parsePastTime)
    .run(async ({ options: { from, to = new Date() }, output, administratorClient }, id) => {
      // No transaction around it: each page is committed by itself.
      const done = await administratorClient((client) => backfillConsumer(client, id, { from, to }))
      output.result(done, () => {
        output.done(`${done.events} past events: ${done.jobs} jobs, ${done.duplicates} handled before.`)
        if (done.failures > 0)
          output.line(pc.red(`  ${done.failures} could not be dispatched: stagedoor consumer show ${id}`))
        if (done.deferred > 0)
          output.dim(`  ${done.deferred} will be retried: open transactions hold the keys of their jobs.`)
      })
    })
