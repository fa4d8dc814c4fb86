/**
 * One pipeline behind five surfaces. The same file ends the same way on each: the same status, the same error, the same
 * events in the same order, and the rules over the whole file are checked once at most.
 */
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ingestExport } from '../../bench/src/ingest/world.ts'
import { ingestTool } from '../../src/app/tools/ingest.ts'
import { CATALOGUE, createStagedoor, type Stagedoor } from '../../src/index.ts'
import type { Upload } from '../../src/ingest/uploads.ts'
import { contextOf } from '../executions/run-command/command.ts'
import { useUploads, week } from '../http/uploads/uploads-api.ts'
import { runCli, startCli } from '../support/cli.ts'
import { MIGRATOR } from '../support/template.ts'
import { until } from '../support/until.ts'

const uploads = useUploads()
const { db, ads } = uploads
let stagedoor: Stagedoor
let files = 0

interface Attempt {
  /** What the caller gets, as the code of the error; undefined: no error. */
  readonly error: string | undefined
}

/** A way into the pipeline, as far as it may go. */
interface Surface {
  run(path: string, signal?: AbortSignal): Promise<Attempt>
  /** Ends what `run` does; default: by its signal. */
  readonly interrupt?: () => Promise<unknown>
}

/** The code of whatever was thrown: the tool's own errors have none, and those of PostgreSQL are not ours. */
async function errorOf(work: Promise<unknown>): Promise<Attempt> {
  return work.then(
    () => ({ error: undefined }),
    ({ code, message }: { code?: string; message: string }) => {
      if (code === undefined && /needs an approval/.test(message)) return { error: 'approval_missing' }
      return { error: code !== undefined && code in CATALOGUE ? code : 'internal' }
    },
  )
}

const env = () => ({
  DATABASE_URL: db.url('stagedoor_api'),
  DATABASE_DIRECT_URL: db.url(MIGRATOR),
  STAGEDOOR_HOME: ads.home,
})
const CLI = ['--dataset', 'ads', '--platform', 'meta', '--as', 'operator', '--json', '--workspace']
let cli: ReturnType<typeof startCli> | undefined

const surfaces: Record<string, Surface> = {
  CLI: {
    async run(path, signal) {
      const args = ['ingest', path, ...CLI, ads.workspace]
      if (signal) {
        cli = startCli(args, env())
        await once(cli.child, 'close')
        return { error: /"code": ?"(\w+)"/.exec(cli.output())?.[1] }
      }
      const { stderr } = await runCli(args, env())
      return { error: stderr.includes('"error"') ? JSON.parse(stderr).error.code : undefined }
    },
    interrupt: async () => cli!.child.kill('SIGINT'),
  },
  library: {
    run: (path, signal) =>
      errorOf(
        stagedoor.ingest.run(path, {
          dataset: 'ads',
          platform: 'meta',
          workspaceId: ads.workspace,
          clientId: ads.client,
          uploadedBy: ads.operator.userId,
          signal,
        }),
      ),
  },
  tool: {
    run: (path, signal) =>
      errorOf(
        ingestTool(stagedoor.ingest, join(ads.home, 'files'))(
          undefined,
          { file: basename(path), dataset: 'ads', platform: 'meta', client: ads.client, until: 'promoted' },
          contextOf({
            workspace_id: ads.workspace,
            started_by: ads.operator.userId,
            ...(signal && { signal }),
          }),
        ) as Promise<unknown>,
      ),
  },
  benchmark: {
    run: (path) => {
      const { home, workspace, client } = ads
      const world = { pool: db.pool('stagedoor_worker') as never, home, file: path, workspace, client }
      return errorOf(ingestExport(world, 'promoted'))
    },
  },
  HTTP: {
    async run(path) {
      const { body } = await uploads.send(text.get(path)!, 'operator', { until: 'submitted' })
      if (body.created) {
        await until('it is done', async () => {
          const { status, review_status, plan_refusal, approval_required, error } = await ads.find(
            body.upload.upload_id,
          )
          const submitted = !approval_required || review_status === 'pending' || plan_refusal !== null
          return (status === 'planned' && submitted) || error !== null || undefined
        })
      }
      return { error: body.code }
    },
    // The server goes away; reading is a job, which is not the request's.
    interrupt: () => uploads.api.app.close(),
  },
}

const text = new Map<string, string>()

function write(content: string): string {
  const path = join(ads.home, 'files', `week-${++files}.csv`)
  writeFileSync(path, content)
  text.set(path, content)
  return path
}

