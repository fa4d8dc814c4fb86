/** An event starts a playbook through a consumer, once, and the trace goes on into the execution. */
import { beforeAll, expect, it } from 'vitest'
import { readTrace } from '../../src/app/trace.ts'
import { emitEvents } from '../../src/events/outbox.ts'
import { builtInHandlers, startPlaybook } from '../../src/jobs/built-in-kinds.ts'
import type { JobContext } from '../../src/jobs/handlers.ts'
import { enqueue, type Job } from '../../src/jobs/queue.ts'
import { createJobTester } from '../../src/jobs/testing.ts'
import { playbook, useEngines } from '../executions/engine/engines.ts'
import { createWorkspace } from '../support/factories.ts'

const engines = useEngines()
const { db } = engines
const worker = () => db.pool('stagedoor_worker')
// Not the other built-in ones: their schedules may be due in the minute in which this runs.
const { playbook_start } = builtInHandlers({ webhooks: { hosts: [] } })
const tester = () => createJobTester({ pool: worker(), handlers: { playbook_start: playbook_start! } })
let workspace: string

beforeAll(async () => {
  workspace = await createWorkspace(db)
  await engines.register(
    playbook('after_apply', [{ step: 'look' }], { args: { event_id: null, payload: {}, times: 1 } }),
  )
})

async function startedBy(job: string): Promise<string> {
  const rows = await db.owner<{ id: string }>(
    `select result ->> 'execution_id' as id from iu_core.job_history where job_id = $1`,
    [job],
  )
  return rows[0]!.id
}

async function event(): Promise<string> {
  const [id] = await emitEvents(worker(), [
    {
      event_domain: 'dot',
      event_type: 'run.applied',
      event_subject_ref: 'run:7',
      workspace_id: workspace,
      payload: { rows: 3 },
    },
  ])
  return id!
}

const job = (causation_event_id: string, more: object = {}) =>
  enqueue(worker(), {
    job_kind: 'playbook_start',
    payload_ref: 'playbook:after_apply',
    workspace_id: workspace,
    causation_event_id,
    ...more,
  })

it('with what its args name of the event, in the workspace of the job, following from the event', async () => {
  const cause = await event()
  const id = await job(cause)
  const [ran] = await tester().runUntilIdle()
  expect(ran).toMatchObject({ job_id: id, outcome: 'completed' })
  const execution_id = await startedBy(ran!.job_id)
  const given: unknown[] = []
  await engines.start({ look: () => void given.push('ran') })
  await engines.ended(execution_id)
  const [begun] = await engines.log(execution_id)
  expect(begun).toMatchObject({
    context: { args: { event_id: cause, payload: { rows: 3 } } },
    meta: { cause, workspace_id: workspace },
  })
  expect(given).toEqual(['ran'])
  for (const asked of [cause, id, execution_id]) {
    const trace = await readTrace(worker(), asked)
    expect(trace.executions).toMatchObject([{ execution_id, status: 'COMPLETED', cause }])
    expect(trace.events.map(({ event_type }) => event_type)).toEqual(['run.applied', 'execution.completed'])
    expect(trace.jobs.map(({ job_id }) => job_id)).toContain(id)
  }
})

it('once for each job: what did not complete was not started either', async () => {
  const id = await job(await event())
  let runs = 0
  const failsOnce = (one: Job, context: JobContext) => {
    const complete: JobContext['complete'] = (client, result) =>
      ++runs === 1 ? Promise.reject(new Error('gone')) : context.complete(client, result)
    return startPlaybook(one, { ...context, transaction: context.transaction, complete })
  }
  const ran = await createJobTester({
    pool: worker(),
    handlers: { playbook_start: failsOnce },
  }).runUntilEmpty()
  expect(ran.map(({ outcome }) => outcome)).toEqual(['failed', 'completed'])
  const started = await db.owner(
    `select execution_id::text from noetl.execution_key where idempotency_key = $1
     union all select execution_id::text from noetl.inbox where kind = 'start' and execution_id = $2`,
    [`job:${id}`, await startedBy(id)],
  )
  expect(started).toEqual([{ execution_id: await startedBy(id) }, { execution_id: await startedBy(id) }])
})

it('with arguments of a schedule or a program', async () => {
  await enqueue(worker(), {
    job_kind: 'playbook_start',
    payload: { playbook: 'after_apply', args: { times: 4 } },
  })
  const [ran] = await tester().runUntilIdle()
  const execution_id = await startedBy(ran!.job_id)
  await engines.start({ look: () => null })
  await engines.ended(execution_id)
  expect((await engines.log(execution_id))[0]).toMatchObject({ context: { args: { times: 4 } } })
})

it('and where no playbook is named the job is a dead letter at once', async () => {
  const id = await enqueue(worker(), { job_kind: 'playbook_start' })
  expect(await tester().runUntilIdle()).toMatchObject([
    { job_id: id, outcome: 'failed', error: expect.stringContaining('names no playbook') },
  ])
})
