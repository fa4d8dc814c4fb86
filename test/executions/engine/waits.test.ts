import { describe, expect, it } from 'vitest'
import { person } from '../../staging/people.ts'
import { stage } from '../../staging/staged.ts'
import { createMember, createWorkspace } from '../../support/factories.ts'
import { until } from '../../support/until.ts'
import { playbook, useEngines } from './engines.ts'

const engines = useEngines()
const template = (expression: string) => `\${${expression}}`
const WAITED = template('steps.pause.result')
const SUBJECT = template('args.subject')
const RECORD = template('args.record')

describe('a step that waits', () => {
  it('for a time goes on when it has passed, and its process holds nothing meanwhile', async () => {
    const engine = await engines.start({ before: () => 1, after: () => 2 })
    await engines.register(
      playbook('timed', [
        { step: 'before', next: 'pause' },
        { step: 'pause', wait: { kind: 'timer', for_ms: 7000 }, next: 'after' },
        { step: 'after' },
      ]),
    )
    const id = await engines.run('timed')

    // After two seconds without an event; the timer leaves a busy machine five more to be seen there.
    await until('it was put away', async () => {
      const rows = await engines.db.owner(
        'select from noetl.checkpoint where execution_id = $1 and state is not null',
        [id],
      )
      return rows.length > 0 && engine.health().detail.includes(' 0 executions in memory')
    })
    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
    const log = await engines.log(id)
    const [enter, exit] = ['step.enter', 'step.exit'].map(
      (type) => log.find(({ event_type }) => event_type === type) as unknown as { created_at: Date },
    )
    expect(exit!.created_at.getTime() - enter!.created_at.getTime()).toBeGreaterThan(6500)
  })

  it('for an event takes the one it asked for, with its payload', async () => {
    await engines.start({})
    await engines.register(
      playbook(
        'evented',
        [{ step: 'pause', wait: { kind: 'event', domain: 'dot', type: 'run.applied', subject: SUBJECT } }],
        { args: { subject: '' }, output: WAITED },
      ),
    )
    const id = await engines.run('evented', { subject: 'mine' })
    await until('it waits', async () => {
      const rows = await engines.db.owner('select from noetl.wait where execution_id = $1', [id])
      return rows.length > 0
    })
    const emit = (subject: string) =>
      engines.db
        .pool('stagedoor_worker')
        .query('select iu_core.fn_event_emit($1, $2, p_event_subject_ref => $3)', [
          'dot',
          'run.applied',
          subject,
        ])
    await emit('other')
    await emit('mine')

    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
    expect((await engines.log(id)).at(-1)!.result).toMatchObject({
      value: { status: 'received', subject: 'mine' },
    })
  })

  it('for an event receives what came while an earlier step ran, and each event once', async () => {
    const emit = (n: number) =>
      engines.db
        .pool('stagedoor_worker')
        .query(
          "select iu_core.fn_event_emit('dot', 'run.applied', p_event_subject_ref => 'answer', p_safe_payload => $1)",
          [{ run_id: String(n) }],
        )
    await emit(0)
    await engines.start({ ask: () => emit(1).then(() => null), again: () => emit(2).then(() => null) })
    const wait = { kind: 'event', domain: 'dot', type: 'run.applied', subject: 'answer' } as const
    await engines.register(
      playbook(
        'answered',
        [
          { step: 'ask', next: 'first' },
          { step: 'first', wait, next: 'again' },
          { step: 'again', next: 'second' },
          { step: 'second', wait: { ...wait, since: 'again' } },
        ],
        { output: ['${steps.first.result.payload}', '${steps.second.result.payload}'] },
      ),
    )
    const id = await engines.run('answered')
    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
    expect((await engines.log(id)).at(-1)!.result).toMatchObject({
      value: [{ run_id: '1' }, { run_id: '2' }],
    })
  })

  it('for an event times out', async () => {
    await engines.start({})
    await engines.register(
      playbook(
        'impatient',
        [{ step: 'pause', wait: { kind: 'event', domain: 'dot', type: 'run.applied', timeout_ms: 100 } }],
        { output: WAITED },
      ),
    )
    const id = await engines.run('impatient')

    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
    expect((await engines.log(id)).at(-1)!.result).toMatchObject({ value: { status: 'timed_out' } })
  })
})

describe('a step that waits for a decision', () => {
  it('goes on when a person has approved the record, with what was decided', async () => {
    const { db } = engines
    await db.owner(`update iu_core.dot_config set value = 'true' where key like 'iu_core.staging%'`)
    const workspace = await createWorkspace(db)
    const [operator, decider] = [
      await createMember(db, workspace, 'operator'),
      await createMember(db, workspace, 'reviewer'),
    ]
    const author = await person(db, operator.role!, operator.userId)
    const reviewer = await person(db, decider.role!, decider.userId)
    const record = await stage(author.session, { workspace })
    await engines.start({})
    await engines.register(
      playbook('approved', [{ step: 'pause', wait: { kind: 'approval', record: RECORD } }], {
        args: { record: '' },
        output: WAITED,
      }),
    )
    const id = await engines.run('approved', { record: record.staging_record_id })
    await until('it waits', async () => {
      const rows = await db.owner('select from noetl.wait where execution_id = $1', [id])
      return rows.length > 0
    })
    await reviewer.session.query('select iu_core.fn_iu_staging_approve($1, $2)', [
      record.staging_record_id,
      record.content_hash,
    ])

    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
    expect((await engines.log(id)).at(-1)!.result).toMatchObject({ value: { status: 'approved' } })
  })
})
