import { Command } from 'commander'
import pc from 'picocolors'
import { listWorkspaces } from '../../../access/members.ts'
import type { Client } from '../../../db/connection.ts'
import { StagedoorError } from '../../../errors.ts'
import { findRoute, listRoutes, type Route, routeEvidence } from '../../../events/routes.ts'
import { type ActingOptions, acting, asOption, userOption } from '../../acting.ts'
import { outputOf } from '../../context.ts'
import { whole } from '../../numbers.ts'
import { paintStage, stageOf } from '../stages.ts'
import { printNext } from '../upload/next-step.ts'
import { evidenceLines, historyOf, nextSteps, reviewStep, routeLines, routeTable } from './screen.ts'

export async function requireRoute(client: Client, code: string): Promise<Route> {
  const route = await findRoute(client, code)
  if (!route) throw new StagedoorError('route_unknown', { route: code })
  return route
}

export async function workspaceName(client: Client, { workspace_id }: Route): Promise<string | undefined> {
  if (workspace_id === null) return undefined
  return (await listWorkspaces(client)).find(({ id }) => id === workspace_id)?.name ?? undefined
}

export function listCommand(): Command {
  return new Command('list')
    .description('all routes and how far each is')
    .addOption(asOption())
    .addOption(userOption())
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<ActingOptions>()
      const output = outputOf(options)
      const routes = await acting(options, listRoutes)
      output.result(routes, () => {
        if (routes.length > 0) return output.line(routeTable(routes))
        output.line('No route yet. One makes events of what happens to a table of yours:')
        output.line(pc.cyan('  stagedoor route add orders --on insert,update --keep id,status'))
      })
    })
}

export function showCommand(): Command {
  return new Command('show')
    .description('one route: what it sends, how far it is, what to do next')
    .argument('<route>', 'as `stagedoor route list` shows it')
    .addOption(asOption())
    .addOption(userOption())
    .action(async (code: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ActingOptions>()
      const output = outputOf(options)
      const { route, workspace, external } = await acting(options, async (client, database) => {
        const route = await requireRoute(client, code)
        return {
          route,
          workspace: await workspaceName(client, route),
          external: database.kind === 'external',
        }
      })
      output.result(route, () => {
        output.line(`${paintStage(stageOf(route.state))}  ${pc.bold(route.route_code)}`)
        for (const line of routeLines(route, workspace, ...historyOf(route))) output.line(line)
        printNext(output, nextSteps([route], external))
      })
    })
}

export function evidenceCommand(): Command {
  return new Command('evidence')
    .description('what the dry run of a route would have sent, newest statement first')
    .argument('<route>', 'as `stagedoor route list` shows it')
    .option('--limit <n>', 'how many statements', whole(1, 1000), 20)
    .addOption(asOption())
    .addOption(userOption())
    .action(async (code: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ActingOptions & { limit: number }>()
      const output = outputOf(options)
      const { route, evidence, external } = await acting(options, async (client, database) => ({
        route: await requireRoute(client, code),
        evidence: await routeEvidence(client, code, options.limit),
        external: database.kind === 'external',
      }))
      output.result({ revision: route.revision, evidence }, () => {
        if (evidence.length === 0) {
          output.line(
            route.state === 'disabled'
              ? `${code} has not run dry yet.`
              : `${code} runs dry and has seen no statement yet. Change a row of its table.`,
          )
          return route.state === 'disabled' && printNext(output, nextSteps([route]))
        }
        output.line(`${pc.bold(code)} would have sent, had it been active (nothing was sent):`)
        for (const line of evidenceLines(route, evidence)) output.line(line)
        printNext(
          output,
          route.state === 'dry_run'
            ? [reviewStep(route, evidence.length, external)]
            : nextSteps([route], external),
        )
      })
    })
}
