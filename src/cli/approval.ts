/** `stagedoor approval` and `stagedoor kind`: ask people for an approval, wait for it, decide with a form; and what may be shown. */
import pc from 'picocolors'
import type { JsonObject } from '../kernel/json.ts'
import { formatTime } from '../kernel/text.ts'
import { openWakeups } from '../runtime/wakeups.ts'
import {
  deleteApprovalKind,
  listApprovalKinds,
  requireApprovalKind,
  setApprovalKind,
} from '../staging/approval-kinds.ts'
import {
  APPROVAL_STATUSES,
  type Approval,
  type ApprovalKind,
  type FormField,
} from '../staging/approval-shapes.ts'
import {
  approveApproval,
  finishApproval,
  followApprovals,
  getApproval,
  listApprovals,
  requestApproval,
  useApproval,
  waitForApproval,
} from '../staging/approvals.ts'
import { readPart } from '../staging/records.ts'
import { unusedText, wasNotUsed } from '../staging/require-approval.ts'
import {
  argumentInvalid,
  collect,
  integerBetween,
  MIN_DIGEST_LENGTH,
  parseDigest,
  parseDuration,
  parseJsonObject,
  parseList,
  parseSetting,
  readTextInput,
} from './arguments.ts'
import { command, commandGroup } from './command.ts'
import { formatAge, plural } from './format.ts'
import { recordId } from './ids.ts'
import { type Session, type SessionOptions, workspaceOf } from './session.ts'
import { nextPage, type Output, painter } from './terminal.ts'
import { firstLines, printable, printableLine, truncate } from './text.ts'

export const approvalCommand = () =>
  commandGroup(
    'approval',
    'ask people for an approval, and wait for the decision',
    [
      requestCommand(),
      listCommand(),
      showCommand(),
      waitCommand(),
      approveCommand(),
      useCommand(),
      finishCommand(),
    ],
    `
  $ stagedoor approval request --key refund-1871 --title "Refund of order 1871" --show @refund.json --kind refund --wait
  $ stagedoor approval show <id>
  $ stagedoor approval approve <id> --as reviewer --digest <as shown> --answer amount=120
  $ stagedoor staging reject <id> --reason "not covered by the guarantee" --as reviewer

Exit codes of \`wait\` and \`request --wait\`: 0 approved · 5 rejected, changes requested, withdrawn or expired · 1 still waiting`,
  )

export const kindCommand = () =>
  commandGroup(
    'kind',
    'what programs show for approval: a JSON Schema and a template, without a migration',
    [kindCreateCommand(), kindListCommand(), kindShowCommand(), kindDeleteCommand()],
    `
  $ stagedoor kind create refund --schema refund.schema.json --template refund.md
  $ stagedoor kind show refund

A template is Markdown with {{path}}, such as {{customer.name}} or {{lines.0.sku}}. Values are shown as text, whatever they contain.`,
  )

const requestCommand = () =>
  command('request', 'ask for an approval; the same key with the same content finds the request again')
    .requiredOption('--key <key>', 'by it the request is found again')
    .requiredOption('--title <text>', 'one line for the reviewer')
    .requiredOption(
      '--show <what>',
      'what the reviewer looks at: @FILE.json, @FILE.md or @- (standard input), or Markdown itself',
    )
    .option('--kind <kind>', 'a kind of the workspace: its schema checks it, its template shows it')
    .option('--reviewers <ids>', 'who is asked: user ids, separated by commas', parseList)
    .option('--groups <names>', 'groups that are asked, separated by commas', parseList)
    .option('--approvals <n>', 'how many approvals it needs, if more than the policy', integerBetween(1, 10))
    .option('--form <file>', 'fields that the reviewer fills in: a JSON list')
    .option('--timeout <span>', 'then it expires, such as 30m or 2d; default: 14 days')
    .option('--wait', 'wait for the decision')
    .workspace()
    .actor()
    .run(async (session) => {
      const { options, output, transaction } = session
      const form = options.form === undefined ? undefined : readList(await readFile(options.form), '--form')
      const show = await readShow(options.show)
      const approval = await transaction(async (client) =>
        requestApproval(
          client,
          {
            key: options.key,
            title: options.title,
            show,
            kind: options.kind,
            reviewers: options.reviewers,
            groups: options.groups,
            ...(options.approvals !== undefined && { policy: { approvals: options.approvals } }),
            form: form as FormField[] | undefined,
            timeout: options.timeout,
          },
          { workspace: await workspaceOf(client, options.workspace) },
        ),
      )
      if (!options.wait) {
        output.result(approval, () => {
          const { created, title, approval_id: id, change } = approval
          if (created) output.done(`Asked: ${pc.bold(printableLine(title))} (change #${change})`)
          else output.line(`Asked before under this key: ${printableLine(title)} (change #${change})`)
          writeStatus(output, approval)
          output.dim(`  stagedoor approval wait ${id}`)
        })
        return
      }
      if (!output.json) output.dim(`Waiting for a decision on change #${approval.change} …`)
      await waitAndReport(session, approval.approval_id, undefined)
    })

