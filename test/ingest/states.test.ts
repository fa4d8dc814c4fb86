/** Random steps by random people against a small model: legal ones succeed, illegal ones raise and change nothing. */
// @module-tag property
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Caller } from '../../src/kernel/postgres/transaction.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace } from '../support/factories.ts'
import { sha256, useTrial } from '../support/ingest-rows.ts'
import { cases } from '../support/length.ts'
import { sqlstateOf } from '../support/sqlstate.ts'

const RUNS = cases(8, 60)
const db = useDatabase()
const trial = useTrial(db, { approval: true })

const WHO = ['operator', 'reviewer', 'second reviewer', 'viewer', 'agent', 'stranger', 'service'] as const
type Who = (typeof WHO)[number]
const STEPS = [
  'plan',
  'submit',
  'approve',
  'reject',
  'repair',
  'promote',
  'undo',
  'discard',
  'expire',
  'upload again',
] as const
type Step = (typeof STEPS)[number]

/** What the upload is, as its people see it. */
interface Model {
  status: 'staged' | 'planned' | 'promoted' | 'undone' | 'discarded'
  review: 'none' | 'pending' | 'approved' | 'rejected'
  /** Whoever handed the plan in owns the review. */
  owner: Who | undefined
  changed: Set<Who>
}

/** Which of them may take the step at all, by their role. */
const MAY: Record<Step, readonly Who[]> = {
  plan: ['operator', 'reviewer', 'second reviewer', 'service'],
  submit: ['operator', 'reviewer', 'second reviewer', 'service'],
  approve: ['reviewer', 'second reviewer'],
  reject: ['reviewer', 'second reviewer', 'service'],
  repair: ['service'],
  promote: ['operator', 'reviewer', 'second reviewer', 'service'],
  undo: ['reviewer', 'second reviewer', 'service'],
  discard: ['operator', 'reviewer', 'second reviewer', 'service'],
  expire: ['service'],
  'upload again': ['operator', 'reviewer', 'second reviewer', 'agent', 'service'],
}

function legal(model: Model, step: Step, who: Who): boolean {
  if (!MAY[step].includes(who)) return false
  const { status, review } = model
  const open = status === 'staged' || status === 'planned'
  if (step === 'plan' || step === 'repair' || step === 'discard') return open
  if (step === 'submit') return status === 'planned'
  if (step === 'approve')
    return status === 'planned' && review === 'pending' && who !== model.owner && !model.changed.has(who)
  if (step === 'reject') return status === 'planned' && review === 'pending'
  if (step === 'promote') return status === 'planned' && review === 'approved'
  if (step === 'undo') return status === 'promoted'
  return true
}

/** What a legal step makes of it. */
function after(model: Model, step: Step, who: Who): Model {
  const fresh = { review: 'none', owner: undefined } as const
  if (step === 'plan') return { ...model, ...fresh, status: 'planned' }
  if (step === 'repair')
    return { ...model, ...fresh, status: 'staged', changed: new Set([...model.changed, 'reviewer']) }
  if (step === 'submit' && (model.review === 'none' || model.review === 'rejected'))
    return { ...model, review: 'pending', owner: who === 'service' ? 'operator' : who }
  if (step === 'approve') return { ...model, review: 'approved' }
  if (step === 'reject') return { ...model, review: 'rejected' }
  if (step === 'promote') return { ...model, status: 'promoted' }
  if (step === 'undo') return { ...model, status: 'undone' }
  if (step === 'discard') return { ...model, ...fresh, status: 'discarded' }
  return model
}

/** Steps after which nothing at all may have changed, though they succeed. */
const changesNothing = (model: Model, step: Step) =>
  step === 'expire' ||
  (step === 'upload again' && !['undone', 'discarded'].includes(model.status)) ||
  (step === 'submit' && ['pending', 'approved'].includes(model.review))

