/** `stagedoor route`: what happens to tables becomes events, after a dry run and the review of a second person. */
import pc from 'picocolors'
import { listWorkspaces } from '../access/members.ts'
import {
  activateRoute,
  deleteRoute,
  disableRoute,
  dryRunRoute,
  listRoutes,
  type Route,
  registerRoute,
  requireRoute,
  reviewRoute,
  routeEvidence,
  type SqlEvent,
  sourceExists,
  tableColumns,
} from '../events/routes.ts'
import { omitUndefined } from '../kernel/omit-undefined.ts'
import type { Client } from '../kernel/postgres/connection.ts'
import { API_PREFIX } from '../kernel/version.ts'
import { argumentInvalid, integerBetween, integerFrom, parseEventName, parseList } from './arguments.ts'
import { command, commandGroup } from './command.ts'
import { formatAge, formatRelativeTime, joinWords, plural } from './format.ts'
import { type Session, workspaceOf } from './session.ts'
import { type Column, type Fact, formatFacts, type NextStep, paintStage, stageLabel } from './terminal.ts'
import { printableLine, screenWidth, truncateLine } from './text.ts'

export const routeCommand = () =>
  commandGroup(
    'route',
    'routes: what happens to your tables becomes events',
    [
      registerCommand(),
      listCommand(),
      showCommand(),
      dryRunCommand(),
      evidenceCommand(),
      reviewCommand(),
      activateCommand(),
      disableCommand(),
      deleteCommand(),
    ],
    `
  $ stagedoor route register orders --on insert,update --columns id,status
  $ stagedoor route dry-run orders.insert orders.update
  $ stagedoor route evidence orders.insert
  $ stagedoor route review orders.insert --evidence 3 --as reviewer
  $ stagedoor route activate orders.insert --as reviewer

The database enforces the order: disabled, dry run, review by a second person, active. After a change of what a route
matches or sends it starts again with a dry run.`,
  )

const EVENTS: readonly SqlEvent[] = ['insert', 'update', 'delete', 'truncate', 'call', 'ddl']

const routeVerb = (name: string, description: string) =>
  command(name, description).argument('<route>', 'as `stagedoor route list` shows it')
const routesVerb = (name: string, description: string) =>
  command(name, description).argument('<route...>', 'as `stagedoor route list` shows them')

async function requireRoutes(client: Client, codes: readonly string[]): Promise<Route[]> {
  const routes: Route[] = []
  for (const code of codes) routes.push(await requireRoute(client, code))
  return routes
}

/** What people call its workspace. */
async function workspaceName(client: Client, { workspace_id }: Route): Promise<string | null> {
  if (workspace_id === null) return null
  return (await listWorkspaces(client)).find(({ id }) => id === workspace_id)?.name ?? workspace_id
}

const listCommand = () =>
  command('list', 'all routes and the status of each')
    .actor()
    .run(async ({ output, transaction }) => {
      const example = pc.cyan('  stagedoor route register orders --on insert,update --columns id,status')
      const none = `No route yet. One makes events of what happens to a table of yours:\n${example}`
      output.list(await transaction(listRoutes), COLUMNS, none)
    })

const COLUMNS: Column<Route>[] = [
  { title: 'route', value: (route) => route.route_code },
  { title: 'status', value: (route) => stageLabel(route.state), paint: paintStage },
  { title: 'from', value: sourceOf },
  { title: 'event', value: eventOf },
  { title: 'columns', value: (route) => route.payload_contract.keep_refs?.join(', ') ?? '–' },
  {
    value: ({ failures, state, evidence, disabled_reason }) =>
      failures !== '0'
        ? `${failures} failures`
        : state === 'dry_run'
          ? `${plural(evidence, 'statement')} recorded`
          : disabled_reason,
    paint: (cell, { failures }) => (failures === '0' ? pc.dim(cell) : pc.red(cell)),
  },
]

function sourceOf({ source_schema, source_table, sql_event }: Route): string {
  const name = joinWords([source_schema !== 'public' && source_schema, source_table], '.')
  return name === '' ? sql_event : `${sql_event} on ${name}`
}

function eventOf({ target_event_domain, target_event_type }: Route): string {
  return `${target_event_domain}.${target_event_type}`
}

