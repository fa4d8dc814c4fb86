import { Command } from 'commander'
import pc from 'picocolors'
import { setUploadLimits, uploadLimits } from '../../../ingest/uploads.ts'
import { workspaceOf } from '../../acting.ts'
import { type GlobalOptions, outputOf, withAdministrator } from '../../context.ts'
import { whole } from '../../numbers.ts'
import { bytes, table } from '../../output.ts'
import { count } from './layout.ts'

interface LimitOptions extends GlobalOptions {
  readonly workspace?: string
  readonly bytes?: number
  readonly lines?: number
  readonly atOnce?: number
}

const MOST = 2_147_483_647

export function limitsCommand(): Command {
  return new Command('limits')
    .description(
      'how large an upload may be and how many are read at once; or change it, as the administrator',
    )
    .option('--workspace <id or name>', 'of this one; default: of all that have none of their own')
    .option('--bytes <n>', 'the largest file', whole(1, Number.MAX_SAFE_INTEGER))
    .option('--lines <n>', 'the most lines', whole(1, MOST))
    .option('--at-once <n>', 'how many are read at the same time', whole(1, MOST))
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<LimitOptions>()
      const output = outputOf(options)
      const changes = {
        ...(options.bytes !== undefined && { max_bytes: options.bytes }),
        ...(options.lines !== undefined && { max_lines: options.lines }),
        ...(options.atOnce !== undefined && { max_at_once: options.atOnce }),
      }
      const limits = await withAdministrator(options, async (client) => {
        const workspace =
          options.workspace === undefined ? null : await workspaceOf(client, options.workspace)
        if (Object.keys(changes).length > 0) await setUploadLimits(client, workspace, changes)
        return uploadLimits(client, workspace)
      })
      output.result(limits, () => {
        if (Object.keys(changes).length > 0) output.line(`${pc.green('✔')} Changed`)
        output.line(
          table(
            [
              [
                'for',
                limits.workspace_id === null
                  ? 'every workspace without limits of its own'
                  : (options.workspace ?? limits.workspace_id),
              ],
              ['a file', `${bytes(Number(limits.max_bytes))} (${count(Number(limits.max_bytes))} bytes)`],
              ['lines', count(limits.max_lines)],
              ['at once', count(limits.max_at_once)],
            ],
            (cell, column) => (column === 0 ? pc.dim(cell) : cell),
          ),
        )
      })
    })
}
