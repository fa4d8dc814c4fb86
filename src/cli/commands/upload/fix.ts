import { Command } from 'commander'
import { whoAmI } from '../../../access/members.ts'
import type { Client } from '../../../db/connection.ts'
import { StagedoorError } from '../../../errors.ts'
import { knowCheck, requireDataset } from '../../../ingest/datasets/registry.ts'
import { planUpload } from '../../../ingest/plan.ts'
import type { Correction } from '../../../ingest/repair.ts'
import { requireUpload, type Upload } from '../../../ingest/uploads.ts'
import { requireStaging } from '../../../staging/gate.ts'
import { type ActingOptions, asOption, userOption } from '../../acting.ts'
import { outputOf } from '../../context.ts'
import { uploadId } from '../../ids.ts'
import { whole } from '../../numbers.ts'
import { loadDataset } from '../dataset/declaration.ts'
import { lines } from './layout.ts'
import { look, printChange } from './look.ts'
import { problemsOf, problemTable } from './problem-table.ts'
import { type Session, withSession } from './session.ts'

interface FixOptions extends ActingOptions {
  readonly line?: number
  readonly set: string[]
  readonly leaveOut?: boolean
  readonly file?: string
  readonly dataset?: string
}

export function fixCommand(): Command {
  return new Command('fix')
    .description('correct lines; they are checked by the same rules, and what was planned is planned again')
    .argument('<id>', 'of the upload', uploadId)
    .option('--line <n>', 'the line of the file', whole(0, 2_147_483_647))
    .option(
      '--set <header=value>',
      'a cell of it; may be repeated',
      (value: string, before: string[]) => [...before, value],
      [],
    )
    .option('--leave-out', 'make nothing of the line; corrected later, it is taken in again')
    .option('--file <file>', 'the exported file with its cells corrected')
    .option('--dataset <file>', 'that declares it, where it has a rule in TypeScript')
    .addOption(asOption())
    .addOption(userOption())
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<FixOptions>()
      const output = outputOf(options)
      requireOneWay(options)
      const declared = options.dataset === undefined ? undefined : await loadDataset(options.dataset)
      if (declared) knowCheck(declared.name, declared.check)
      await withSession(options, { upload: id }, async (session) => {
        const fixed = await fix(session, id, options)
        const shown = await look(session, id)
        const left = await session.act((client) => problemsOf(client, shown.upload, 5))
        output.result({ lines: fixed, upload: shown.upload, problems: left }, () => {
          if (fixed === 0)
            return output.line('Nothing differs from the lines that are held. Nothing changed.')
          const done = options.leaveOut ? 'left out' : 'corrected and checked again'
          printChange(output, shown, options, `${lines(fixed)} ${done}`)
          const wrong = left.filter(({ severity }) => severity === 'error')
          if (wrong.length > 0) output.line(`\nStill wrong\n${problemTable(wrong)}`)
        })
      })
    })
}

function requireOneWay({ line, set, leaveOut = false, file }: FixOptions): void {
  const ofLine = set.length > 0 || leaveOut
  const both = set.length > 0 && leaveOut
  if (file === undefined ? line !== undefined && ofLine && !both : line === undefined && !ofLine) return
  throw new StagedoorError('argument_invalid', {
    reason:
      'Give --line N with --set "Header=value" or with --leave-out, or --file with the exported file, corrected',
  })
}

/** Returns how many lines were corrected. The member's right is asked first: it is the back end that writes the rows. */
async function fix(session: Session, id: string, options: FixOptions): Promise<number> {
  const { upload, actor, corrections } = await session.act(async (client) => {
    const upload = await requireUpload(client, id)
    await requireStaging(client, upload.workspace_id)
    return {
      upload,
      actor: (await whoAmI(client)).actor,
      corrections: await correctionsOf(client, upload, options),
    }
  })
  if (corrections.length === 0) return 0
  const { repairLines } = await import('../../../ingest/repair.ts')
  await session.backEnd(async (client) => {
    const dataset = await requireDataset(client, upload.dataset, upload.platform)
    if (!dataset.check && upload.notes.some(({ rule }) => rule === 'dataset.custom_rule')) throw ruleUnknown()
    await repairLines(client, upload, dataset, corrections, actor)
  })
  if (upload.status === 'planned') await session.act((client) => planAgain(client, upload))
  return corrections.length
}

/** Otherwise a line would be right here that was wrong when the file was read. */
function ruleUnknown(): StagedoorError {
  return new StagedoorError('argument_invalid', {
    reason:
      'The file was checked by a rule in TypeScript, too: give the file that declares it with --dataset',
  })
}

async function correctionsOf(
  client: Client,
  upload: Upload,
  { line, set, leaveOut, file }: FixOptions,
): Promise<Correction[]> {
  if (leaveOut) return [{ line: line!, leave_out: true }]
  const { correctionOf, correctionsIn } = await import('./corrections.ts')
  return file === undefined ? [correctionOf(upload, line!, set)] : correctionsIn(client, upload, file)
}

async function planAgain(client: Client, { upload_id, gate_mode, threshold }: Upload): Promise<void> {
  await planUpload(client, upload_id, {
    ...(gate_mode !== null && { gate_mode }),
    ...(threshold !== null && { threshold: Number(threshold) }),
  })
}