const showCommand = () =>
  routeVerb('show', 'one route: what it sends, its status, what to do next')
    .actor()
    .run(async ({ output, transaction, isExternal }, code) => {
      const { route, workspace } = await transaction(async (client) => {
        const route = await requireRoute(client, code)
        return { route, workspace: await workspaceName(client, route) }
      })
      const external = await isExternal()
      const show = () => {
        output.line(`${paintStage(stageLabel(route.state))}  ${pc.bold(route.route_code)}`)
        output.line(factsOf(route, workspace, ...historyOf(route)))
      }
      output.result(route, show, ...nextSteps([route], external))
    })

function factsOf(route: Route, workspace: string | null, ...more: readonly Fact[]): string {
  const { keep_refs, subject, forbid_keys, only_changed } = route.payload_contract
  const facts: Fact[] = [
    ['from', sourceOf(route)],
    ['event', joinWords([eventOf(route), route.target_event_stream], ', stream ')],
    ['columns', keep_refs?.join(', ') ?? 'none, only the address of the row'],
    ['identified by', subject?.join(', ')],
    ['never', forbid_keys?.join(', ')],
    ['only', only_changed && 'rows in which one of the columns has changed'],
    ['once for', route.idempotency_policy.key],
    ['workspace', route.workspace_column ? `as ${route.workspace_column} says` : (workspace ?? 'none')],
    [
      'if it fails',
      route.fail_closed ? 'the change is rolled back' : 'the change is committed, and the failure is counted',
    ],
    ...more,
  ]
  return formatFacts(facts, '    ')
}

function historyOf(route: Route): Fact[] {
  const { reviewed_at, activated_at, last_failed_at } = route
  const checked = plural(Number(route.evidence_seen), 'statement')
  return [
    [
      'registered',
      `${formatRelativeTime(route.registered_at)} by ${route.registered_by}, revision ${route.revision}`,
    ],
    ['attached to', plural(route.attached, 'table')],
    ['evidence', (route.state === 'dry_run' || route.evidence > 0) && plural(route.evidence, 'statement')],
    [
      'reviewed',
      reviewed_at && `${formatRelativeTime(reviewed_at)} by ${route.reviewed_by}, who checked ${checked}`,
    ],
    ['activated', activated_at && `${formatRelativeTime(activated_at)} by ${route.activated_by}`],
    ['disabled', route.disabled_reason],
    [
      'failed',
      route.last_failure &&
        `${route.failures} times, last ${formatRelativeTime(last_failed_at!)}: ${route.last_failure}`,
    ],
  ]
}

/** Several that were registered together go on together. */
function nextSteps(routes: readonly Route[], external = false): NextStep[] {
  const codes = routes.map(({ route_code }) => route_code).join(' ')
  const { state, route_code: code } = routes[0]!
  const activate = external
    ? `POST ${API_PREFIX}/event-routes/${code}/activate with the reviewer’s token`
    : `stagedoor route activate ${codes} --as reviewer`
  const consume = `stagedoor consumer register my_consumer --on ${eventOf(routes[0]!)} --kind my_kind`
  switch (state) {
    case 'disabled':
      return [['Start its dry run: it records what it would have sent', `stagedoor route dry-run ${codes}`]]
    case 'dry_run':
      return [['Change a row or two, then check what it would have sent', `stagedoor route evidence ${code}`]]
    case 'reviewed':
      return [['Let it send', activate]]
    default:
      return [
        ['Make jobs of its events', consume],
        ['See them', 'stagedoor event list'],
      ]
  }
}

const evidenceCommand = () =>
  routeVerb('evidence', 'what the dry run of a route would have sent, newest statement first')
    .limit(20, 1000, 'how many statements')
    .actor()
    .run(async ({ options, output, transaction, isExternal }, code) => {
      const { route, evidence } = await transaction(async (client) => ({
        route: await requireRoute(client, code),
        evidence: await routeEvidence(client, code, options.limit),
      }))
      const { revision, state } = route
      const external = await isExternal()
      const count = evidence.length
      const review = external
        ? `POST ${API_PREFIX}/event-routes/${code}/review with their token and {"evidence": ${count}, "revision": ${revision}}`
        : `stagedoor route review ${code} --evidence ${count} --revision ${revision} --as reviewer`
      output.result({ revision, evidence }, () => {
        if (count === 0 && state !== 'disabled')
          return output.line(
            `${code} is in dry run and has recorded no statement yet. Change a row of its table.`,
          )
        output.line(
          count === 0
            ? `${code} has had no dry run yet.`
            : `${pc.bold(code)} would have sent, had it been active (nothing was sent):`,
        )
        for (const { recorded_at, events, relation, actor, refused, sample } of evidence) {
          const not = refused === '0' ? '' : pc.red(`, ${refused} of them could not have been sent`)
          output.line(
            `  ${formatAge(recorded_at)} ago  ${plural(Number(events), 'event')} from ${relation}, by ${printableLine(actor)}${not}`,
          )
          for (const { event_subject_ref, payload } of sample) {
            const text = joinWords([eventOf(route), event_subject_ref, JSON.stringify(payload)], '  ')
            output.dim(`      ${truncateLine(text, screenWidth() - 5)}`)
          }
        }
        if (state === 'dry_run') output.next(['A second person checks it and reviews it', review])
        else output.next(...nextSteps([route], external))
      })
    })