async function readFile(name: string): Promise<string> {
  return (await readTextInput(name))!
}

/** A file is JSON if it ends so, or if it is standard input and is JSON. */
async function readShow(given: string): Promise<unknown> {
  if (!given.startsWith('@')) return given
  const name = given.slice(1)
  const text = await readFile(name)
  if (!name.toLowerCase().endsWith('.json') && name !== '-') return text
  try {
    return JSON.parse(text)
  } catch (error) {
    if (name === '-') return text
    throw argumentInvalid(`--show ${given} is not JSON: ${(error as Error).message}`)
  }
}

function readList(text: string, option: string): unknown[] {
  try {
    const value = JSON.parse(text) as unknown
    if (Array.isArray(value)) return value
  } catch {
    // Said below.
  }
  throw argumentInvalid(`${option} is a file with a JSON list of fields`)
}

const listCommand = () =>
  command('list', 'requests for approval, newest first')
    .option('--status <status>', 'only these', APPROVAL_STATUSES)
    .option('--kind <kind>', 'only these')
    .workspace('only of this one: id or name')
    .limit()
    .option('--after <id>', 'the page after this request', recordId)
    .actor()
    .run(async ({ options, output, transaction, memberNames }) => {
      const { workspace, ...filter } = options
      const approvals = await transaction(async (client) =>
        listApprovals(client, {
          ...filter,
          workspace: workspace === undefined ? undefined : await workspaceOf(client, workspace),
        }),
      )
      const names = output.json ? String : await memberNames()
      output.list(
        approvals,
        [
          { title: 'id', value: ({ approval_id }) => approval_id },
          { title: 'change', value: ({ change }) => `#${change}` },
          { title: 'status', value: ({ status }) => status, paint: paintStatus },
          { title: 'title', value: ({ title }) => truncate(title, 50) },
          { title: 'kind', value: ({ kind }) => kind ?? '–' },
          { title: 'asked by', value: ({ requested_by }) => truncate(names(requested_by), 36) },
          { title: 'age', value: ({ requested_at }) => formatAge(new Date(requested_at)) },
        ],
        'No request for approval. `stagedoor approval request --help` shows how to ask.',
        nextPage(approvals, options.limit, (one) => one.approval_id),
      )
    })

const paintStatus = painter({
  yellow: ['waiting', 'changes_requested'],
  green: ['approved'],
  red: ['rejected', 'expired'],
})

/** A command about one request. */
const verb = (name: string, description: string) =>
  command(name, description).argument('<id>', 'of the request', recordId).actor().about('record')

