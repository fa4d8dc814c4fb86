/** `stagedoor change`: what is reviewed, by its number: its conversation, its reviewers, its history. */
import pc from 'picocolors'
import {
  editChange,
  listChangeHistory,
  listChanges,
  rebuildChanges,
  requireChange,
  setReviewers,
} from '../changes/changes.ts'
import {
  createComment,
  deleteComment,
  listCommentEdits,
  listComments,
  resolveThread,
  updateComment,
} from '../changes/comments.ts'
import {
  CHANGE_KINDS,
  CHANGE_STATUSES,
  type Change,
  type ChangeComment,
  type ChangeDifference,
  type ChangeHistoryEntry,
  type ChangeSummary,
} from '../changes/shapes.ts'
import { argumentInvalid, integerBetween, readTextInput } from './arguments.ts'
import { askUndoCommand, declineUndoCommand, inboxCommand } from './change-inbox.ts'
import {
  approveCommand,
  dismissReviewCommand,
  requestChangesCommand,
  reviewsCommand,
  withdrawReviewCommand,
} from './change-review.ts'
import { command, commandGroup } from './command.ts'
import { approversText, formatAge, joinWords, plural } from './format.ts'
import { changeId, commentId } from './ids.ts'
import { type MemberNames, type Session, workspaceIfNamed } from './session.ts'
import { type Column, nextPage, type Output, painter } from './terminal.ts'
import { printable, printableLine, prose } from './text.ts'
import {
  checkIfPlanned,
  outdatedText,
  type PlanChecked,
  paintOutdated,
  planCheckText,
} from './upload-show.ts'

/** The exit code for drift, as `stagedoor doctor` has it. */
const DRIFT = 7

export const changeCommand = () =>
  commandGroup(
    'change',
    'what is reviewed, by its number: uploads, records and cuts, with their conversation',
    [
      inboxCommand(),
      listCommand(),
      showCommand(),
      editCommand(),
      commentCommand(),
      commentsCommand(),
      resolveCommand(),
      reviewersCommand(),
      reviewsCommand(),
      approveCommand(),
      requestChangesCommand(),
      withdrawReviewCommand(),
      dismissReviewCommand(),
      askUndoCommand(),
      declineUndoCommand(),
      labelCommand(),
      historyCommand(),
      rebuildCommand(),
    ],
    `
  $ stagedoor change inbox --as reviewer
  $ stagedoor change list --waiting
  $ stagedoor change show 128
  $ stagedoor change edit 128 --description "The corrected spend of week 45" --as operator
  $ stagedoor change reviewers 128 <user id> --as operator
  $ stagedoor change comment 128 "@Rita is this spend right?" --row-type daily_metric --line 12 --column spend --as operator
  $ stagedoor change comments 128
  $ stagedoor change resolve <comment id> --as reviewer
  $ stagedoor change reviews 128
  $ stagedoor change approve 128 --digest 9f86d081884c --tick changes --as reviewer

A number (128 or '#128') names the change everywhere, and its upload or record: stagedoor upload show 128`,
  )

const changeVerb = (name: string, description: string) =>
  command(name, description)
    .argument('<change>', 'its number, its id, or the id of its upload or record', changeId)
    .actor()
    .about('change')

const listCommand = () =>
  command('list', 'changes, newest first')
    .workspace('only these')
    .option('--status <status...>', 'only these', CHANGE_STATUSES)
    .option('--waiting', 'only those that wait for a review: open, changes_requested')
    .option('--kind <kind>', 'only these', CHANGE_KINDS)
    .option('--author <user id>', 'only by this one; me: whoever asks')
    .option('--reviewer <user id>', 'only where their review is requested; me: whoever asks')
    .option('--label <label>', 'only with this label')
    .option('--dataset <name>', 'only uploads of this dataset')
    .limit()
    .option('--after <change>', 'the page after this one', changeId)
    .actor()
    .run(async ({ options, output, transaction, memberNames }) => {
      const { workspace, waiting, status, after, limit, kind, author, reviewer, label, dataset } = options
      const changes = await transaction(async (client) =>
        listChanges(client, {
          workspaceId: await workspaceIfNamed(client, workspace),
          status: waiting ? ['open', 'changes_requested'] : status,
          after: after && (await requireChange(client, after)).change_id,
          ...{ limit, kind, author, reviewer, label, dataset },
        }),
      )
      const names = output.json ? String : await memberNames()
      output.list(
        changes,
        columns(names),
        waiting
          ? 'No change waits for a review.'
          : 'No change here. `stagedoor ingest FILE --dataset ads --platform meta` opens one.',
        nextPage(changes, limit, ({ change_id }) => change_id),
      )
    })

