/** The steps of a route: run dry, be reviewed by somebody else, be active, be off, be gone. */
import { Command } from 'commander'
import pc from 'picocolors'
import type { Client } from '../../../db/connection.ts'
import { StagedoorError } from '../../../errors.ts'
import {
  activateRoute,
  disableRoute,
  dryRunRoute,
  type Route,
  removeRoute,
  reviewRoute,
} from '../../../events/routes.ts'
import { type ActingOptions, asOption, isNamed, userOption } from '../../acting.ts'
import { type GlobalOptions, outputOf } from '../../context.ts'
import { administering, deciding } from '../../governing.ts'
import { whole } from '../../numbers.ts'
import { printNext } from '../upload/next-step.ts'
import { requireRoute } from './look.ts'
import { nextSteps } from './screen.ts'

const CODES = 'as `stagedoor route list` shows them'

export function dryRunCommand(): Command {
  return new Command('dry-run')
    .description('attach the triggers and note what would be sent; nothing is')
    .argument('<route...>', CODES)
    .action(async (codes: string[], _options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const output = outputOf(options)
      const routes = await administering(options, async (client) => {
        for (const code of codes) await dryRunRoute(client, code)
        return readRoutes(client, codes)
      })
      output.result(routes, () => {
        for (const { route_code, attached } of routes) {
          output.line(
            `${pc.green('✔')} ${route_code} runs dry${attached === 0 ? '' : ` on ${attached} ${attached === 1 ? 'table' : 'tables'}`}.`,
          )
        }
        printNext(output, nextSteps(routes))
      })
    })
}

interface ReviewOptions extends ActingOptions {
  readonly seen: number
  readonly revision?: number
}

export function reviewCommand(): Command {
  return new Command('review')
    .description('say that you have looked at the evidence and agree; not the one who registered it')
    .argument('<route>', 'as `stagedoor route list` shows it')
    .requiredOption(
      '--seen <n>',
      'how many statements you looked at, as `route evidence` says',
      whole(1, 1000),
    )
    .option('--revision <n>', 'of the definition that you looked at', whole(1, 2_147_483_647))
    .addOption(asOption())
    .addOption(userOption())
    .action(async (code: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ReviewOptions>()
      const { seen, revision } = options
      await decide(options, [code], 'review', 'is reviewed', (client, route, actor) =>
        reviewRoute(client, route, {
          evidence: seen,
          ...(revision !== undefined && { revision }),
          ...(actor !== undefined && { actor }),
        }),
      )
    })
}

export function activateCommand(): Command {
  return new Command('activate')
    .description('let reviewed routes send')
    .argument('<route...>', CODES)
    .addOption(asOption())
    .addOption(userOption())
    .action((codes: string[], _options, command: Command) =>
      decide(
        command.optsWithGlobals<ActingOptions>(),
        codes,
        'activate',
        'is active: changes become events now',
        activateRoute,
      ),
    )
}

export function disableCommand(): Command {
  return new Command('disable')
    .description('stop routes at once; their review stays')
    .argument('<route...>', CODES)
    .option('--reason <text>', 'kept with them')
    .addOption(asOption())
    .addOption(userOption())
    .action((codes: string[], _options, command: Command) => {
      const options = command.optsWithGlobals<ActingOptions & { reason?: string }>()
      const { reason } = options
      return decide(options, codes, 'disable', 'sends nothing any more', (client, route, actor) =>
        disableRoute(client, route, {
          ...(reason !== undefined && { reason }),
          ...(actor !== undefined && { actor }),
        }),
      )
    })
}

async function decide(
  options: ActingOptions,
  codes: readonly string[],
  action: string,
  done: string,
  change: (client: Client, code: string, actor: string | undefined) => Promise<void>,
): Promise<void> {
  const output = outputOf(options)
  const decision = {
    workspace: async (client: Client) => (await requireRoute(client, codes[0]!)).workspace_id,
    call: `POST /api/event-routes/${codes[0]}/${action}`,
  }
  const work = async (client: Client, actor: string | undefined): Promise<Route[]> => {
    for (const code of codes) await change(client, code, actor)
    return readRoutes(client, codes)
  }
  // To stop one needs nobody else: whoever can take it away can switch it off.
  const routes =
    action === 'disable' && !isNamed(options)
      ? await administering(options, (client) => work(client, undefined))
      : await deciding(options, decision, work)
  output.result(routes, () => {
    for (const code of codes) output.line(`${pc.green('✔')} ${code} ${done}.`)
    if (action !== 'disable') printNext(output, nextSteps(routes))
  })
}

export function removeCommand(): Command {
  return new Command('remove')
    .description('take routes away with their triggers and evidence; events that they sent stay')
    .argument('<route...>', CODES)
    .option('--yes', 'also those that are active')
    .action(async (codes: string[], _options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { yes?: boolean }>()
      const output = outputOf(options)
      const left = await administering(options, async (client) => {
        if (!options.yes) refuseActive(await readRoutes(client, codes))
        const statements: string[] = []
        for (const code of codes) statements.push(...(await removeRoute(client, code)))
        return statements
      })
      output.result({ removed: codes, statements: left }, () => {
        for (const code of codes) output.line(`${pc.green('✔')} ${code} is gone.`)
        if (left.length === 0) return
        output.line('\nOnly the owner of the table can drop its triggers, which do nothing any more:')
        for (const statement of left) output.line(pc.cyan(`  ${statement}`))
      })
    })
}

function refuseActive(routes: readonly Route[]): void {
  const active = routes.find(({ state }) => state === 'active')
  if (!active) return
  throw new StagedoorError(
    'argument_invalid',
    { reason: `${active.route_code} is active, and its evidence and review would be gone` },
    { hint: `Switch it off with \`stagedoor route disable ${active.route_code}\`, or remove it with --yes.` },
  )
}

function readRoutes(client: Client, codes: readonly string[]): Promise<Route[]> {
  return codes.reduce<Promise<Route[]>>(
    async (before, code) => [...(await before), await requireRoute(client, code)],
    Promise.resolve([]),
  )
}
