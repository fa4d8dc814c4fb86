import { Command } from 'commander'
import pc from 'picocolors'
import { type AppRole, whoAmI } from '../../../access/members.ts'
import { StagedoorError } from '../../../errors.ts'
import { approvePlan, listPlanRows, rejectPlan, submitPlan } from '../../../ingest/plan.ts'
import { requireUpload, type Upload } from '../../../ingest/uploads.ts'
import { type ChecklistItem, readChecklist } from '../../../staging/records.ts'
import { type ActingOptions, asOption, userOption } from '../../acting.ts'
import { outputOf } from '../../context.ts'
import { uploadId } from '../../ids.ts'
import { type Output, visibleLine } from '../../output.ts'
import { canAsk, confirm } from './ask.ts'
import { look, printChange, printUpload } from './look.ts'
import { planRowLines } from './plan-rows.ts'
import { type Session, withSession } from './session.ts'

/** Enough of a digest that nobody types it by accident. */
const SHORTEST_DIGEST = 12
const SHOWN_CHANGES = 10
const DECIDES = { decides: true }
const REVIEWERS: readonly AppRole[] = ['reviewer', 'admin']

export function submitCommand(): Command {
  return new Command('submit')
    .description('hand the plan to a second person')
    .argument('<id>', 'of the upload', uploadId)
    .addOption(asOption())
    .addOption(userOption())
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ActingOptions>()
      const output = outputOf(options)
      await withSession(options, { upload: id }, async (session) => {
        await session.act(async (client) => submitPlan(client, id, digestOf(await requireUpload(client, id))))
        const shown = await look(session, id)
        output.result(shown.upload, () => printChange(output, shown, options, 'Handed to a second person'))
      })
    })
}

/** Before anything is shown or asked: whoever may not decide is told so at once, by the name that people know. */
export async function requireReview(session: Session, id: string): Promise<void> {
  await session.act(async (client) => {
    const { workspace_id } = await requireUpload(client, id)
    const { actor, name, workspaces } = await whoAmI(client)
    const role = workspaces.find((workspace) => workspace.id === workspace_id)?.role
    // Whom the database does not know as a member it refuses itself.
    if (role === undefined || REVIEWERS.includes(role)) return
    throw new StagedoorError(
      'right_missing',
      { actor, role, right: 'review' },
      {
        message: `${name ?? `A member with the role ${role}`} may not review; a reviewer decides`,
        hint: 'Say who does: --as reviewer, or --user <id> with an id of `stagedoor member list`.',
      },
    )
  }, DECIDES)
}

interface ApproveOptions extends ActingOptions {
  readonly digest?: string
  readonly tick?: string
}

export function approveCommand(): Command {
  return new Command('approve')
    .description('approve exactly the plan that you saw')
    .argument('<id>', 'of the upload', uploadId)
    .option(
      '--digest <digest>',
      `of the plan, as \`upload show\` prints it; its first ${SHORTEST_DIGEST} characters will do`,
    )
    .option('--tick <items>', 'what you looked at, separated by commas: changes, left_out')
    .addOption(asOption())
    .addOption(userOption())
    .addHelpText(
      'after',
      '\nOn a terminal it shows the plan and asks. Elsewhere --digest says which plan was seen and --tick what was looked at.',
    )
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ApproveOptions>()
      const output = outputOf(options)
      if (options.digest !== undefined) requireLong(options.digest)
      await withSession(options, { upload: id }, async (session) => {
        await requireReview(session, id)
        const { upload, checklist } = await session.act(async (client) => {
          const found = await requireUpload(client, id)
          const review = found.review_record_id
          return { upload: found, checklist: review === null ? [] : await readChecklist(client, review) }
        }, DECIDES)
        const decision =
          decided(upload, checklist, options) ?? (await ask(session, output, upload, checklist))
        if (!decision) return output.line('Nothing was decided.')
        await session.act((client) => approvePlan(client, id, decision), DECIDES)
        const shown = await look(session, id)
        output.result(shown.upload, () => printChange(output, shown, { as: 'operator' }, 'Approved'))
      })
    })
}

