import { Command } from 'commander'
import pc from 'picocolors'
import {
  listPlaybooks,
  type PlaybookDetail,
  requirePlaybookNamed,
} from '../../../executions/shown-playbooks.ts'
import { type ActingOptions, acting, asOption, userOption } from '../../acting.ts'
import { outputOf } from '../../context.ts'
import { whole } from '../../numbers.ts'
import { age, type Output, table, visibleLine } from '../../output.ts'
import { screenWidth, shortened } from '../upload/layout.ts'
import { printNext } from '../upload/next-step.ts'
import { pictureOf } from './picture.ts'

const EXAMPLE = `name: hello
steps:
  - step: greet
    tool: sql
    args: { query: "select 'hello' as said" }`

export function listCommand(): Command {
  return new Command('list')
    .description('the playbooks that are registered, each in its newest version')
    .addOption(asOption())
    .addOption(userOption())
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<ActingOptions>()
      const output = outputOf(options)
      const playbooks = await acting(options, (client) => listPlaybooks(client, { limit: 1000 }))
      output.result(playbooks, () => {
        if (playbooks.length === 0) {
          output.line('No playbook here. Write one:')
          output.line(pc.cyan(EXAMPLE.replaceAll(/^/gm, '  ')))
          return printNext(output, [{ what: 'And run it', command: 'stagedoor run hello.yaml' }])
        }
        const rows = playbooks.map((one) => [
          one.name,
          String(one.version),
          one.disabled_at ? 'disabled' : one.open_to_members ? 'members' : 'back end',
          age(one.created_at),
          shortened(one.description ?? '', Math.max(20, screenWidth() - 60)),
        ])
        output.line(
          table([['name', 'version', 'started by', 'age', ''], ...rows], (cell, column, row) =>
            row === 0 || column > 2 ? pc.dim(cell) : cell.trim() === 'disabled' ? pc.yellow(cell) : cell,
          ),
        )
      })
    })
}

export function showCommand(): Command {
  return new Command('show')
    .description('one playbook: what it takes, its steps as a picture')
    .argument('<name>', 'of the playbook')
    .option('--version <n>', 'default: the newest', whole(1, 2_147_483_647))
    .option('--text', 'as it was written')
    .addOption(asOption())
    .addOption(userOption())
    .action(async (name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ActingOptions & { version?: number; text?: boolean }>()
      const output = outputOf(options)
      const found = await acting(options, (client) => requirePlaybookNamed(client, name, options.version))
      output.result(found, () => {
        if (options.text) return output.line(found.content.trimEnd())
        printPlaybook(output, found)
      })
    })
}

function printPlaybook(output: Output, found: PlaybookDetail): void {
  const { name, version, playbook, open_to_members, disabled_at, registered_by, created_at } = found
  output.line(`${pc.bold(name)}  version ${version}${disabled_at ? pc.yellow('  disabled') : ''}`)
  if (playbook.description !== undefined) output.line(visibleLine(playbook.description))
  output.line(
    pc.dim(
      `registered ${age(created_at)} ago by ${registered_by}; started by ${open_to_members ? 'members and the back end' : 'the back end'}`,
    ),
  )
  const args = Object.entries(playbook.args)
  if (args.length > 0) {
    const rows = args.map(([arg, value]) => [
      `  ${arg}`,
      shortened(JSON.stringify(value), screenWidth() - 30),
    ])
    output.line(`\n${pc.bold('Takes')}, unless said otherwise`)
    output.line(table(rows, (cell, column) => (column === 1 ? pc.dim(cell) : cell)))
  }
  output.line()
  for (const line of pictureOf(playbook)) output.line(line)
  if (playbook.output !== undefined) {
    output.line(
      `\n${pc.bold('Gives')}  ${pc.dim(shortened(JSON.stringify(playbook.output), screenWidth() - 10))}`,
    )
  }
  const set = args.length === 0 ? '' : ` --set ${args[0]![0]}=…`
  printNext(output, [{ what: 'Run it', command: `stagedoor run ${name}${set}` }])
}