const newest = async (): Promise<Upload> => {
  const [row] = await db.owner<{ upload_id: string }>(
    'select upload_id from iu_core.ingest_upload order by upload_id desc limit 1',
  )
  return ads.find(row!.upload_id)
}
const promoteOverHttp = async ({ upload_id, plan_digest }: Upload): Promise<Attempt> => {
  const { body } = await uploads.call('POST', `/uploads/${upload_id}/promote`, 'operator', {
    digest: plan_digest,
  })
  return { error: body.code }
}
/** What the database emits of an upload, in order. */
const events = async ({ upload_id }: Upload) =>
  (
    await db.owner<{ event: string }>(
      `select replace(event_type, 'ingestion_', '') as event from iu_core.event_outbox
        where event_subject_ref = $1 and event_type like 'ingestion%' order by id`,
      [upload_id],
    )
  ).map(({ event }) => event)
const checks = async ({ upload_id }: Upload) =>
  (await db.owner('select from public.whole_file_checks where upload_id = $1', [upload_id])).length
const approval = (required: boolean) =>
  db.owner('update iu_core.ingest_dataset set approval_required = $1', [required])

beforeAll(async () => {
  mkdirSync(join(ads.home, 'files'))
  stagedoor = await createStagedoor({ databaseUrl: db.url(MIGRATOR), home: ads.home })
  // Counts the runs of the rules over the whole file, whichever process asks for them.
  await db.owner(`
    create table public.whole_file_checks (upload_id uuid not null);
    alter function iu_core.fn_ingest_check_across_lines(iu_core.ingest_upload, jsonb) rename to fn_ingest_check_set_counted;
    create function iu_core.fn_ingest_check_across_lines(p_upload iu_core.ingest_upload, p_definition jsonb) returns integer
    language plpgsql as $$
    begin
      insert into public.whole_file_checks values (p_upload.upload_id);
      return iu_core.fn_ingest_check_set_counted(p_upload, p_definition);
    end $$`)
})
afterAll(() => stagedoor.close())
beforeEach(() => approval(false))

