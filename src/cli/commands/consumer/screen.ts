/** How consumers look on the terminal, and what to do next with one. */
import pc from 'picocolors'
import type { Consumer, Dispatch, Evidence } from '../../../events/consumers.ts'
import { age, table, visibleLine } from '../../output.ts'
import { whenIs } from '../../times.ts'
import { runStep } from '../job/screen.ts'
import { paintStage, stageOf } from '../stages.ts'
import { screenWidth, shortened } from '../upload/layout.ts'
import type { NextStep } from '../upload/next-step.ts'

export function eventOf({ event_domain, event_type, event_stream }: Consumer): string {
  return [`${event_domain}.${event_type}`, event_stream].filter(Boolean).join(' ')
}

export function consumerTable(consumers: readonly Consumer[]): string {
  const rows = consumers.map((one) => [
    one.consumer_id,
    stageOf(one.state),
    eventOf(one),
    `→ ${one.job_kind}${one.executor === 'PG_worker' ? '' : ` (${one.executor})`}`,
    one.notes ?? '',
  ])
  const taken = [0, 1, 2, 3].reduce(
    (sum, column) => sum + 2 + Math.max(...rows.map((row) => row[column]!.length)),
    0,
  )
  const room = screenWidth() - taken
  return table(
    [
      ['consumer', 'state', 'event', 'job', ''],
      ...rows.map((row) =>
        row.map((cell, column) => (column < 4 ? cell : room < 15 ? '' : shortened(cell, room))),
      ),
    ],
    (cell, column, row) =>
      row === 0 || column === 4 ? pc.dim(cell) : column === 1 ? paintStage(cell) : cell,
  )
}

type Fact = readonly [string, string | null | false]

export function consumerLines(one: Consumer, ...more: readonly Fact[]): string[] {
  const facts: Fact[] = [
    ['event', eventOf(one)],
    [
      'job',
      `${one.job_kind}, run by ${one.executor}${one.priority === 0 ? '' : `, priority ${one.priority}`}`,
    ],
    ['one for each', one.idempotency_key_template],
    ['about', one.payload_ref_template],
    ['workspace', one.workspace_id ?? 'all'],
    ['depth', `at most ${one.max_depth}`],
    ['rate', one.rate !== null && `${one.rate} in ${one.rate_period}`],
    ['if it fails', one.fail_closed ? 'a dead letter and an issue' : 'it is logged, and that is all'],
    ['notes', one.notes],
    ...more,
  ]
  return table(
    facts.flatMap(([name, value]) => (value ? [[`    ${name}`, value]] : [])),
    (cell, column) => (column === 0 ? pc.dim(cell) : cell),
  ).split('\n')
}

export function historyOf(one: Consumer): Fact[] {
  return [
    ['registered', `${whenIs(one.registered_at)} by ${one.registered_by}`],
    ['reviewed', one.reviewed_at && `${whenIs(one.reviewed_at)} by ${one.reviewed_by}`],
    ['switched on', one.activated_at && whenIs(one.activated_at)],
  ]
}

export function evidenceLines(evidence: readonly Evidence[]): string[] {
  return evidence.map(({ event_id, idempotency_key, payload_ref, problem, dispatched_at }) =>
    problem === null
      ? `  ${age(dispatched_at)} ago  ${visibleLine(idempotency_key ?? '')}${payload_ref ? pc.dim(visibleLine(`  about ${payload_ref}`)) : ''}`
      : `  ${age(dispatched_at)} ago  ${pc.red(visibleLine(problem))} ${pc.dim(event_id)}`,
  )
}

export function undeliveredLines(dispatches: readonly Dispatch[]): string[] {
  return dispatches.map(({ event_id, outcome, detail, dispatched_at }) => {
    const problem = detail?.problem === outcome ? undefined : detail?.problem
    return `  ${age(dispatched_at)} ago  ${pc.red(outcome.replace('_', ' '))}  ${pc.dim(event_id)}${typeof problem === 'string' ? `  ${visibleLine(problem)}` : ''}`
  })
}

export function nextSteps(one: Consumer): NextStep[] {
  switch (one.state) {
    case 'disabled':
      return [
        one.reviewed_by === null
          ? {
              what: 'Let it run dry: it notes the jobs that it would have made',
              command: `stagedoor consumer dry-run ${one.consumer_id}`,
            }
          : { what: 'Switch it on again', command: `stagedoor consumer activate ${one.consumer_id}` },
      ]
    case 'dry_run':
      return [
        {
          what: 'When there were events, look at the jobs that it would have made',
          command: `stagedoor consumer evidence ${one.consumer_id}`,
        },
      ]
    case 'reviewed':
      return [{ what: 'Let it make jobs', command: `stagedoor consumer activate ${one.consumer_id}` }]
    case 'active':
      return [
        ...runStep(one.job_kind, one.executor),
        {
          what: 'Take events of the past, too',
          command: `stagedoor consumer backfill ${one.consumer_id} --from 1d`,
        },
      ]
  }
}

export function reviewStep(one: Consumer, seen: number, external: boolean): NextStep {
  return {
    what: 'A colleague who has looked at it reviews it',
    command: external
      ? `POST /api/consumers/${one.consumer_id}/review with their token and {"evidence": ${seen}}`
      : `stagedoor consumer review ${one.consumer_id} --seen ${seen} --as reviewer`,
  }
}
