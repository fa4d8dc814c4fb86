/** How routes look on the terminal, and what to do next with one. */
import pc from 'picocolors'
import type { Route, RouteEvidence } from '../../../events/routes.ts'
import { age, cut, table, visibleLine } from '../../output.ts'
import { whenIs } from '../../times.ts'
import { paintStage, stageOf } from '../stages.ts'
import { screenWidth } from '../upload/layout.ts'
import type { NextStep } from '../upload/next-step.ts'

export function sourceOf({ source_schema, source_table, sql_event }: Route): string {
  const name = [source_schema === 'public' ? null : source_schema, source_table].filter(Boolean).join('.')
  return name === '' ? sql_event : `${sql_event} on ${name}`
}

export function eventOf({ target_event_domain, target_event_type }: Route): string {
  return `${target_event_domain}.${target_event_type}`
}

export function routeTable(routes: readonly Route[]): string {
  return table(
    [
      ['route', 'state', 'from', 'event', 'keeps', ''],
      ...routes.map((route) => [
        route.route_code,
        stageOf(route.state),
        sourceOf(route),
        eventOf(route),
        route.payload_contract.keep_refs?.join(', ') ?? '–',
        remarkOf(route),
      ]),
    ],
    (cell, column, row) => {
      if (row === 0) return pc.dim(cell)
      if (column === 1) return paintStage(cell)
      return column === 5 ? (cell.includes('fail') ? pc.red(cell) : pc.dim(cell)) : cell
    },
  )
}

function remarkOf(route: Route): string {
  if (route.failures !== '0') return `${route.failures} failures`
  if (route.state === 'dry_run') return `${counted(String(route.evidence), 'statement')} seen`
  return route.disabled_reason ?? ''
}

type Fact = readonly [string, string | null | false | undefined]

/** `workspace` is what people call it. */
export function routeLines(route: Route, workspace: string | undefined, ...more: readonly Fact[]): string[] {
  const { keep_refs, subject, forbid_keys, only_changed } = route.payload_contract
  const facts: Fact[] = [
    ['from', sourceOf(route)],
    ['event', [eventOf(route), route.target_event_stream].filter(Boolean).join(', stream ')],
    ['carries', keep_refs?.join(', ') ?? 'nothing but the address of the row'],
    ['named by', subject?.join(', ')],
    ['never', forbid_keys?.join(', ')],
    ['only', only_changed && 'rows in which something that is kept has changed'],
    ['once for', route.idempotency_policy.key],
    [
      'whose',
      route.workspace_column
        ? `as ${route.workspace_column} says`
        : (workspace ?? route.workspace_id ?? 'nobody’s'),
    ],
    [
      'if it fails',
      route.fail_closed ? 'the change is rolled back' : 'the change goes on, and the failure is counted',
    ],
  ]
  return table(
    [...facts, ...more].flatMap(([name, value]) => (value ? [[`    ${name}`, value]] : [])),
    (cell, column) => (column === 0 ? pc.dim(cell) : cell),
  ).split('\n')
}

export function historyOf(route: Route): Fact[] {
  const facts: Fact[] = [
    ['registered', `${whenIs(route.registered_at)} by ${route.registered_by}, revision ${route.revision}`],
    ['attached to', `${route.attached} ${route.attached === 1 ? 'table' : 'tables'}`],
  ]
  if (route.state === 'dry_run' || route.evidence > 0)
    facts.push(['evidence', counted(String(route.evidence), 'statement')])
  if (route.reviewed_at) {
    facts.push([
      'reviewed',
      `${whenIs(route.reviewed_at)} by ${route.reviewed_by}, who saw ${counted(String(route.evidence_seen), 'statement')}`,
    ])
  }
  if (route.activated_at) facts.push(['activated', `${whenIs(route.activated_at)} by ${route.activated_by}`])
  if (route.disabled_reason) facts.push(['disabled', route.disabled_reason])
  if (route.last_failure) {
    facts.push([
      'failed',
      `${route.failures} times, last ${whenIs(route.last_failed_at!)}: ${route.last_failure}`,
    ])
  }
  return facts
}

export function evidenceLines(route: Route, evidence: readonly RouteEvidence[]): string[] {
  const width = screenWidth() - 6
  return evidence.flatMap((statement) => [
    `  ${age(statement.recorded_at)} ago  ${counted(statement.events, 'event')} from ${statement.relation}, by ${visibleLine(statement.actor)}${
      statement.refused === '0' ? '' : pc.red(`, ${statement.refused} of them could not have been sent`)
    }`,
    ...statement.sample.map((event) =>
      pc.dim(
        `      ${cut(visibleLine([eventOf(route), event.event_subject_ref, JSON.stringify(event.safe_payload)].filter(Boolean).join('  ')), width)}`,
      ),
    ),
  ])
}

function counted(number: string, what: string): string {
  return `${number} ${what}${number === '1' ? '' : 's'}`
}

/** Several that were registered together go on together. */
export function nextSteps(routes: readonly Route[], external = false): NextStep[] {
  const codes = routes.map(({ route_code }) => route_code).join(' ')
  const [first] = routes
  if (!first) return []
  switch (first.state) {
    case 'disabled':
      return [
        {
          what: 'Let it run dry: it notes what it would have sent',
          command: `stagedoor route dry-run ${codes}`,
        },
      ]
    case 'dry_run':
      return [
        {
          what: 'Change a row or two, then look at what it would have sent',
          command: `stagedoor route evidence ${first.route_code}`,
        },
      ]
    case 'reviewed':
      return [
        {
          what: 'Let it send',
          command: external
            ? `POST /api/event-routes/${first.route_code}/activate with the reviewer’s token`
            : `stagedoor route activate ${codes} --as reviewer`,
        },
      ]
    default:
      return [
        {
          what: 'Make jobs of its events',
          command: `stagedoor consumer add my_consumer --on ${eventOf(first)} --kind my_kind`,
        },
        { what: 'See them', command: 'stagedoor events list' },
      ]
  }
}

export function reviewStep(route: Route, seen: number, external: boolean): NextStep {
  return {
    what: 'A colleague who has looked at it reviews it',
    command: external
      ? `POST /api/event-routes/${route.route_code}/review with their token and {"evidence": ${seen}, "revision": ${route.revision}}`
      : `stagedoor route review ${route.route_code} --seen ${seen} --revision ${route.revision} --as reviewer`,
  }
}