const paintStatus = painter({
  green: ['approved', 'promoted'],
  yellow: ['draft', 'open'],
  red: ['changes requested', 'rejected'],
})
const statusOf = ({ status }: Pick<Change, 'status'>) => status.replaceAll('_', ' ')

const columns = (names: MemberNames): Column<ChangeSummary>[] => [
  { title: 'change', value: ({ number }) => `#${number}` },
  { title: 'status', value: statusOf, paint: paintStatus },
  { title: 'plan', value: ({ outdated }) => outdatedText(outdated), paint: paintOutdated },
  { title: 'kind', value: ({ kind }) => kind, dim: true },
  { title: 'title', value: ({ title }) => title, shrinkTo: 10 },
  { title: 'by', value: ({ author }) => names(author), shrinkTo: 8 },
  { title: 'open', value: ({ open_threads }) => (open_threads ? plural(open_threads, 'thread') : '') },
  { title: 'age', value: ({ created_at }) => formatAge(created_at) },
]

const showCommand = () =>
  changeVerb('show', 'title, description, status, reviewers and conversation of a change').run(
    async (session, id) => {
      const { output, transaction } = session
      const { change, comments, check } = await transaction(async (client) => {
        const { kind, subject_id, change_id } = await requireChange(client, id)
        const check = kind === 'upload' ? await checkIfPlanned(client, subject_id) : undefined
        // Read after it: what it found stands in the change, too.
        const change = await requireChange(client, change_id)
        return { change, comments: await listComments(client, change_id, { limit: 50 }), check }
      })
      const names = await namesOf(session, change.workspace_id)
      output.result(
        check ? { ...change, plan_check: check } : change,
        () => {
          printChange(output, change, names, check)
          if (comments.length > 0) printThreads(output, comments, names)
          if (comments.length < change.comment_count)
            output.dim(`\nThe first ${comments.length} of ${change.comment_count} comments.`)
        },
        ['What it changes, and its decision', subjectCommand(change)],
        change.comment_count === 0 && [
          'Say something about it',
          `stagedoor change comment ${change.number} "…"`,
        ],
      )
    },
  )