interface Decision {
  readonly digest: string
  readonly ticked: readonly string[]
}

/** What the command line says by itself; undefined: whoever sits there is asked. */
function decided(
  upload: Upload,
  checklist: readonly ChecklistItem[],
  { digest, tick, json }: ApproveOptions,
): Decision | undefined {
  const asked = canAsk() && json !== true
  if (tick === undefined || digest === undefined) {
    if (asked) return digest === undefined ? undefined : refuseOther(upload, digest)
    const boxes = checklist.filter(({ required }) => required).map(({ item_id }) => item_id)
    throw new StagedoorError(
      'argument_invalid',
      {
        reason:
          'Here nobody can be asked: say what you looked at with --tick, and which plan you saw with --digest',
      },
      {
        hint: `\`stagedoor upload show ${upload.upload_id}\` prints the digest; then: --digest <as shown> --tick ${boxes.join(',') || 'changes'}`,
      },
    )
  }
  const given = upload.plan_digest?.startsWith(digest) ? upload.plan_digest : digest
  return {
    digest: given,
    ticked: tick
      .split(',')
      .map((item) => item.trim())
      .filter(Boolean),
  }
}

/** Before anything is shown that was not meant. */
function refuseOther(upload: Upload, digest: string): undefined {
  if (upload.plan_digest?.startsWith(digest)) return undefined
  throw new StagedoorError('plan_stale', {
    upload: upload.upload_id,
    reason: 'the digest is that of another plan',
  })
}

async function ask(
  session: Session,
  output: Output,
  upload: Upload,
  checklist: readonly ChecklistItem[],
): Promise<Decision | undefined> {
  const digest = digestOf(upload)
  const shown = await look(session, upload.upload_id)
  printUpload(output, shown)
  const rows = await session.act((client) =>
    listPlanRows(client, upload.upload_id, { action: 'update', limit: SHOWN_CHANGES }),
  )
  if (rows.length > 0) {
    output.line(`\n${pc.bold(`The first ${rows.length} changes`)}`)
    output.line(planRowLines(rows, shown.dataset?.definition, upload.reading))
  }
  output.line(pc.dim(`\n  All of it: stagedoor upload plan ${upload.upload_id} --rows\n`))
  const ticked: string[] = []
  for (const item of checklist.filter(({ required, ticked_at }) => required && ticked_at === null)) {
    if (!(await confirm(`${pc.yellow('?')} ${visibleLine(item.label)}`))) return undefined
    ticked.push(item.item_id)
  }
  return (await confirm(`${pc.yellow('?')} Approve exactly this plan, ${digest.slice(0, SHORTEST_DIGEST)}`))
    ? { digest, ticked }
    : undefined
}

export function digestOf(upload: Upload): string {
  if (upload.plan_digest !== null) return upload.plan_digest
  throw new StagedoorError(
    'upload_state',
    { upload: upload.upload_id, status: upload.status, action: 'decided on' },
    {
      message: `Upload ${upload.upload_id} is ${upload.status} and has no plan`,
      hint: `\`stagedoor upload plan ${upload.upload_id}\` makes one.`,
    },
  )
}

export function requireLong(digest: string): void {
  if (digest.length >= SHORTEST_DIGEST) return
  throw new StagedoorError(
    'argument_invalid',
    { reason: `--digest ${digest} is too short: give at least ${SHORTEST_DIGEST} characters` },
    { hint: '`stagedoor upload show ID` prints it, with what it stands for.' },
  )
}

export function rejectCommand(): Command {
  return new Command('reject')
    .description('say no to a plan; it can be corrected and handed in again')
    .argument('<id>', 'of the upload', uploadId)
    .requiredOption('--reason <text>', 'for whoever uploaded it to read')
    .addOption(asOption())
    .addOption(userOption())
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ActingOptions & { reason: string }>()
      const output = outputOf(options)
      await withSession(options, { upload: id }, async (session) => {
        await requireReview(session, id)
        await session.act((client) => rejectPlan(client, id, options.reason), DECIDES)
        const { upload } = await look(session, id)
        output.result(upload, () => output.line(`${pc.green('✔')} Rejected ${id}`))
      })
    })
}
