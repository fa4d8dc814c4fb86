/**
 * `stagedoor check`: what files would change, as Markdown for a pull request. Everything runs in one transaction for each file, which is
 * rolled back: nothing is written anywhere.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { isDeclarationFile, loadDataset } from '../ingest/datasets/declaration-file.ts'
import { registerDataset, resolveDatasetTarget } from '../ingest/datasets/registry.ts'
import { backEndActor, ingest } from '../ingest/pipeline.ts'
import type { OnInvalid } from '../ingest/plan.ts'
import { readRisk } from '../ingest/risk.ts'
import { listProblemKinds } from '../ingest/staged-rows.ts'
import { asStagedoorError } from '../kernel/errors.ts'
import type { Pool } from '../kernel/postgres/connection.ts'
import { rolledBack } from '../kernel/postgres/rolled-back.ts'
import { inTransaction, SERVICE_ROLE } from '../kernel/postgres/transaction.ts'
import { argumentInvalid, rethrowUnreadable } from './arguments.ts'
import { type CheckedFile, checkSummary } from './check-summary.ts'
import { command } from './command.ts'
import { type GlobalOptions, type Session, withFlag, workspaceOf } from './session.ts'
import { planRefused } from './upload-next-steps.ts'
import { ON_INVALID, THRESHOLD } from './upload-plan.ts'
import { problemsOf } from './upload-problems.ts'

const ADMINISTRATOR = { role: 'workflow_admin' }
/** Lines with problems that the summary shows of a file; all are counted. */
const MAX_LINES = 20

export const checkCommand = () =>
  command('check', 'what files would change, as Markdown; writes nothing')
    .argument('<files...>', 'CSV, TSV, JSON lines, JSON, Parquet or xlsx')
    .requiredOption(
      '--dataset <name or file>',
      'what they mean: a registered dataset, or the file that declares one',
    )
    .option('--against <DATABASE_URL>', 'the database to compare with; default: that of the configuration')
    .option('--platform <name>', 'whose export it is; default: the only one of the dataset')
    .workspace()
    .option('--client <id or name>', 'whose data it is; default: the only one of the workspace')
    .option(...ON_INVALID, 'refuse')
    .option(...THRESHOLD)
    .examples(
      `  $ stagedoor check exports/week-45.csv --dataset ads --platform meta
  $ stagedoor check data/*.csv --dataset ./products.dataset.json --against "$DATABASE_URL" >> "$GITHUB_STEP_SUMMARY"

It ends with 0 where all files could be submitted for a review, else with the code of the first that could not (5: its plan is refused).
Each file is read and planned in a transaction that is rolled back. While it runs, other uploads of the workspace wait.`,
    )
    .run(
      async (session, files: string[]) => {
        const { dataset } = session.options
        const declared = isDeclarationFile(dataset) ? await loadDataset(dataset) : undefined
        for (const file of files) {
          const found = await stat(file).catch(rethrowUnreadable(file))
          if (found.isDirectory()) throw argumentInvalid(`${file} is a folder; give files`)
        }
        const checked: CheckedFile[] = []
        for (const file of files) {
          const result = await checkFile(session, file, declared).catch((error): CheckedFile => {
            const thrown = asStagedoorError(error)
            const { code, message, hint, details } = thrown
            if (code === 'internal' || UNREACHABLE.has(code)) throw error
            return { file: basename(file), error: { code, message, hint, details }, thrown }
          })
          checked.push(result)
        }
        session.output.result({ files: checked.map(({ thrown: _, ...one }) => one) }, () =>
          session.output.line(checkSummary(checked)),
        )
        const failed = checked.find(({ thrown }) => thrown !== undefined)?.thrown
        if (failed !== undefined) process.exitCode = failed.exitCode
      },
      { settingsFrom: { databaseUrl: 'against', databaseDirectUrl: 'against' } },
    )

/** Not a matter of the file: nothing can be checked. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  'database_unreachable',
  'migrations_pending',
  'gate_closed',
])

interface CheckOptions extends GlobalOptions {
  readonly dataset: string
  readonly platform?: string
  readonly workspace?: string
  readonly client?: string
  readonly onInvalid?: OnInvalid
  readonly threshold?: number
}

async function checkFile(
  session: Session<CheckOptions>,
  file: string,
  declared: Awaited<ReturnType<typeof loadDataset>> | undefined,
): Promise<CheckedFile> {
  const { options } = session
  const { directUrl } = await session.database()
  const home = await mkdtemp(join(tmpdir(), 'stagedoor-check-'))
  try {
    return await rolledBack(
      directUrl,
      async (pool) => {
        const target = await targetOf(pool, options, declared)
        await forgetSameBytes(pool, file)
        const actor = backEndActor(pool)
        const { upload } = await ingest({ pool, home }, file, {
          ...target,
          actor,
          until: 'planned',
          onInvalid: options.onInvalid,
          threshold: options.threshold,
          maxQueueWaitMs: 0,
        })
        return actor.transaction(async (client) => ({
          file: basename(file),
          upload: withoutIds(upload),
          kinds: await listProblemKinds(client, upload),
          problems: await problemsOf(client, upload, MAX_LINES),
          risk: await readRisk(client, upload.upload_id),
          ...(upload.plan_refusal !== null && { thrown: planRefused(upload) }),
        }))
      },
      'check',
    )
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}

/** A dataset that a file declares is registered in the transaction, too: so it is checked against the tables before it is merged. */
async function targetOf(
  pool: Pool,
  { dataset: named, platform, client: owner, workspace }: CheckOptions,
  declared: Awaited<ReturnType<typeof loadDataset>> | undefined,
) {
  const workspaceId = await inTransaction(pool, (client) => workspaceOf(client, workspace), SERVICE_ROLE)
  if (declared)
    await inTransaction(pool, (client) => registerDataset(client, declared, { workspaceId }), ADMINISTRATOR)
  const dataset = declared?.name ?? named
  return inTransaction(
    pool,
    async (client) => {
      const target = await withFlag(
        resolveDatasetTarget(client, { dataset, platform, client: owner, workspaceId }),
      )
      return { workspaceId, ...target }
    },
    SERVICE_ROLE,
  )
}

/** The same bytes may have been uploaded before: their plan is of that time, and a new one is wanted. Rolled back like everything. */
async function forgetSameBytes(pool: Pool, file: string): Promise<void> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer)
  await inTransaction(
    pool,
    (client) =>
      client.query(`update iu_core.ingest_upload set run_mode = 'FULL_DRY_RUN' where file_hash = $1`, [
        hash.digest('hex'),
      ]),
    ADMINISTRATOR,
  )
}

/** Nobody can look the upload up: it is gone. */
function withoutIds<T extends { upload_id: string }>(upload: T): Omit<T, 'upload_id'> {
  const { upload_id: _, ...rest } = upload
  return rest
}
