/** `stagedoor health`: is the database fit, how large is it, and with --url: is a running process. */
import pc from 'picocolors'
import { describeCheck } from '../app/health.ts'
import { readerLag } from '../events/outbox.ts'
import { spoolUsage } from '../ingest/spool.ts'
import { createHealthProbe, readStorage } from '../kernel/postgres/health.ts'
import { VERSION } from '../kernel/version.ts'
import { argumentInvalid } from './arguments.ts'
import { command } from './command.ts'
import { formatBytes, formatCount, formatDuration, plural } from './format.ts'
import type { Output } from './terminal.ts'

/** As where the database does not answer. */
const FAILED_EXIT_CODE = 4
/** Shorter than what container runtimes allow a health check. */
const ANSWER_MS = 5000

export const healthCommand = () =>
  command('health', 'the checks of the database or of a running process, and with --storage how large it is')
    .option(
      '--storage',
      'the largest tables, the files that are read now, how far readers of events are behind',
    )
    .option(
      '--url [url]',
      'ask a running process instead of the database; without a value: /api/ready of the server on this machine (PORT)',
    )
    .conflicts('storage')
    .examples(
      `  $ stagedoor health --storage
  $ stagedoor health --url
  $ stagedoor health --url http://127.0.0.1:9464/health    # of stagedoor worker --metrics-port 9464

--url is for the health checks of containers and services. Processes: \`stagedoor process list\`; workers: \`stagedoor job workers\`; engines:
\`stagedoor execution engines\`; what needs a person: \`stagedoor issue list\`. Exits with 4 when a check fails.`,
    )
    .run(
      async ({ options, output, backEnd, config }) => {
        const { url } = options
        if (url !== undefined)
          return askProcess(output, url === true ? `http://127.0.0.1:${config.port}/api/ready` : url)
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

/** What it answers is printed as it is: /api/ready names the checks that fail, a worker says that it is alive. */
async function askProcess(output: Output, url: string): Promise<void> {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw argumentInvalid(`${url} is not an address like http://127.0.0.1:4680/api/ready`)
  const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) }).then(
    async (response) => ({ ok: response.ok, detail: (await response.text()).trim() }),
    (error: Error) => ({ ok: false, detail: String((error.cause as Error | undefined)?.message ?? error) }),
  )
  output.result({ url, ...answer }, () => {
    output.line(`${answer.ok ? pc.green('✔') : pc.red('✖')} ${pc.bold(url)}  ${pc.dim(answer.detail)}`)
  })
  if (!answer.ok) process.exitCode = FAILED_EXIT_CODE
}

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