const registerCommand = () =>
  command('register', 'register a route from a table or a procedure to events; it sends nothing yet')
    .argument('[table]', 'or procedure, as in SQL: orders, sales."Orders"; none for ddl')
    .requiredOption('--on <events>', `${EVENTS.join(', ')}; several with commas between`, parseEvents)
    .option('--columns <columns>', 'what events may carry, and nothing else', parseList)
    .option(
      '--forbid <keys>',
      'keys that may not occur at any depth, beside the ten that never may',
      parseList,
    )
    .option(
      '--subject <columns>',
      'what identifies the row, among these columns; default: the primary key',
      parseList,
    )
    .option('--only-changed', 'of an update only rows in which one of the columns has changed')
    .option('--once <columns>', 'rows with the same values there become one event: "(id,status)"')
    .option('--event <domain.type>', 'what the events are; default: iu_sql.<table>.<event>', parseEventName)
    .option('--stream <text>', 'of the events')
    .workspace('whose the events are; default: the only one there is')
    .option('--workspace-column <column>', 'each row says whose it is')
    .option('--global', 'the events belong to no workspace')
    .conflicts('workspace', 'workspaceColumn')
    .option('--fail-open', 'if an event cannot be sent, the change goes on; default: it is rolled back')
    .examples('  $ stagedoor route register orders --on insert,update --columns id,status')
    .run(async ({ options, output, administrator }, table) => {
      const { on, columns: keep_refs, forbid: forbid_keys, subject, once, event, workspaceColumn } = options
      const { routes, workspace } = await administrator(async (client) => {
        if (keep_refs === undefined) await refuseWithoutColumns(client, table, on)
        // Events of no workspace are seen by the back end only, so that has to be said.
        const isOfNone = options.global || workspaceColumn !== undefined
        const workspace_id = isOfNone ? undefined : await workspaceOf(client, options.workspace)
        const routes: (Route & { readonly tableThere: boolean })[] = []
        for (const sql_event of on) {
          const only_changed = (options.onlyChanged && sql_event === 'update') || undefined
          const code = await registerRoute(client, {
            sql_event,
            source: table,
            target_event_domain: event?.domain,
            target_event_type: event?.type,
            target_event_stream: options.stream,
            idempotency_policy: once === undefined ? undefined : { key: once },
            payload_contract: omitUndefined({ keep_refs, forbid_keys, subject, only_changed }),
            workspace_id,
            workspace_column: workspaceColumn,
            fail_closed: options.failOpen !== true,
          })
          const route = await requireRoute(client, code)
          routes.push({ ...route, tableThere: await sourceExists(client, route) })
        }
        return { routes, workspace: await workspaceName(client, routes[0]!) }
      })
      const show = () => {
        for (const route of routes) {
          const isNew = route.state === 'disabled'
          output.done(
            `${pc.bold(route.route_code)} ${isNew ? 'is registered. It sends nothing yet.' : 'is unchanged.'}`,
          )
          const name = `${route.source_schema}.${route.source_table}`
          if (!route.tableThere) output.line(pc.yellow(`  There is no table ${name} yet; it waits for it.`))
          output.line(factsOf(route, workspace))
        }
      }
      output.result(routes, show, ...nextSteps(routes))
    })

function parseEvents(given: string): SqlEvent[] {
  return parseList(given).map((name) => {
    const event = EVENTS.find((one) => one === name)
    if (event) return event
    throw argumentInvalid(`--on ${name}: the events are ${EVENTS.join(', ')}`)
  })
}

/** A route may be registered ahead of its table, but then nobody can say which columns there will be. */
async function refuseWithoutColumns(
  client: Client,
  table: string | undefined,
  on: readonly SqlEvent[],
): Promise<void> {
  const ofRows = on.some((event) => ['insert', 'update', 'delete'].includes(event))
  if (table === undefined || !ofRows) return
  const columns = await tableColumns(client, table)
  if (columns === null)
    throw argumentInvalid(
      `There is no table ${table}`,
      'Write its name as in SQL: orders, sales."Orders". To register a route before its table exists, name the columns: --columns id,status',
    )
  throw argumentInvalid(
    'Say which columns the events may carry, with --columns',
    `${table} has ${columns.join(', ')}. Example: --columns ${columns.slice(0, 2).join(',')}`,
  )
}