// HTTP ends at `submitted`, and answers before there is anything to refuse.
describe.each(Object.keys(surfaces))('%s', (name) => {
  const surface = surfaces[name]!
  const isHttp = name === 'HTTP'
  const told = (error: string) => ({ error: isHttp ? undefined : error })

  it('takes a valid file to its end', async () => {
    expect(await surface.run(write(week(`Valid ${name}`)))).toEqual({ error: undefined })
    const upload = await newest()
    expect(upload).toMatchObject({ status: isHttp ? 'planned' : 'promoted', error: null, valid_count: 7 })
    expect(await events(upload)).toEqual(['staged', 'planned', ...(isHttp ? [] : ['complete'])])
    expect(await checks(upload)).toBe(0)
  })

  it('stops at a plan that is refused', async () => {
    const path = write(week(`Refused ${name}`, { spend: 'lots' }))
    expect(await surface.run(path)).toEqual(told('plan_refused'))
    const upload = await newest()
    expect(upload).toMatchObject({ status: 'planned', error: null, review_status: null })
    expect(upload.plan_refusal).toMatch(/lines is invalid/)
    expect(await events(upload)).toEqual(['staged', 'planned'])
    expect(await checks(upload)).toBe(0)
  })

  it('submits a plan that needs an approval', async () => {
    await approval(true)
    expect(await surface.run(write(week(`Approval ${name}`)))).toEqual(told('approval_missing'))
    const upload = await newest()
    expect(upload).toMatchObject({ status: 'planned', error: null, review_status: 'pending' })
    expect(await events(upload)).toEqual(['staged', 'planned', 'submitted'])
    expect(await checks(upload)).toBe(0)
  })

  it('keeps with the upload why its plan failed, and checks the lines that the plan would have checked', async () => {
    await db.owner(
      `create function public.fails() returns trigger language plpgsql as $$ begin raise exception 'no plan'; end $$;
       create trigger fails before insert on iu_core.ingest_plan execute function public.fails()`,
    )
    try {
      const twice = `${week(`Fails ${name}`)}Fails ${name},Retarget,Video,2026-11-01,1.00,1,1\n`
      expect(await surface.run(write(twice))).toEqual(told('internal'))
    } finally {
      await db.owner('drop function public.fails() cascade')
    }
    const upload = await newest()
    expect(upload).toMatchObject({ status: 'staged', error: { code: 'internal' }, invalid_count: 2 })
    expect(upload.control).not.toEqual([])
    expect(await events(upload)).toEqual(['staged'])
    expect(await checks(upload)).toBe(1)
  })

  it('keeps with the upload that its promotion failed, and promotes it afterwards', async () => {
    await db.owner(
      `create function public.closed() returns trigger language plpgsql as $$ begin raise exception 'the books are closed'; end $$;
       create trigger closed before insert on public.campaigns for each row execute function public.closed()`,
    )
    try {
      // HTTP promotes with a call of its own.
      expect(await surface.run(write(week(`Closed ${name}`)))).toEqual(told('table_refused'))
      if (isHttp) expect(await promoteOverHttp(await newest())).toEqual({ error: 'table_refused' })
    } finally {
      await db.owner('drop function public.closed() cascade')
    }
    const upload = await newest()
    const failure = {
      plan_digest: upload.plan_digest,
      failed_at: expect.any(String),
      tried_by: name === 'benchmark' ? expect.any(String) : ads.operator.userId,
      error: {
        code: 'table_refused',
        message: expect.stringMatching(/public.campaigns rejected line \d+: the books are closed/),
        hint: CATALOGUE.table_refused.hint,
      },
    }
    expect(upload).toMatchObject({
      status: 'planned',
      error: null,
      promotion_failure_count: 1,
      promotion_failures: [failure],
    })
    expect(await events(upload)).toEqual(['staged', 'planned'])
    await promoteOverHttp(upload)
    expect(await newest()).toMatchObject({ status: 'promoted', promotion_failures: [failure] })
  })

  it('recognises the same bytes', async () => {
    const path = write(week(`Same ${name}`))
    const first = await ads.run(path, { until: 'staged' })
    const continues = name === 'tool'
    const { error } = await surface.run(path)
    // The library gives the upload back; the tool continues it.
    expect(error).toBe(['CLI', 'benchmark'].includes(name) ? 'upload_already_exists' : undefined)
    const upload = await newest()
    expect(upload).toMatchObject({
      upload_id: first.upload_id,
      status: continues ? 'promoted' : 'staged',
      error: null,
    })
    expect(await events(upload)).toEqual(['staged', ...(continues ? ['planned', 'complete'] : [])])
    expect(await checks(upload)).toBe(1)
  })

  // The benchmark is never interrupted, and over HTTP reading goes on without its request: see below.
  const isInterrupted = name !== 'benchmark' && !isHttp
  if (isInterrupted)
    it('keeps nothing of a file when it is interrupted', async () => {
      const session = await db.session('postgres')
      const before = (await newest()).upload_id
      const abort = new AbortController()
      // The reader asks for what people said about headers first, and waits here.
      await session.query('begin; lock table iu_core.ingest_mapping in access exclusive mode')
      const running = surface.run(write(week(`Interrupted ${name}`)), abort.signal)
      await until('it is being read', async () => {
        const { upload_id, status } = await newest()
        return (upload_id !== before && status === 'reading') || undefined
      })
      const interrupted = surface.interrupt?.()
      if (!interrupted) abort.abort()
      // A signal takes its way to the other process, which says nothing of it; on a busy machine it needs its turn first.
      if (name === 'CLI') await new Promise((done) => setTimeout(done, 3000))
      await session.query('rollback')
      await session.end()
      expect(await running).toEqual(told('upload_interrupted'))
      await interrupted
      const upload = await newest()
      expect(upload).toMatchObject({ status: 'failed', error: { code: 'upload_interrupted' } })
      expect(await events(upload)).toEqual(['failed'])
      expect(
        await db.owner('select from public.staging_rows where upload_id = $1', [upload.upload_id]),
      ).toEqual([])
      expect(await checks(upload)).toBe(0)
    })
})

// Last: the server is gone then.
it('HTTP goes on with a file after its server has closed, because a job reads it', async () => {
  const session = await db.session('postgres')
  await session.query('begin; lock table iu_core.ingest_mapping in access exclusive mode')
  const path = write(week('Interrupted HTTP'))
  const { body } = await uploads.send(text.get(path)!, 'operator', { until: 'submitted' })
  const { upload_id } = body.upload
  await until('it is being read', async () => {
    const rows = await db.owner(
      'select from iu_core.job_queue where target_ref = $1 and leased_by is not null',
      [upload_id],
    )
    return rows.length === 1
  })
  await surfaces.HTTP!.interrupt!()
  expect(await ads.find(upload_id)).toMatchObject({ status: 'reading', error: null })
  await session.query('rollback')
  await session.end()
  const upload = await until('it is planned', async () => {
    const found = await ads.find(upload_id)
    return found.status === 'planned' && found
  })
  expect(upload).toMatchObject({ error: null, valid_count: 7 })
  expect(await events(upload)).toEqual(['staged', 'planned'])
  expect(await checks(upload)).toBe(0)
})
