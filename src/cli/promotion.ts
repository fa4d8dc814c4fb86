/** `stagedoor promotion`: what was written into the tables, by whom, and until when it can be undone. */
import { listPromotions } from '../ingest/promotion.ts'
import { PROMOTION_STATES, type PromotionSummary } from '../ingest/shapes.ts'
import { command, commandGroup } from './command.ts'
import { formatAge, formatCount, formatDate } from './format.ts'
import { uploadId } from './ids.ts'
import { type MemberNames, workspaceIfNamed } from './session.ts'
import { type Column, nextPage, painter } from './terminal.ts'

export const promotionCommand = () =>
  commandGroup(
    'promotion',
    'what was written into the tables, by whom, and until when it can be undone',
    [listCommand()],
    `
  $ stagedoor promotion list --state undoable
  $ stagedoor promotion list --dataset ads --person me --as reviewer
  $ stagedoor upload lineage 128          which rows a promotion wrote
  $ stagedoor upload undo 128 --as reviewer`,
  )

const listCommand = () =>
  command('list', 'promotions, newest first')
    .workspace('only these')
    .option('--dataset <name>', 'only of this dataset')
    .option('--state <state>', 'undoable, final (the time is over) or undone', PROMOTION_STATES)
    .option(
      '--person <user id>',
      'only what this one uploaded, approved, promoted or undid; me: whoever asks',
    )
    .limit()
    .option('--after <upload>', 'the page after the promotion of this upload', uploadId)
    .actor({ backEndRole: 'service_role' })
    .run(async ({ options, output, transaction, memberNames }) => {
      const { workspace, dataset, state, person, limit, after } = options
      const promotions = await transaction(async (client) =>
        listPromotions(client, {
          workspaceId: await workspaceIfNamed(client, workspace),
          ...{ dataset, state, person, limit, after },
        }),
      )
      const names = output.json ? String : await memberNames()
      output.list(
        promotions,
        columns(names),
        'No promotion here. `stagedoor upload promote ID` writes an approved upload into the tables.',
        nextPage(promotions, limit, ({ upload_id }) => upload_id),
      )
    })

const columns = (names: MemberNames): Column<PromotionSummary>[] => [
  { title: 'change', value: ({ change }) => (change === null ? '–' : `#${change}`) },
  { title: 'title', value: ({ title }) => title, shrinkTo: 10 },
  { title: 'dataset', value: ({ dataset }) => dataset, dim: true },
  { title: 'rows', value: ({ totals }) => rowsText(totals) },
  {
    title: 'approved by',
    value: ({ approvers }) => approvers.map(({ reviewer }) => names(reviewer)).join(', ') || '–',
    shrinkTo: 8,
  },
  { title: 'promoted by', value: ({ promoted_by }) => names(promoted_by), shrinkTo: 8 },
  { title: 'age', value: ({ promoted_at }) => formatAge(promoted_at) },
  { title: 'undo', value: (promotion) => undoText(promotion, names), paint: paintUndo, shrinkTo: 12 },
]

const paintUndo = painter({})

function rowsText(totals: PromotionSummary['totals']): string {
  const sum = (action: string) =>
    Object.values(totals).reduce((rows, actions) => rows + (actions[action] ?? 0), 0)
  const parts = [
    ['insert', 'new'],
    ['update', 'changed'],
    ['delete', 'deleted'],
  ].flatMap(([action, word]) => (sum(action!) > 0 ? [`${formatCount(sum(action!))} ${word}`] : []))
  return parts.join(', ') || 'none'
}

function undoText(
  { state, undo_until, undone_by, undo_reason }: PromotionSummary,
  names: MemberNames,
): string {
  if (state === 'undoable') return `until ${formatDate(undo_until)}`
  if (state === 'final') return 'final'
  return `undone by ${names(undone_by!)}${undo_reason === null ? '' : `: ${undo_reason}`}`
}