const showCommand = () =>
  verb('show', 'a request: what is shown, the form, who decided what, and whether it was used')
    .option('--full', 'do not shorten what is shown')
    .run(async ({ options, output, transaction, memberNames }, id) => {
      const { approval, shown } = await transaction(async (client) => {
        const found = await getApproval(client, id)
        const show = await readPart(client, id, 1, { pretty: true })
        const rendered = await readPart(client, id, 2)
        return { approval: found, shown: rendered ?? show }
      })
      const names = output.json ? String : await memberNames(approval.workspace_id)
      output.result({ ...approval, shown: shown?.content ?? null }, () => {
        const { title, change, kind, kind_revision, digest, requested_by, expires_at, form, key, status } =
          approval
        output.line(`${pc.bold(printableLine(title))}  ${pc.dim(`change #${change}`)}`)
        output.dim(
          `  asked by ${names(requested_by)}, key ${printableLine(key)}${kind === null ? '' : `, kind ${kind} (revision ${kind_revision})`}`,
        )
        output.dim(
          `  digest ${digest}, ${status === 'waiting' ? 'decide by' : 'expires'} ${formatTime(new Date(expires_at))}`,
        )
        output.line('')
        const lines = printable(
          withoutEscapes(shown?.content ?? 'What was shown was deleted after its retention.', shown),
        ).split('\n')
        for (const line of options.full ? lines : firstLines(lines, 40)) output.line(`  ${line}`)
        if (form.length > 0) output.line(`\n${plural(form.length, 'field')} to fill in:`)
        for (const field of form) output.line(`  ${fieldText(field)}`)
        output.line('')
        writeStatus(output, approval, names)
        for (const { verdict, by, at, comment } of approval.decisions)
          output.line(
            `  ${verdict.replace('_', ' ')} by ${names(by)} ${pc.dim(`${formatAge(new Date(at))} ago`)}${comment === null ? '' : `: ${printableLine(comment)}`}`,
          )
        if (approval.answers !== null && Object.keys(approval.answers).length > 0)
          output.line(`  answers ${printableLine(JSON.stringify(approval.answers))}`)
      })
    })

/** What a template escaped for Markdown is read here as it was. */
function withoutEscapes(text: string, shown: { readonly part_name: string } | undefined): string {
  return shown?.part_name === 'rendered' ? text.replace(/\\([!-/:-@[-`{-~])/g, '$1') : text
}

function fieldText({ name, type, label, required, choices }: FormField): string {
  const values = choices === undefined ? '' : `: ${choices.join(', ')}`
  const about = label === undefined || label === name ? '' : `  ${label}`
  return printableLine(`${name} (${type}${values}${required ? ', required' : ''})${about}`)
}

function writeStatus(output: Output, approval: Approval, names?: (actor: string) => string): void {
  const { status, summary, run } = approval
  const text = status.replace('_', ' ')
  if (status === 'approved') output.done(`Approved${run === null ? '' : `, and used: ${runText(run)}`}`)
  else if (status === 'waiting') output.line(`Waiting: ${summary ?? 'nobody has decided'}`)
  else if (wasNotUsed(approval)) output.warn(`It was ${unusedText(approval, names)}`)
  else output.warn(`Not approved: ${text}`)
}

function runText({ status, by, started_at, error }: NonNullable<Approval['run']>): string {
  const since = `since ${formatTime(new Date(started_at))}`
  if (status === 'running')
    return `a run of ${by} runs ${since}. If its process has ended, nobody knows how far it came; it is not begun again`
  return status === 'applied' ? `done by ${by}` : `it failed (${printableLine(error ?? 'without a reason')})`
}

const waitCommand = () =>
  verb('wait', 'wait until a request is decided')
    .option('--timeout <span>', 'wait no longer than 30s, 5m or 2h', parseDuration)
    .run((session, id) => waitAndReport(session, id, session.options.timeout))

async function waitAndReport(
  session: Session<SessionOptions>,
  id: string,
  timeoutMs: number | undefined,
): Promise<void> {
  const { output, transaction, database } = session
  const { default: pino } = await import('pino')
  const wakeups = openWakeups((await database()).workerUrl, pino({ level: 'silent' }))
  try {
    const approval = await waitForApproval(
      id,
      {
        read: () => transaction((client) => getApproval(client, id), { record: id }),
        signals: followApprovals(wakeups),
      },
      timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs),
    )
    output.result(approval, () => writeStatus(output, approval))
    if (approval.status !== 'approved') process.exitCode = approval.decided ? 5 : 1
  } finally {
    await wakeups.close()
  }
}

const approveCommand = () =>
  verb('approve', 'approve exactly what you saw, with the answers to its form')
    .requiredOption(
      '--digest <digest>',
      `as \`approval show\` prints it; its first ${MIN_DIGEST_LENGTH} characters are enough`,
      parseDigest('approval show'),
    )
    .option(
      '--answer <name=value>',
      'of a field of the form; may be repeated',
      collect((given) => parseSetting(/^([a-z][a-z0-9_]*)=([\s\S]*)$/, '--answer', 'name=value')(given)),
    )
    .option('--comment <text>', 'a comment with it')
    .run(async ({ options, output, decide }, id) => {
      const approval = await decide(async (client) => {
        const { digest, form } = await getApproval(client, id)
        return approveApproval(client, id, {
          digest: digest.startsWith(options.digest) ? digest : options.digest,
          answers: answersOf(options.answer ?? [], form),
          comment: options.comment,
        })
      })
      output.result(approval, () => writeStatus(output, approval))
    })

/** As the form says what each is; the database checks them. */
function answersOf(given: readonly (readonly string[])[], form: readonly FormField[]): JsonObject {
  return Object.fromEntries(
    given.map(([name, value]) => {
      const type = form.find((field) => field.name === name)?.type
      if (type === 'number' && value!.trim() !== '' && Number.isFinite(Number(value)))
        return [name, Number(value)]
      if (type === 'boolean' && /^(true|false)$/.test(value!)) return [name, value === 'true']
      return [name, value!]
    }),
  )
}

const useCommand = () =>
  verb('use', 'use an approval, once: of two who try one gets the run, and then does what was approved')
    .option('--digest <digest>', 'only if it is this', parseDigest('approval show'))
    .run(async ({ options, output, transaction }, id) => {
      const run_id = await transaction(async (client) => {
        const { digest } = await getApproval(client, id)
        const given = options.digest
        return useApproval(client, id, {
          digest: given === undefined || digest.startsWith(given) ? digest : given,
        })
      })
      output.result({ run_id }, () => {
        output.done('It is yours to run, once')
        output.dim(`  afterwards: stagedoor approval finish ${id}`)
      })
    })

const finishCommand = () =>
  verb('finish', 'say how what was approved ended')
    .option('--error <text>', 'it failed')
    .run(async ({ options, output, transaction }, id) => {
      const approval = await transaction(async (client) => {
        await finishApproval(client, id, { error: options.error })
        return getApproval(client, id)
      })
      output.result(approval, () => writeStatus(output, approval))
    })

// Kinds of what may be shown.

const kindVerb = (name: string, description: string) =>
  command(name, description).argument('<kind>', 'its name').workspace().actor()

const kindCreateCommand = () =>
  kindVerb('create', 'create a kind, or its next revision; for administrators')
    .requiredOption('--schema <file>', 'JSON Schema; - is standard input')
    .option('--template <file>', 'Markdown with {{path}}')
    .option('--description <text>', 'what it is for')
    .option('--replace', 'the next revision of a kind that exists; requests that were made keep theirs')
    .run(async ({ options, output, decide }, kind) => {
      const schema = parseJsonObject(await readFile(options.schema)) as JsonObject
      const template = options.template === undefined ? undefined : await readFile(options.template)
      const { description, replace, workspace } = options
      const made = await decide(async (client) =>
        setApprovalKind(client, await workspaceOf(client, workspace), {
          kind,
          schema,
          template,
          description,
          replace,
        }),
      )
      output.result(made, () => output.done(`Kind ${pc.bold(made.kind)}, revision ${made.revision}`))
    })

const kindListCommand = () =>
  command('list', 'the kinds of a workspace')
    .workspace()
    .actor()
    .run(async ({ options, output, transaction }) => {
      const kinds = await transaction(async (client) =>
        listApprovalKinds(client, await workspaceOf(client, options.workspace)),
      )
      output.list<ApprovalKind>(
        kinds,
        [
          { title: 'kind', value: ({ kind }) => kind },
          { title: 'revision', value: ({ revision }) => String(revision) },
          { title: 'template', value: ({ template }) => (template === null ? '–' : 'yes') },
          { title: 'description', value: ({ description }) => truncate(description ?? '', 60) },
          { title: 'age', value: ({ created_at }) => formatAge(created_at) },
        ],
        'No kinds. `stagedoor kind create NAME --schema FILE` creates one.',
      )
    })

const kindShowCommand = () =>
  kindVerb('show', 'a kind with its schema and its template').run(
    async ({ options, output, transaction }, kind) => {
      const found = await transaction(async (client) =>
        requireApprovalKind(client, await workspaceOf(client, options.workspace), kind),
      )
      output.result(found, () => {
        output.line(`${pc.bold(found.kind)}, revision ${found.revision}`)
        if (found.description !== null) output.dim(`  ${printableLine(found.description)}`)
        output.line(printable(JSON.stringify(found.schema, null, 2)))
        if (found.template !== null) output.line(`\n${printable(found.template)}`)
      })
    },
  )

const kindDeleteCommand = () =>
  kindVerb('delete', 'delete a kind: no new requests of it; for administrators').run(
    async ({ options, output, decide }, kind) => {
      await decide(async (client) =>
        deleteApprovalKind(client, await workspaceOf(client, options.workspace), kind),
      )
      output.result({ kind, deleted: true }, () => output.done(`Deleted the kind ${kind}`))
    },
  )
