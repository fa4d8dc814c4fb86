import { Command } from 'commander'
import pc from 'picocolors'
import { type Issue, type IssueSeverity, listIssues, resolveIssue } from '../../events/issues.ts'
import { type ActingOptions, acting, asOption, userOption } from '../acting.ts'
import { outputOf } from '../context.ts'
import { idOf } from '../ids.ts'
import { whole } from '../numbers.ts'
import { age, type Output, visibleLine } from '../output.ts'
import { printNext } from './upload/next-step.ts'

const issueId = idOf('issue')

export function issueCommand(): Command {
  const issue = new Command('issue').description('what went wrong inside and waits for a person')
  issue.addCommand(listCommand())
  issue.addCommand(resolveCommand())
  return issue
}

interface ListOptions extends ActingOptions {
  readonly all?: boolean
  readonly limit: number
  readonly after?: string
}

function listCommand(): Command {
  return new Command('list')
    .description('open issues, newest first')
    .option('--all', 'resolved ones, too')
    .option('--limit <n>', 'how many', whole(1, 1000), 20)
    .option('--after <id>', 'the page after this issue', issueId)
    .addOption(asOption())
    .addOption(userOption())
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<ListOptions>()
      const output = outputOf(options)
      const issues = await acting(options, (client) =>
        listIssues(client, {
          resolved: options.all === true,
          limit: options.limit,
          ...(options.after !== undefined && { after: options.after }),
        }),
      )
      output.result(issues, () => {
        if (issues.length === 0) {
          return output.line(
            'No open issues. They come when events, jobs or search cannot go on by themselves.',
          )
        }
        for (const one of issues) printIssue(output, one)
        const open = issues.find(({ resolved_at }) => resolved_at === null)
        if (open) {
          printNext(output, [
            ...(issues.some(({ code, resolved_at }) => code === 'vector_dead_letter' && resolved_at === null)
              ? [{ what: 'See what search could not take', command: 'stagedoor search dead' }]
              : []),
            {
              what: 'When it is dealt with',
              command: `stagedoor issue resolve ${open.issue_id} --resolution "what was done"`,
            },
          ])
        }
      })
    })
}

const PAINT: Record<IssueSeverity, (text: string) => string> = {
  info: pc.dim,
  warning: pc.yellow,
  error: pc.red,
  critical: pc.red,
}

function printIssue(output: Output, issue: Issue): void {
  const times = issue.occurrences === '1' ? '' : `, ${issue.occurrences} times`
  const mark = issue.resolved_at
    ? pc.green('✔')
    : PAINT[issue.severity](issue.severity === 'info' ? '·' : '✖')
  output.line(`${mark} ${pc.bold(visibleLine(issue.title))}`)
  output.line(
    pc.dim(
      visibleLine(
        `  ${issue.severity} · ${issue.code}${issue.subject_ref ? ` · ${issue.subject_ref}` : ''} · ${age(issue.last_seen_at)} ago${times}`,
      ),
    ),
  )
  if (Object.keys(issue.detail).length > 0)
    output.line(pc.dim(`  ${visibleLine(JSON.stringify(issue.detail))}`))
  if (issue.resolved_at) {
    output.line(pc.dim(visibleLine(`  resolved by ${issue.resolved_by}: ${issue.resolution ?? '–'}`)))
  }
  output.line(pc.dim(`  ${issue.issue_id}`))
}

function resolveCommand(): Command {
  return new Command('resolve')
    .description('say that an issue is dealt with; an event tells it')
    .argument('<id>', 'of the issue', issueId)
    .option('--resolution <text>', 'what was done')
    .addOption(asOption())
    .addOption(userOption())
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ActingOptions & { resolution?: string }>()
      const output = outputOf(options)
      const { resolution } = options
      const issue = await acting(options, (client) =>
        resolveIssue(client, id, resolution === undefined ? {} : { resolution }),
      )
      output.result(issue, () => output.line(`${pc.green('✔')} Resolved: ${visibleLine(issue.title)}`))
    })
}
