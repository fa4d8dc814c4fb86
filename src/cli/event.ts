/** `stagedoor event` and `stagedoor issue`: what happened, and what needs a person. */
import pc from 'picocolors'
import { type Issue, type IssueSeverity, listIssues, resolveIssue } from '../events/issues.ts'
import { listEvents, type OutboxEvent, rebaseAfterRestore, requireEvent } from '../events/outbox.ts'
import { parsePastTime } from './arguments.ts'
import { command, commandGroup } from './command.ts'
import { formatAge, joinWords } from './format.ts'
import { idOf } from './ids.ts'
import type { MemberNames } from './session.ts'
import type { Column, Output } from './terminal.ts'
import { printable, printableLine } from './text.ts'

export const eventCommand = () =>
  commandGroup('event', 'the event outbox: what happened, newest first', [
    command('list', 'the latest events')
      .limit()
      .option('--after <id>', 'the page after this event')
      .option('--domain <name>', 'only of this domain, such as staging')
      .option('--type <name>', 'only of this type, such as ingestion_complete')
      .option('--subject <id>', 'only about this subject')
      .option('--since <time>', '2h or 7d ago, or 2026-11-01T00:00:00Z', parsePastTime)
      .option('--until <time>', 'before that time', parsePastTime)
      .run(async ({ options, output, backEnd, memberNames }) => {
        const events = await backEnd((client) => listEvents(client, options))
        output.list(
          events,
          eventColumns(await memberNames()),
          'No events yet. Opening a gate emits one: stagedoor gate open iu_core.staging_writes_enabled',
        )
      }),
    command('show', 'one event: what happened, to what, by whom, why, and its payload')
      .argument('<id>', 'of the event', idOf('event'))
      .actor()
      .run(async ({ output, transaction, memberNames }, id) => {
        const event = await transaction((client) => requireEvent(client, id))
        const names = await memberNames()
        const { event_domain, event_type, event_subject_ref, created_at, payload, actor } = event
        const show = () => {
          output.line(pc.bold(`${event_domain}.${event_type}`))
          output.facts([
            ['id', event.id],
            ['when', created_at.toISOString()],
            ['who', names(actor)],
            ['about', event_subject_ref],
            ['address', event.canonical_address],
            ['stream', event.event_stream],
            ['workspace', event.workspace_id],
            ['caused by', event.causation_event_id],
            ['trace', event.correlation_id],
          ])
          output.heading('Payload')
          output.line(printable(JSON.stringify(payload, null, 2)))
        }
        output.result(event, show, ['What led to it, and what came of it', `stagedoor trace ${id}`])
      }),
    command('rebase', 'after a logical restore (pg_restore, psql): rewrite every position in the outbox')
      .examples(
        'Positions of readers and consumers are transaction ids of the server that the dump came from. Run this once, before',
        'workers and the API start. Run twice, or where nothing was restored, it changes nothing that is read.',
      )
      .run(async ({ output, administrator }) => {
        const done = await administrator((client) => rebaseAfterRestore(client))
        output.result(done, () => {
          output.done(
            `${done.events} events, ${done.readers} readers and ${done.consumers} consumers have positions of this server.`,
          )
          output.dim(`  ${done.undispatched} events are yet to be dispatched. Next: stagedoor start`)
        })
      }),
  ])

/** What may be long comes last: there a table wraps it. */
export function eventColumns(names: MemberNames): Column<OutboxEvent>[] {
  return [
    { title: 'when', value: (event) => event.created_at.toISOString() },
    { title: 'what', value: (event) => `${event.event_domain}.${event.event_type}`, paint: pc.bold },
    { title: 'who', value: (event) => names(event.actor) },
    { title: 'id', value: (event) => event.id, dim: true },
    { title: 'about', value: (event) => event.event_subject_ref },
  ]
}

const issueId = idOf('issue')

export const issueCommand = () =>
  commandGroup('issue', 'what went wrong inside and needs a person', [
    command('list', 'open issues, newest first')
      .option('--all', 'resolved ones, too')
      .limit()
      .option('--after <id>', 'the page after this issue', issueId)
      .actor()
      .run(async ({ options, output, transaction }) => {
        const issues = await transaction((client) =>
          listIssues(client, { ...options, resolved: options.all === true }),
        )
        const open = issues.filter(({ resolved_at }) => resolved_at === null)
        const [first] = open
        const isOfSearch = open.some(({ code }) => code === 'vector_dead_letter')
        const show = () => {
          if (issues.length === 0)
            output.line('No open issues. Stagedoor opens one when events, jobs or search need a person.')
          for (const one of issues) printIssue(output, one)
        }
        output.result(
          issues,
          show,
          isOfSearch && ['See what search could not take', 'stagedoor search dead-letters'],
          first && [
            'When it is dealt with',
            `stagedoor issue resolve ${first.issue_id} --resolution "what was done"`,
          ],
        )
      }),
    command('resolve', 'mark an issue as resolved; an event says so')
      .argument('<id>', 'of the issue', issueId)
      .option('--resolution <text>', 'what was done')
      .actor()
      .run(async ({ options, output, transaction }, id) => {
        const issue = await transaction((client) => resolveIssue(client, id, options))
        output.result(issue, `Resolved: ${printableLine(issue.title)}`)
      }),
  ])

const PAINT: Record<IssueSeverity, (text: string) => string> = {
  info: pc.dim,
  warning: pc.yellow,
  error: pc.red,
  critical: pc.red,
}

function printIssue(output: Output, issue: Issue): void {
  const { severity, code, subject_ref, detail, resolved_at } = issue
  const times = issue.occurrences === '1' ? '' : `, ${issue.occurrences} times`
  const mark = resolved_at ? pc.green('✔') : PAINT[severity](severity === 'info' ? '·' : '✖')
  output.line(`${mark} ${pc.bold(printableLine(issue.title))}`)
  const about = [
    joinWords([severity, code, subject_ref, `${formatAge(issue.last_seen_at)} ago${times}`], ' · '),
    Object.keys(detail).length > 0 && JSON.stringify(detail),
    resolved_at && `resolved by ${issue.resolved_by}: ${issue.resolution ?? '–'}`,
    issue.issue_id,
  ]
  for (const line of about) if (line) output.dim(`  ${printableLine(line)}`)
}
