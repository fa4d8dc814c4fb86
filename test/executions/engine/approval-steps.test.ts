/** A step `approval:` asks people and waits: what they decided and filled in is its result. */
import { beforeAll, describe, expect, it } from 'vitest'
import { approvalTool } from '../../../src/app/tools/approval.ts'
import { parsePlaybook, requirePlaybook } from '../../../src/executions/playbook/parse.ts'
import type { Json } from '../../../src/kernel/json.ts'
import { type Person, person } from '../../staging/people.ts'
import { createMember, createWorkspace } from '../../support/factories.ts'
import { until } from '../../support/until.ts'
import { handlersAsTools, useEngines } from './engines.ts'

const engines = useEngines()
let workspace: string
let reviewer: Person
beforeAll(async () => {
  await engines.db.owner(`update iu_core.dot_config set value = 'true' where key like 'iu_core.staging%'`)
  workspace = await createWorkspace(engines.db)
  const { role, userId } = await createMember(engines.db, workspace, 'reviewer')
  reviewer = await person(engines.db, role!, userId)
})

const REFUND = `
name: refund
args: { order: 0, timeout: 1h }
steps:
  - step: ask
    approval:
      title: "Refund of order \${args.order}"
      show: { order: "\${args.order}" }
      timeout: "\${args.timeout}"
      form:
        - { name: amount, type: number, required: true }
    next:
      - { when: result.status == "approved", step: pay }
      - stop
  - { step: pay, tool: handler, call: pay, args: { amount: "\${steps.ask.result.answers.amount}" } }
  - { step: stop, tool: handler, call: stop, args: { status: "\${steps.ask.result.status}" } }
output: "\${steps.ask.result}"
`

const paid: Json[] = []
const start = () =>
  engines.start(
    {},
    {
      tools: {
        ...handlersAsTools({ pay: ({ amount }) => paid.push(amount), stop: ({ status }) => status }),
        approval: approvalTool({ pool: engines.db.pool('stagedoor_worker') }),
      },
    },
  )
const run = async (args: object): Promise<string> => {
  const [row] = await engines.db.owner<{ id: string }>(
    'select noetl.fn_execution_start($1, $2, $3)::text as id',
    ['refund', JSON.stringify(args), workspace],
  )
  return row!.id
}
const asked = (execution: string) =>
  until('the request', async () => {
    const rows = await engines.db.owner<{ id: string; digest: string; change_id: string }>(
      `select a.staging_record_id as id, r.content_hash as digest, c.change_id
         from iu_core.approval a join iu_core.iu_staging_record r using (staging_record_id)
         join iu_core.change c on c.subject_id = a.staging_record_id
        where a.approval_key like $1 and exists (select from noetl.wait w where w.staging_record_id = a.staging_record_id)`,
      [`execution:${execution}:%`],
    )
    return rows[0]
  })
const approve = ({ id, digest }: { id: string; digest: string }, amount: number) =>
  reviewer.session.query('select iu_core.fn_approval_approve($1, $2, $3)', [
    id,
    digest,
    JSON.stringify({ amount }),
  ])

describe('a step that asks for an approval', () => {
  it('goes on with what was filled in, once, also after the death of its engine', async () => {
    const first = await start()
    await engines.register(requirePlaybook(REFUND))
    const id = await run({ order: 1871 })
    const request = await asked(id)
    await first.stop()
    await approve(request, 80)
    await start()
    const ended = await engines.ended(id)
    expect(ended).toMatchObject({ status: 'COMPLETED', error: null })
    expect(paid).toEqual([80])
    const log = await engines.log(id)
    const exit = log.find(({ event_type, node_name }) => event_type === 'step.exit' && node_name === 'ask')
    expect(exit!.result).toMatchObject({
      value: {
        status: 'approved',
        answers: { amount: 80 },
        decisions: [{ verdict: 'approve', by: reviewer.actor }],
        title: 'Refund of order 1871',
      },
    })
    // One request, entered once.
    expect(log.filter(({ event_type }) => event_type === 'step.enter')).toHaveLength(1)
    expect(
      await engines.db.owner('select from iu_core.approval where approval_key like $1', [
        `execution:${id}:%`,
      ]),
    ).toHaveLength(1)
    expect(await engines.differences()).toEqual([])
  })

  it('ends with the status for every decision that is no approval', async () => {
    await start()
    await engines.register(requirePlaybook(REFUND))
    const status = async (
      end: (request: { id: string; digest: string; change_id: string }) => Promise<unknown>,
      args: object,
    ) => {
      const id = await run(args)
      await end(await asked(id))
      await engines.ended(id)
      return (await engines.log(id)).find(
        ({ event_type, node_name }) => event_type === 'step.exit' && node_name === 'ask',
      )!.result as { value: { status: string; decisions: { comment: string | null }[] } }
    }
    const { session } = reviewer
    expect(
      await status(
        ({ id }) => session.query(`select iu_core.fn_iu_staging_reject($1, 'not covered')`, [id]),
        { order: 1 },
      ),
    ).toMatchObject({ value: { status: 'rejected', decisions: [{ comment: 'not covered' }] } })
    expect(
      await status(
        ({ change_id, digest }) =>
          session.query(`select iu_core.fn_change_review($1, 'request_changes', $2, 'Which guarantee?')`, [
            change_id,
            digest,
          ]),
        { order: 2 },
      ),
    ).toMatchObject({ value: { status: 'changes_requested', decisions: [{ comment: 'Which guarantee?' }] } })
    expect(await status(async () => {}, { order: 3, timeout: '1s' })).toMatchObject({
      value: { status: 'expired' },
    })
    expect(paid).toEqual([80])
    expect(await engines.differences()).toEqual([])
  })

  it('says what is wrong with it when the playbook is checked', () => {
    const problems = (step: string) =>
      parsePlaybook(`name: p\nsteps:\n  - step: ask\n${step}`).problems.map(({ message }) => message)
    expect(problems('    approval: { title: Refund, show: x }\n')).toEqual([])
    expect(problems('    approval: { show: x }\n').join()).toMatch(/title/)
    expect(problems('    approval: { title: t, show: x, reviewer: [a] }\n').join()).toMatch(/reviewer/)
    expect(problems('    approval: { title: t, show: x }\n    tool: sql\n').join()).toMatch(/has no tool/)
    expect(problems('    approval: { title: t, show: x }\n    loop: { in: [1] }\n').join()).toMatch(
      /has no loop/,
    )
    expect(problems('    approval: please\n').join()).toMatch(/approval is a map/)
  })

  it('is the same playbook when its stored form is read again', () => {
    const stored = requirePlaybook(REFUND)
    expect(requirePlaybook(JSON.stringify(stored))).toEqual(stored)
  })
})
