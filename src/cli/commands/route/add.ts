import { Command, Option } from 'commander'
import pc from 'picocolors'
import type { Client } from '../../../db/connection.ts'
import { StagedoorError } from '../../../errors.ts'
import { findRoute, type NewRoute, type Route, registerRoute, type SqlEvent } from '../../../events/routes.ts'
import { workspaceOf } from '../../acting.ts'
import { type GlobalOptions, outputOf } from '../../context.ts'
import { administering } from '../../governing.ts'
import { commaList } from '../../json-argument.ts'
import { eventName } from '../consumer/event-name.ts'
import { printNext } from '../upload/next-step.ts'
import { workspaceName } from './look.ts'
import { nextSteps, routeLines } from './screen.ts'

const EVENTS: readonly SqlEvent[] = ['insert', 'update', 'delete', 'truncate', 'call', 'ddl']

interface AddOptions extends GlobalOptions {
  readonly on: string[]
  readonly keep?: string[]
  readonly forbid?: string[]
  readonly subject?: string[]
  readonly onlyChanged?: boolean
  readonly once?: string
  readonly event?: { domain: string; type: string }
  readonly stream?: string
  readonly workspace?: string
  readonly workspaceColumn?: string
  readonly global?: boolean
  readonly failOpen?: boolean
}

export function addCommand(): Command {
  return new Command('add')
    .description('register a route from a table or a procedure to events; it sends nothing yet')
    .argument('[table]', 'or procedure, as in SQL: orders, sales."Orders"; none for ddl')
    .requiredOption('--on <events>', EVENTS.join(', ').concat('; several with commas between'), commaList)
    .option('--keep <columns>', 'what events may carry, and nothing else', commaList)
    .option(
      '--forbid <keys>',
      'keys that may not occur at any depth, beside the ten that never may',
      commaList,
    )
    .option(
      '--subject <columns>',
      'what names the row, among those kept; default: the primary key',
      commaList,
    )
    .option('--only-changed', 'of an update only rows in which something that is kept has changed')
    .option('--once <columns>', 'rows with the same values there become one event: "(id,status)"')
    .option('--event <domain.type>', 'what the events are; default: iu_sql.<table>.<event>', eventName)
    .option('--stream <text>', 'of the events')
    .option('--workspace <id or name>', 'whose the events are; default: the only one there is')
    .option('--workspace-column <column>', 'each row says whose it is')
    .addOption(new Option('--global', 'the events are nobody’s').conflicts(['workspace', 'workspaceColumn']))
    .option('--fail-open', 'if an event cannot be sent, the change goes on; default: it is rolled back')
    .addHelpText('after', '\n  $ stagedoor route add orders --on insert,update --keep id,status')
    .action(async (table: string | undefined, _options, command: Command) => {
      const options = command.optsWithGlobals<AddOptions>()
      const output = outputOf(options)
      const { routes, name } = await administering(options, async (client) => {
        await requireColumns(client, table, options)
        const workspace = await whose(options, (named) => workspaceOf(client, named))
        const added: (Route & { readonly tableThere: boolean })[] = []
        for (const event of eventsOf(options.on, command)) {
          const code = await registerRoute(client, newRoute(table, event, options, workspace))
          const route = (await findRoute(client, code))!
          added.push({ ...route, tableThere: await isThere(client, route) })
        }
        return { routes: added, name: await workspaceName(client, added[0]!) }
      })
      output.result(routes, () => {
        for (const route of routes) {
          const said = route.state === 'disabled' ? 'is registered. It sends nothing yet.' : 'is as it was.'
          output.line(`${pc.green('✔')} ${pc.bold(route.route_code)} ${said}`)
          if (!route.tableThere)
            output.line(
              pc.yellow(
                `  There is no table ${route.source_schema}.${route.source_table} yet; it waits for it.`,
              ),
            )
          for (const line of routeLines(route, name)) output.line(line)
        }
        printNext(output, nextSteps(routes))
      })
    })
}

/** A route may be registered ahead of its table, but then nobody can say which columns there will be. */
async function requireColumns(
  client: Client,
  table: string | undefined,
  { on, keep }: AddOptions,
): Promise<void> {
  const ofRows = on.some((event) => ['insert', 'update', 'delete'].includes(event))
  if (table === undefined || keep !== undefined || !ofRows) return
  const { rows } = await client.query<{ columns: string[] | null }>(
    `select array_agg(attname::text order by attnum) as columns from pg_attribute
      where attrelid = to_regclass($1) and attnum > 0 and not attisdropped`,
    [table],
  )
  const columns = rows[0]!.columns
  if (columns === null)
    throw new StagedoorError(
      'argument_invalid',
      { reason: `There is no table ${table}` },
      {
        hint: 'Write its name as in SQL: orders, sales."Orders". To register a route before its table exists, name the columns: --keep id,status',
      },
    )
  throw new StagedoorError(
    'argument_invalid',
    { reason: 'Say which columns the events may carry, with --keep' },
    { hint: `${table} has ${columns.join(', ')}. Example: --keep ${columns.slice(0, 2).join(',')}` },
  )
}

async function isThere(client: Client, route: Route): Promise<boolean> {
  if (route.source_object_kind !== 'table') return true
  const { rows } = await client.query<{ there: boolean }>(
    `select to_regclass(format('%I.%I', $1::text, $2::text)) is not null as there`,
    [route.source_schema, route.source_table],
  )
  return rows[0]!.there
}

function eventsOf(given: readonly string[], command: Command): SqlEvent[] {
  const unknown = given.find((event) => !EVENTS.includes(event as SqlEvent))
  if (unknown !== undefined) {
    command.error(`error: --on ${unknown}: the events are ${EVENTS.join(', ')}`)
  }
  return given as SqlEvent[]
}

/** Events of nobody are seen by nobody but back-end code, so that has to be said. */
async function whose(
  options: AddOptions,
  find: (named: string | undefined) => Promise<string>,
): Promise<string | undefined> {
  if (options.global || options.workspaceColumn !== undefined) return undefined
  return find(options.workspace)
}

function newRoute(
  table: string | undefined,
  event: SqlEvent,
  options: AddOptions,
  workspace: string | undefined,
): NewRoute {
  return {
    sql_event: event,
    fail_closed: options.failOpen !== true,
    ...(table !== undefined && { source: table }),
    ...(options.event && {
      target_event_domain: options.event.domain,
      target_event_type: options.event.type,
    }),
    ...(options.stream !== undefined && { target_event_stream: options.stream }),
    ...(options.once !== undefined && { idempotency_policy: { key: options.once } }),
    ...(workspace !== undefined && { workspace_id: workspace }),
    ...(options.workspaceColumn !== undefined && { workspace_column: options.workspaceColumn }),
    payload_contract: {
      ...(options.keep && { keep_refs: options.keep }),
      ...(options.forbid && { forbid_keys: options.forbid }),
      ...(options.subject && { subject: options.subject }),
      ...(options.onlyChanged && event === 'update' && { only_changed: true }),
    },
  }
}
