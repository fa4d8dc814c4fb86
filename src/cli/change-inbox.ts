/** `stagedoor change inbox`: what concerns one person; and requests to undo, which wait there for whoever may undo. */
import pc from 'picocolors'
import { requireChange } from '../changes/changes.ts'
import { type Inbox, type InboxMatter, MAX_INBOX, markRead, readInbox, unreadNews } from '../changes/inbox.ts'
import { declineUndo, requestUndo } from '../changes/undo-requests.ts'
import { argumentInvalid } from './arguments.ts'
import { command } from './command.ts'
import { formatAge, plural } from './format.ts'
import { changeId } from './ids.ts'
import { type MemberNames, workspaceIfNamed } from './session.ts'
import type { Column, Output } from './terminal.ts'
import { formatRecords } from './terminal.ts'
import { printableLine } from './text.ts'

export const inboxCommand = () =>
  command(
    'inbox',
    'what concerns you: what is to be done, then mentions, replies and what became of your changes',
  )
    .workspace('only of this one')
    .option('--all', 'with news of the last 30 days that was read')
    .option('--read', 'mark the news that is listed as read; what is to be done stays')
    .option('--read-change <change>', 'mark the news of this change as read', changeId)
    .limit(100, MAX_INBOX)
    .actor()
    .run(async ({ options, output, isMember, transaction, memberNames }) => {
      const { workspace, all, read = false, readChange, limit } = options
      if (!isMember) throw argumentInvalid('Whose inbox?', 'Name a member with --as or --user.')
      const { inbox, marked } = await transaction(async (client) => {
        const workspaceId = await workspaceIfNamed(client, workspace)
        const listed = await readInbox(client, { workspaceId, all, limit })
        const only = readChange && (await requireChange(client, readChange, workspaceId)).change_id
        const news =
          read || only !== undefined
            ? unreadNews(listed).filter(({ change_id }) => only === undefined || change_id === only)
            : []
        return { inbox: listed, marked: news.length > 0 ? await markRead(client, news) : 0 }
      })
      const names = output.json ? String : await memberNames()
      output.result({ ...inbox, marked }, () => {
        printInbox(output, inbox, names)
        if (read || readChange !== undefined) output.done(`Marked as read: ${marked}`)
      })
    })

function printInbox(output: Output, inbox: Inbox, names: MemberNames): void {
  const { matters, to_do, unread } = inbox
  if (matters.length === 0) {
    output.line('Nothing is to be done, and there is no news.')
    return
  }
  output.line(pc.bold(`${to_do} to do, ${unread} unread`))
  output.line(formatRecords(matters, columns(names)))
  const left = to_do + unread - matters.filter((one) => one.unread).length
  if (left > 0) output.dim(`\n  ${plural(left, 'more matter')} after these: --limit ${MAX_INBOX}`)
}

const WORDS: Readonly<Record<InboxMatter['matter'], string>> = {
  review_requested: 'asks for your review',
  changes_requested: 'requested changes',
  undo_requested: 'asks for an undo',
  plan_outdated: 'made the plan outdated, or found it to be',
  mentioned: 'mentioned you',
  replied: 'replied',
  approved: 'approved it',
  promoted: 'promoted it',
  rejected: 'rejected it',
  undone: 'undid it',
}

const columns = (names: MemberNames): Column<InboxMatter>[] => [
  { title: '', value: ({ to_do, unread }) => (to_do ? '▲' : unread ? '●' : '') },
  { title: 'change', value: ({ number }) => `#${number}` },
  { title: 'title', value: ({ title }) => title, shrinkTo: 10 },
  { title: 'who', value: ({ actor }) => names(actor), shrinkTo: 8 },
  {
    title: 'what',
    value: ({ matter, group_name, by_policy, many }) => {
      const words = by_policy ? 'submitted it; the policy asks for you' : WORDS[matter]
      return `${words}${group_name === null ? '' : ` (group ${group_name})`}${many > 1 ? ` (${many})` : ''}`
    },
    shrinkTo: 12,
  },
  { title: 'says', value: ({ excerpt }) => printableLine(excerpt ?? ''), shrinkTo: 8, dim: true },
  { title: 'age', value: ({ at }) => formatAge(at) },
]

const undoVerb = (name: string, description: string) =>
  command(name, description)
    .argument('<change>', 'its number, its id, or the id of its upload', changeId)
    .actor()
    .about('change')

export const askUndoCommand = () =>
  undoVerb('ask-undo', 'ask for the undo of a promotion: it waits in the inbox of everybody who may undo')
    .requiredOption('--reason <text>', 'why: at most 2,000 characters')
    .run(async ({ output, transaction, options }, id) => {
      const comment = await transaction(async (client) =>
        requestUndo(client, (await requireChange(client, id)).change_id, options.reason),
      )
      output.result(comment, 'Asked: whoever may undo sees it in their inbox')
    })

export const declineUndoCommand = () =>
  undoVerb('decline-undo', 'decline the open request to undo, or withdraw your own')
    .option('--reason <text>', 'answers the request')
    .run(async ({ output, transaction, options }, id) => {
      const change = await transaction(async (client) => {
        const { change_id } = await requireChange(client, id)
        await declineUndo(client, change_id, options.reason)
        return requireChange(client, change_id)
      })
      output.result(change, 'Declined: the promotion stays')
    })
