/** Registering, switching off and on: the back end's. */
import { Command } from 'commander'
import pc from 'picocolors'
import { playbookInvalid } from '../../../executions/playbook/parse.ts'
import { disablePlaybook, enablePlaybook, registerPlaybook } from '../../../executions/registration.ts'
import { checkAgainstRegistered, findPlaybook } from '../../../executions/shown-playbooks.ts'
import { acting } from '../../acting.ts'
import { type GlobalOptions, outputOf } from '../../context.ts'
import { printNext } from '../upload/next-step.ts'
import { readPlaybookFile } from './check.ts'
import { problemLines } from './problem-lines.ts'

interface AddOptions extends GlobalOptions {
  readonly openToMembers?: boolean
}

export function addCommand(): Command {
  return new Command('add')
    .description('register a playbook: a new version, if it says something new')
    .argument('<file>', 'YAML or JSON')
    .option(
      '--open-to-members',
      'those who may operate in a workspace may start it there; otherwise only the back end',
    )
    .option('--no-open-to-members', 'take that back')
    .addHelpText('after', '\nExecutions that run keep the version that they began with.')
    .action(async (file: string, _options, command: Command) => {
      const options = command.optsWithGlobals<AddOptions>()
      const output = outputOf(options)
      const text = await readPlaybookFile(file)
      const { registered, before, problems } = await acting(options, async (client) => {
        const { playbook, problems } = await checkAgainstRegistered(client, text)
        if (playbook === undefined) {
          for (const line of problemLines(file, text, problems)) output.note(line)
          throw playbookInvalid(file, problems)
        }
        const before = await findPlaybook(client, playbook.name)
        const open = options.openToMembers ?? before?.open_to_members ?? false
        return {
          registered: await registerPlaybook(client, text, { open_to_members: open }),
          before,
          problems,
        }
      })
      const isNew = registered.catalog_id !== before?.catalog_id
      output.result({ ...registered, is_new: isNew }, () => {
        for (const line of problemLines(file, text, problems)) output.line(line)
        const { name, version, open_to_members, disabled } = registered
        const who = open_to_members ? 'members may start it' : 'the back end starts it'
        output.line(
          isNew
            ? `${pc.green('✔')} ${pc.bold(name)} version ${version} is registered; ${who}.`
            : `${pc.green('✔')} ${pc.bold(name)} version ${version} says this already; ${who}.`,
        )
        if (disabled) output.line(pc.yellow(`  It is disabled: \`stagedoor playbook enable ${name}\``))
        printNext(output, [
          { what: 'Run it', command: `stagedoor run ${name}` },
          { what: 'See its steps', command: `stagedoor playbook show ${name}` },
        ])
      })
    })
}

export function disableCommand(): Command {
  return switching(
    'disable',
    'no version of it is started any more; what runs goes on',
    disablePlaybook,
    'is not started any more',
  )
}

export function enableCommand(): Command {
  return switching('enable', 'it can be started again', enablePlaybook, 'can be started')
}

function switching(name: string, description: string, work: typeof disablePlaybook, said: string): Command {
  return new Command(name)
    .description(description)
    .argument('<name>', 'of the playbook')
    .action(async (playbook: string, _options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const output = outputOf(options)
      await acting(options, (client) => work(client, playbook))
      output.result({ name: playbook, disabled: name === 'disable' }, () =>
        output.line(`${pc.green('✔')} ${pc.bold(playbook)} ${said}.`),
      )
    })
}
