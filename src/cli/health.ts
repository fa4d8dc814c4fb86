/** `stagedoor health`: is the database fit, and how large is it. */
import pc from 'picocolors'
import { describeCheck } from '../app/health.ts'
import { readerLag } from '../events/outbox.ts'
import { spoolUsage } from '../ingest/spool.ts'
import { createHealthProbe, readStorage } from '../kernel/postgres/health.ts'
import { VERSION } from '../kernel/version.ts'
import { command } from './command.ts'
import { formatBytes, formatCount, formatDuration, plural } from './format.ts'
import type { Output } from './terminal.ts'

/** As where the database does not answer. */
const FAILED_EXIT_CODE = 4

export const healthCommand = () =>
  command('health', 'the checks of the database, and with --storage how large it is')
    .option(
      '--storage',
      'the largest tables, the files that are read now, how far readers of events are behind',
    )
    .examples(
      `  $ stagedoor health --storage

What the process of \`stagedoor start\` itself says is at /api/ready. Processes: \`stagedoor process list\`; workers: \`stagedoor job workers\`; engines:
\`stagedoor execution engines\`; what needs a person: \`stagedoor issue list\`. Exits with 4 when a check fails.`,
    )
    .run(
      async ({ options, output, backEnd, config }) => {
        const { checks, storage } = await backEnd(async (client) => ({
          checks: (await createHealthProbe()(client)).map(describeCheck),
          storage: options.storage
            ? { ...(await readStorage(client)), readers: await readerLag(client) }
            : undefined,
        }))
        const spool = storage && (await spoolUsage(config.home))
        output.result(
          { version: VERSION, checks, ...(storage && { storage: { ...storage, spool } }) },
          () => {
            for (const { title, ok, detail, remedy } of checks) {
              output.line(`${ok ? pc.green('✔') : pc.red('✖')} ${pc.bold(title)}  ${pc.dim(detail)}`)
              if (!ok) output.line(`  ${remedy}`)
            }
            if (storage && spool) printStorage(output, { ...storage, spool })
          },
        )
        if (checks.some(({ ok }) => !ok)) process.exitCode = FAILED_EXIT_CODE
      },
      { backEndRole: 'service_role' },
    )

interface Storage extends Awaited<ReturnType<typeof readStorage>> {
  readonly readers: Awaited<ReturnType<typeof readerLag>>
  readonly spool: Awaited<ReturnType<typeof spoolUsage>>
}

function printStorage(output: Output, { database_bytes, tables, readers, spool }: Storage): void {
  output.heading(`Storage: ${formatBytes(database_bytes)}`)
  output.records(tables, [
    { title: 'table', value: (one) => `${one.schema_name}.${one.table_name}` },
    { title: 'size', value: (one) => formatBytes(one.bytes), align: 'right' },
    { title: 'rows, about', value: (one) => formatCount(one.row_estimate), align: 'right' },
  ])
  output.line(
    `\nFiles that are received and read now: ${plural(spool.files, 'file')}, ${formatBytes(spool.bytes)}`,
  )
  if (readers.length === 0) return
  output.heading('Readers of events')
  output.records(readers, [
    { title: 'reader', value: (one) => one.reader },
    { title: 'unread', value: (one) => formatCount(one.unread), align: 'right' },
    { title: 'behind', value: (one) => formatDuration(one.lag_s * 1000), align: 'right' },
  ])
}