const dryRunCommand = () =>
  routesVerb('dry-run', 'attach the triggers and record what would be sent; nothing is sent').run(
    async ({ output, administrator }, codes) => {
      const routes = await administrator(async (client) => {
        for (const code of codes) await dryRunRoute(client, code)
        return requireRoutes(client, codes)
      })
      const show = () => {
        for (const { route_code, attached } of routes) {
          const where = attached === 0 ? '' : ` on ${plural(attached, 'table')}`
          output.done(`${route_code} is in dry run${where}.`)
        }
      }
      output.result(routes, show, ...nextSteps(routes))
    },
  )

const reviewCommand = () =>
  routeVerb(
    'review',
    'confirm that you have checked the evidence and agree; not whoever registered the route',
  )
    .requiredOption(
      '--evidence <n>',
      'how many statements you checked, as `route evidence` says',
      integerBetween(1, 1000),
    )
    .option('--revision <n>', 'of the definition that you checked', integerFrom(1))
    .actor()
    .run((session, code) => {
      const { evidence, revision } = session.options
      return changeRoutes(session, [code], {
        action: 'review',
        done: 'is reviewed',
        change: (client, route, actor) => reviewRoute(client, route, { evidence, revision, actor }),
      })
    })

const activateCommand = () =>
  routesVerb('activate', 'let reviewed routes send')
    .actor()
    .run((session, codes) =>
      changeRoutes(session, codes, {
        action: 'activate',
        done: 'is active: changes become events now',
        change: activateRoute,
      }),
    )

const disableCommand = () =>
  routesVerb('disable', 'stop routes at once; their review stays')
    .option('--reason <text>', 'kept with them')
    .actor()
    .run((session, codes) =>
      changeRoutes(session, codes, {
        action: 'disable',
        done: 'is disabled and sends nothing',
        change: (client, route, actor) =>
          disableRoute(client, route, { reason: session.options.reason, actor }),
      }),
    )

interface RouteChange {
  readonly action: 'review' | 'activate' | 'disable'
  readonly done: string
  readonly change: (client: Client, code: string, actor: string | undefined) => Promise<void>
}

async function changeRoutes(
  { output, isMember, administrator, decide }: Session,
  codes: readonly string[],
  { action, done, change }: RouteChange,
): Promise<void> {
  const work = async (client: Client, actor?: string): Promise<Route[]> => {
    for (const code of codes) await change(client, code, actor)
    return requireRoutes(client, codes)
  }
  // Disabling needs no second person: whoever may delete a route may disable it.
  const routes =
    action === 'disable' && !isMember
      ? await administrator((client) => work(client))
      : await decide(work, {
          find: async (client) => (await requireRoute(client, codes[0]!)).workspace_id,
          call: `POST ${API_PREFIX}/event-routes/${codes[0]}/${action}`,
        })
  const show = () => {
    for (const code of codes) output.done(`${code} ${done}.`)
  }
  output.result(routes, show, ...(action === 'disable' ? [] : nextSteps(routes)))
}

const deleteCommand = () =>
  routesVerb('delete', 'delete routes with their triggers and evidence; events that they sent stay')
    .option('--yes', 'also those that are active')
    .run(async ({ options, output, administrator }, codes) => {
      const left = await administrator(async (client) => {
        if (!options.yes) refuseActive(await requireRoutes(client, codes))
        const statements: string[] = []
        for (const code of codes) statements.push(...(await deleteRoute(client, code)))
        return statements
      })
      output.result({ deleted: codes, statements: left }, () => {
        for (const code of codes) output.done(`${code} is deleted.`)
        if (left.length === 0) return
        output.line('\nOnly the owner of the table can drop its triggers, which do nothing now:')
        for (const statement of left) output.line(pc.cyan(`  ${statement}`))
      })
    })

function refuseActive(routes: readonly Route[]): void {
  const active = routes.find(({ state }) => state === 'active')?.route_code
  if (active === undefined) return
  throw argumentInvalid(
    `${active} is active, and its evidence and review would be deleted with it`,
    `Disable it with \`stagedoor route disable ${active}\`, or delete it with --yes.`,
  )
}