it(`keeps to its states for ${RUNS} random stories`, async () => {
  const elsewhere = await createWorkspace(db, 'Elsewhere')
  const people: Record<Who, Caller & { userId?: string }> = {
    operator: trial.operator,
    reviewer: trial.reviewer,
    'second reviewer': await createMember(db, trial.workspace, 'reviewer'),
    viewer: await createMember(db, trial.workspace, 'viewer'),
    agent: trial.agent,
    stranger: await createMember(db, elsewhere, 'admin'),
    service: { role: 'service_role' },
  }
  const seen = { stories: 0, legal: 0, illegal: 0 }
  const reached = new Set<string>()
  let stories = 0

  async function take(step: Step, who: Who, upload: string, hash: string): Promise<string> {
    const [plan] = await db.owner<{ digest: string }>(
      'select digest from iu_core.ingest_plan where upload_id = $1',
      [upload],
    )
    const digest = plan?.digest ?? null
    const calls: Record<Step, [string, unknown[]]> = {
      plan: ['select iu_core.fn_ingest_plan($1)', [upload]],
      submit: ['select iu_core.fn_ingest_submit($1, $2)', [upload, digest]],
      approve: [`select iu_core.fn_ingest_approve($1, $2, '{changes}')`, [upload, digest]],
      reject: [`select iu_core.fn_ingest_reject($1, 'no')`, [upload]],
      repair: [
        `select iu_core.fn_ingest_repair($1, coalesce((select jsonb_agg(to_jsonb(s)) from public.staging_rows s
           where upload_id = $1 and row_type = 'figure'), '[]'), $2)`,
        [upload, trial.reviewer.userId],
      ],
      promote: ['select iu_core.fn_ingest_promote($1, $2)', [upload, digest]],
      undo: ['select iu_core.fn_ingest_undo($1)', [upload]],
      discard: ['select iu_core.fn_ingest_discard($1)', [upload]],
      expire: ['select iu_core.fn_ingest_expire()', []],
      'upload again': [
        `select iu_core.fn_ingest_begin($1, 'trial', 'file', 'x.csv', $2, 1, $3)`,
        [trial.workspace, hash, trial.client],
      ],
    }
    const [sql, values] = calls[step]
    return sqlstateOf(
      who === 'service'
        ? trial.service(sql, values)
        : db.as(people[who], (client) => client.query(sql, values)),
    )
  }

  // Each story begins some way along the good path: chance alone seldom leads to its end.
  const GOOD: [Step, Who][] = [
    ['plan', 'operator'],
    ['submit', 'operator'],
    ['approve', 'reviewer'],
    ['promote', 'operator'],
    ['undo', 'second reviewer'],
  ]
  const steps = fc
    .tuple(
      fc.integer({ min: 0, max: GOOD.length }),
      fc.array(fc.tuple(fc.constantFrom(...STEPS), fc.constantFrom(...WHO)), { minLength: 3, maxLength: 10 }),
    )
    .map(([begun, rest]) => [...GOOD.slice(0, begun), ...rest])
  await fc.assert(
    fc.asyncProperty(steps, async (story) => {
      const hash = sha256(`story ${++stories}`)
      const upload = await trial.stage([{ group_code: `story-${stories}`, day: '2026-11-01', amount: 1 }], {
        hash,
      })
      // The back end staged it in the operator's name, and is one of those who put something into it.
      let model: Model = {
        status: 'staged',
        review: 'none',
        owner: undefined,
        changed: new Set(['operator', 'service']),
      }
      seen.stories++
      for (const [step, who] of story) {
        const expected = legal(model, step, who)
        const before = !expected || changesNothing(model, step) ? await trial.image() : undefined
        const outcome = await take(step, who, upload, hash)
        expect([step, who, model, outcome === 'not refused' ? 'done' : 'refused', outcome]).toEqual([
          step,
          who,
          model,
          expected ? 'done' : 'refused',
          outcome,
        ])
        if (before) expect([step, who, await trial.image()]).toEqual([step, who, before])
        if (expected) model = after(model, step, who)
        seen[expected ? 'legal' : 'illegal']++
        reached.add(model.status)
        const [found] = await db.owner<{ status: string }>(
          'select status from iu_core.ingest_upload where upload_id = $1',
          [upload],
        )
        expect([step, who, found!.status]).toEqual([step, who, model.status])
        // It was begun once more, which is another upload's story.
        if (step === 'upload again' && expected && !changesNothing(model, step)) break
      }
      await db.owner(`update iu_core.ingest_upload set reader_seen_at = 'epoch' where status = 'reading'`)
      await trial.service('select iu_core.fn_ingest_fail_stalled()')
      // Images are compared after every refusal; stories that are over need not be in them.
      await db.owner('truncate trial_groups, trial_items, trial_figures')
      await db.owner('delete from public.staging_rows')
    }),
    { numRuns: RUNS },
  )
  console.log(`states: ${JSON.stringify(seen)}, reached ${[...reached].sort().join(', ')}`)
  if (RUNS >= 60)
    expect([...reached].sort()).toEqual(['discarded', 'planned', 'promoted', 'staged', 'undone'])
})
