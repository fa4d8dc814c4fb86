import { Command } from 'commander'
import pc from 'picocolors'
import { StagedoorError } from '../../../errors.ts'
import { planUndo, promoteUpload, type UndoPlan, undoUpload } from '../../../ingest/promotion.ts'
import { discardUpload, requireUpload } from '../../../ingest/uploads.ts'
import { type ActingOptions, asOption, isNamed, userOption } from '../../acting.ts'
import { outputOf } from '../../context.ts'
import { uploadId } from '../../ids.ts'
import { type Output, visibleLine } from '../../output.ts'
import { progressBars } from '../../progress-bar.ts'
import { canAsk, confirm } from './ask.ts'
import { digestOf, requireLong, requireReview } from './decide.ts'
import { count, lines, screenWidth, wrap } from './layout.ts'
import { look, printChange, type Shown } from './look.ts'
import { day } from './next-step.ts'
import { withSession } from './session.ts'
import { tableOf, totalsTable } from './totals.ts'

export function promoteCommand(): Command {
  return new Command('promote')
    .description('bring a plan into the tables, in one transaction')
    .argument('<id>', 'of the upload', uploadId)
    .option('--digest <digest>', 'refuse if the plan is another one')
    .addOption(asOption())
    .addOption(userOption())
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ActingOptions & { digest?: string }>()
      const output = outputOf(options)
      if (options.digest !== undefined) requireLong(options.digest)
      await withSession(options, { upload: id }, async (session) => {
        const bars = progressBars(output)
        bars.report({ stage: 'promote', done: 0, total: 1 })
        try {
          await session.act(async (client) => {
            const planned = digestOf(await requireUpload(client, id))
            const seen = options.digest ?? planned
            await promoteUpload(client, id, planned.startsWith(seen) ? planned : seen)
          })
          bars.report({ stage: 'promote', done: 1, total: 1 })
        } finally {
          bars.stop()
        }
        const shown = await look(session, id)
        output.result(shown.upload, () => printChange(output, shown, options, 'Promoted'))
      })
    })
}

interface UndoOptions extends ActingOptions {
  readonly yes?: boolean
  readonly plan?: boolean
}

export function undoCommand(): Command {
  return new Command('undo')
    .description('take a promotion back: shows what it would do, then asks')
    .argument('<id>', 'of the upload', uploadId)
    .option('--plan', 'only show what it would do')
    .option('--yes', 'do not ask')
    .addOption(asOption())
    .addOption(userOption())
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<UndoOptions>()
      const output = outputOf(options)
      await withSession(options, { upload: id }, async (session) => {
        // A person decides, as with an approval; on one's own database the back end may take back what it promoted.
        const decision = { decides: isNamed(options) || (!session.external && !options.plan) }
        if (decision.decides && !options.plan) await requireReview(session, id)
        const before = await look(session, id)
        const plan = await session.act((client) => planUndo(client, id), decision)
        if (options.plan) return output.result(plan, () => printUndoPlan(output, plan, before))
        if (!options.json) printUndoPlan(output, plan, before)
        if (!options.yes && !(await askToUndo(id, options))) return output.line('Nothing was taken back.')
        await session.act((client) => undoUpload(client, id, plan.digest), decision)
        const shown = await look(session, id)
        output.result(shown.upload, () => output.line(`\n${pc.green('✔')} Taken back`))
      })
    })
}

async function askToUndo(id: string, { json }: UndoOptions): Promise<boolean> {
  if (canAsk() && json !== true) return confirm(`\n${pc.yellow('?')} Take it back`)
  throw new StagedoorError('argument_invalid', {
    reason: `Here nobody can be asked: say --yes to take upload ${id} back, or --plan only to look`,
  })
}

function printUndoPlan(output: Output, plan: UndoPlan, { upload, dataset }: Shown): void {
  output.line(pc.bold(`What an undo of ${visibleLine(upload.file_name)} does`))
  output.line(totalsTable(plan.totals, dataset?.definition))
  if (plan.stays.length > 0) {
    output.line(`\n${pc.bold('What stays, and why')}`)
    for (const row of plan.stays.slice(0, 20)) {
      const text = `${tableOf(row.row_type, dataset?.definition)}, line ${row.line}: ${row.reason}`
      output.line(
        wrap(text, screenWidth() - 4)
          .map((line, at) => (at === 0 ? `  ${pc.yellow('!')} ${line}` : `    ${line}`))
          .join('\n'),
      )
    }
    if (plan.stays.length > 20)
      output.line(pc.dim(`    … ${count(plan.stays.length - 20)} more: --json --plan`))
  }
  output.line(pc.dim(`\n  It can be taken back until ${day(plan.undo_until)}.`))
}

export function discardCommand(): Command {
  return new Command('discard')
    .description('throw an upload away that was not promoted; a line in the list stays')
    .argument('<id>', 'of the upload', uploadId)
    .addOption(asOption())
    .addOption(userOption())
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ActingOptions>()
      const output = outputOf(options)
      await withSession(options, { upload: id }, async (session) => {
        const upload = await session.act(async (client) => {
          await discardUpload(client, id)
          return requireUpload(client, id)
        })
        output.result(upload, () =>
          output.line(`${pc.green('✔')} Discarded ${id}: ${lines(upload.line_count)} are gone`),
        )
      })
    })
}