function printChange(output: Output, change: Change, names: MemberNames, check?: PlanChecked): void {
  const { number, title, description, reviewers, approvers, undo_request: undo, labels } = change
  output.line(`${paintStatus(statusOf(change))}  ${pc.bold(`#${number} ${printableLine(title)}`)}`)
  if (description !== '') output.line(`\n${prose(printable(description))}`)
  output.line()
  output.facts(
    [
      ['author', joinWords([names(change.author), change.author_via && `by ${change.author_via}`], ' ')],
      ['opened', `${formatAge(change.created_at)} ago`],
      ['reviewers', reviewers.map((one) => one.group_name ?? names(one.reviewer!)).join(', ')],
      ['approved', approvers.length > 0 && approversText(approvers, names)],
      [
        'undo asked',
        undo &&
          `by ${names(undo.requested_by)} ${formatAge(new Date(undo.requested_at))} ago: ${printableLine(undo.reason)}`,
      ],
      ['labels', labels.join(', ')],
      ['dataset', change.dataset],
      ['plan', joinWords([outdatedText(change.outdated), check && planCheckText(check)], '; ')],
      ['digest', change.digest],
      [change.kind, change.subject_id],
    ],
    '  ',
  )
}

function subjectCommand({ kind, number }: Change): string {
  if (kind === 'upload') return `stagedoor upload show ${number}`
  return kind === 'cut' ? `stagedoor mark show ${number}` : `stagedoor staging show ${number}`
}

const editCommand = () =>
  changeVerb('edit', 'edit title or description; for its author and for reviewers')
    .option('--title <text>', 'one line, at most 200 characters')
    .option('--description <text>', 'why: Markdown, at most 20,000 characters')
    .option('--description-file <file>', 'the description from a file; - for standard input')
    .run(async (session, id) => {
      const { title, description: given, descriptionFile } = session.options
      const description = given ?? (descriptionFile && (await readTextInput(descriptionFile)))
      if (title === undefined && description === undefined)
        throw argumentInvalid(
          'Nothing to edit was given',
          'Give --title, --description or --description-file.',
        )
      await onChange(session, id, (client, { change_id }) =>
        editChange(client, change_id, { title, description }),
      )
      await showEdited(session, id, 'Edited')
    })

const labelCommand = () =>
  changeVerb('label', 'add labels to a change, or delete some')
    .argument('[labels...]', 'to add')
    .option('--delete <label...>', 'to delete')
    .run(async (session, id, added) => {
      const deleted: readonly string[] = session.options.delete ?? []
      if ((added ?? []).length + deleted.length === 0)
        throw argumentInvalid(
          'No label was given',
          'stagedoor change label 128 finance urgent --delete draft',
        )
      await onChange(session, id, (client, { change_id, labels }) =>
        editChange(client, change_id, {
          labels: [...labels, ...(added ?? [])].filter((label) => !deleted.includes(label)),
        }),
      )
      await showEdited(session, id, 'Labelled')
    })

const reviewersCommand = () =>
  changeVerb('reviewers', 'ask exactly these people for a review; without any it shows who is asked')
    .argument('[users...]', 'user ids, as `stagedoor member list` shows them')
    .option('--group <name...>', 'groups to ask')
    .option('--none', 'nobody is asked any more')
    .run(async (session, id, users) => {
      const { group = [], none } = session.options
      const reviewers = users ?? []
      const isSet = none || reviewers.length + group.length > 0
      if (isSet)
        await onChange(session, id, (client, { change_id }) =>
          setReviewers(client, change_id, { reviewers, groups: group }),
        )
      await showEdited(session, id, isSet ? 'Reviewers set' : undefined)
    })

type Work<T> = (client: Parameters<typeof requireChange>[0], change: Change) => Promise<T>

const onChange = <T>({ transaction }: Session, id: string, work: Work<T>): Promise<T> =>
  transaction(async (client) => work(client, await requireChange(client, id)))

async function showEdited(session: Session, id: string, done: string | undefined): Promise<void> {
  const { output } = session
  const change = await onChange(session, id, async (_, found) => found)
  const names = await namesOf(session, change.workspace_id)
  output.result(change, () => {
    if (done !== undefined) output.done(done)
    printChange(output, change, names)
  })
}

const namesOf = async ({ output, memberNames }: Session, workspace: string): Promise<MemberNames> =>
  output.json ? String : memberNames(workspace)

const commentCommand = () =>
  changeVerb('comment', 'comment on a change, on a row or a cell of it, or reply')
    .argument('[text]', 'Markdown; @name mentions a member')
    .option('--file <file>', 'the text from a file; - for standard input')
    .option('--reply-to <comment>', 'any comment of the thread', commentId)
    .conflicts('rowType', 'line', 'column')
    .option('--row-type <name>', 'of the row that it is about')
    .option('--line <n>', 'of the row that it is about', integerBetween(-2_147_483_648, 2_147_483_647))
    .option('--column <name>', 'of the cell that it is about')
    .option('--edit <comment>', 'instead replace the text of a comment of your own', commentId)
    .conflicts('replyTo', 'delete')
    .option('--delete <comment>', 'instead delete a comment of your own', commentId)
    .conflicts('replyTo', 'edit')
    .run(async (session, id, text) => {
      const { options, output } = session
      const { file, edit, delete: deleted, replyTo, rowType, line, column } = options
      if (deleted !== undefined) {
        await onChange(session, id, (client) => deleteComment(client, deleted))
        return output.result({ comment_id: deleted }, 'Deleted: that there was a comment stays visible')
      }
      const body = text ?? (await readTextInput(file))
      if (body === undefined) throw argumentInvalid('The comment has no text', 'Give the text, or --file.')
      const comment = await onChange(session, id, (client, { change_id }) =>
        edit === undefined
          ? createComment(client, change_id, { body, replyTo, rowType, line, column })
          : updateComment(client, edit, body),
      )
      output.result(comment, `${edit ? 'Edited' : 'Commented'}: ${comment.comment_id}`)
    })

const commentsCommand = () =>
  changeVerb('comments', 'the conversation of a change, thread by thread')
    .option('--unresolved', 'only threads that are not resolved')
    .option('--edits <comment>', 'instead what this comment said before', commentId)
    .limit(200, 5000)
    .option('--after <comment>', 'the page after this one', commentId)
    .run(async (session, id) => {
      const { options, output } = session
      const { unresolved, edits, limit, after } = options
      if (edits !== undefined) {
        const before = await onChange(session, id, (client) => listCommentEdits(client, edits))
        return output.result(before, () => {
          if (before.length === 0) output.line('The comment was never edited, or it was deleted.')
          for (const { body, written_at } of before) {
            output.heading(`${formatAge(written_at)} ago`)
            output.line(prose(printable(body)))
          }
        })
      }
      const { comments, change } = await onChange(session, id, async (client, found) => ({
        change: found,
        comments: await listComments(client, found.change_id, { limit, after, unresolved }),
      }))
      const names = await namesOf(session, change.workspace_id)
      const next = nextPage(comments, limit, ({ comment_id }) => comment_id)
      output.result(comments, () => {
        if (comments.length === 0)
          output.line(`No comment here. \`stagedoor change comment ${change.number} "…"\` writes one.`)
        printThreads(output, comments, names)
        if (next) output.line(next)
      })
    })

/** In the order in which the threads began. */
function printThreads(output: Output, comments: readonly ChangeComment[], names: MemberNames): void {
  for (const thread of new Set(comments.map(({ thread_id }) => thread_id))) {
    const ofThread = comments.filter(({ thread_id }) => thread_id === thread)
    const { row_type, line, column_name, resolved_by } = ofThread[0]!
    const about =
      row_type === null ? 'the whole' : joinWords([`${row_type} line ${line}`, column_name], ' · ')
    const resolved = resolved_by === null ? '' : pc.green(` ✔ resolved by ${names(resolved_by)}`)
    output.heading(`${printableLine(about)}${resolved}`)
    for (const comment of ofThread) printComment(output, comment, names)
  }
}

function printComment(output: Output, comment: ChangeComment, names: MemberNames): void {
  const { author, created_at, edited_at, deleted_at, body, comment_id } = comment
  const words = joinWords([`${formatAge(created_at)} ago`, edited_at && 'edited', comment_id])
  output.line(`  ${pc.bold(printableLine(names(author)))}  ${pc.dim(words)}`)
  const text = deleted_at === null ? prose(printable(body), { indent: 4 }) : pc.dim('deleted')
  output.line(`    ${text.replaceAll('\n', '\n    ')}`)
}

const resolveCommand = () =>
  command('resolve', 'resolve the thread of a comment, or reopen it')
    .argument('<comment>', 'any comment of the thread', commentId)
    .option('--reopen', 'it is not resolved after all')
    .actor()
    .about('comment')
    .run(async ({ options: { reopen = false }, output, transaction }, id) => {
      const changed = await transaction((client) => resolveThread(client, id, !reopen))
      const word = reopen ? 'open' : 'resolved'
      output.result({ comment_id: id, changed }, changed ? `The thread is ${word}` : `It was ${word} already`)
    })

const historyCommand = () =>
  changeVerb('history', 'what happened to a change, oldest first')
    .limit(100, 10_000)
    .option('--after <n>', 'the page after this entry', integerBetween(0, 2_147_483_647))
    .run(async (session, id) => {
      const { output, options } = session
      const { change, history } = await onChange(session, id, async (client, found) => ({
        change: found,
        history: await listChangeHistory(client, found.change_id, options),
      }))
      const names = await namesOf(session, change.workspace_id)
      output.list(
        history,
        historyColumns(names),
        'Nothing more happened.',
        nextPage(history, options.limit, ({ seq }) => String(seq)),
      )
    })

const historyColumns = (names: MemberNames): Column<ChangeHistoryEntry>[] => [
  { title: '', value: ({ seq }) => seq },
  { title: 'when', value: ({ at }) => at.toISOString() },
  { title: 'by', value: ({ actor }) => names(actor), shrinkTo: 8 },
  { title: 'what', value: ({ what }) => what.replaceAll('_', ' ') },
  {
    title: '',
    value: ({ detail }) => historyText(detail, names),
  },
]

function historyText({ from, to, approvers }: ChangeHistoryEntry['detail'], names: MemberNames): string {
  if (to === undefined) return ''
  const by = (approvers ?? []) as { reviewer: string }[]
  const approved =
    by.length > 0 ? `, approved by ${by.map(({ reviewer }) => names(reviewer)).join(', ')}` : ''
  return `${from} → ${to}${approved}`
}

const rebuildCommand = () =>
  command('rebuild', 'compare every change with its upload or record, and correct what differs')
    .option('--check', 'only say what differs; exit code 7 if anything does')
    .run(async ({ options: { check = false }, output, backEnd }) => {
      const differences = await backEnd((client) => rebuildChanges(client, { checkOnly: check }))
      if (check && differences.length > 0) process.exitCode = DRIFT
      output.list(
        differences,
        DIFFERENCE_COLUMNS,
        'Every change says what its upload or record says.',
        !check && pc.dim('\nCorrected.'),
      )
    })

const DIFFERENCE_COLUMNS: Column<ChangeDifference>[] = [
  { title: 'change', value: ({ number }) => (number === null ? '–' : `#${number}`) },
  { title: 'kind', value: ({ kind }) => kind },
  { title: 'of', value: ({ subject_id }) => subject_id },
  { title: 'differs', value: ({ problem }) => problem },
  { title: 'was', value: ({ was }) => was ?? '–' },
  { title: 'should be', value: ({ should_be }) => should_be ?? '–' },
]
