/** What the handler of a remote worker may enqueue through its gateway. */
import { expect, it } from 'vitest'
import { builtInKinds } from '../../src/jobs/built-in-kinds.ts'
import { findJob } from '../../src/jobs/queue.ts'
import { enqueueForCall } from '../../src/jobs/remote.ts'
import type { JsonObject } from '../../src/kernel/json.ts'
import type { RemoteCall } from '../../src/runtime/remote/calls.ts'
import { useDatabase } from '../support/database.ts'
import { createWorkspace } from '../support/factories.ts'

const db = useDatabase()
const FROM = '00000000-0000-7000-8000-000000000001'
const OTHER = '00000000-0000-7000-8000-000000000002'

const callOf = (workspace: string | null): RemoteCall => ({
  call: 'job:1',
  what: 'job',
  name: 'origin',
  body: {
    jobs: [{ job_id: FROM, correlation_id: null, causation_event_id: null, workspace_id: workspace }],
  },
})

function enqueue(job: JsonObject, call: RemoteCall, from = FROM): Promise<string> {
  return enqueueForCall(db.pool('stagedoor_worker'), call, from, job, new Set(builtInKinds()))
}

it('a follow-up has the workspace and the trace of its job, and keeps what the handler says of it', async () => {
  const workspace = await createWorkspace(db)
  const id = await enqueue(
    { job_kind: 'next', priority: 3, payload: { n: 1 }, source_ref: 's', unknown: true },
    callOf(workspace),
  )
  expect(await findJob(db.pool('stagedoor_worker'), id)).toMatchObject({
    ...{ job_kind: 'next', priority: 3, payload: { n: 1 }, source_ref: 's' },
    ...{ workspace_id: workspace, correlation_id: FROM },
  })
})

it.each([
  [{ job_kind: 'next', workspace_id: OTHER }, 'its workspace_id is that of the job'],
  [{ job_kind: 'next', correlation_id: OTHER }, 'its correlation_id is that of the job'],
  [{ job_kind: 'next', causation_event_id: OTHER }, 'its causation_event_id is that of the job'],
  [{ job_kind: 'webhook_deliver' }, 'a kind of Stagedoor itself'],
  [{ job_kind: 'playbook_start' }, 'a kind of Stagedoor itself'],
  [{ job_kind: 7 }, 'it has no kind'],
])('refuses %j: %s', async (job, reason) => {
  await expect(enqueue(job, callOf(null))).rejects.toMatchObject({
    code: 'job_invalid',
    message: expect.stringContaining(reason),
  })
})

it('refuses what is not of the call, and calls of steps', async () => {
  await expect(enqueue({ job_kind: 'next' }, callOf(null), OTHER)).rejects.toThrow('is not of this call')
  const step: RemoteCall = { call: 'c@1', what: 'item', name: 'each', body: { args: {}, context: {} } }
  await expect(enqueue({ job_kind: 'next' }, step)).rejects.toThrow('a step of a playbook enqueues no jobs')
})
