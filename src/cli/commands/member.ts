import { Command, Option } from 'commander'
import pc from 'picocolors'
import {
  APP_ROLES,
  type AppRole,
  createWorkspace,
  listMembers,
  listWorkspaces,
  setMember,
} from '../../access/members.ts'
import { workspaceOf } from '../acting.ts'
import { type GlobalOptions, outputOf, withAdministrator } from '../context.ts'
import { table } from '../output.ts'

export function workspaceCommand(): Command {
  const workspace = new Command('workspace').description('workspaces: who belongs together')
  workspace
    .command('list')
    .description('all workspaces')
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const output = outputOf(options)
      const workspaces = await withAdministrator(options, listWorkspaces)
      output.result(workspaces, () => {
        if (workspaces.length === 0)
          return output.line('No workspace yet: stagedoor workspace create "Acme Media"')
        output.line(table(workspaces.map(({ id, name }) => [id, name ?? ''])))
      })
    })
  workspace
    .command('create')
    .description('add a workspace')
    .argument('<name>')
    .action(async (name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const output = outputOf(options)
      const created = await withAdministrator(options, (client) => createWorkspace(client, name))
      output.result(created, () => {
        output.line(`${pc.green('✔')} ${created.name} is ${created.id}`)
        output.line(
          pc.dim(
            `  Next: stagedoor member add --workspace "${created.name}" --role reviewer --user <id in your tokens' sub>`,
          ),
        )
      })
    })
  return workspace
}

export function memberCommand(): Command {
  const member = new Command('member').description('members of workspaces and their roles')
  member
    .command('list')
    .description('who may do what')
    .option('--workspace <id or name>', 'only this one')
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { workspace?: string }>()
      const output = outputOf(options)
      const members = await withAdministrator(options, async (client) =>
        listMembers(
          client,
          options.workspace === undefined ? undefined : await workspaceOf(client, options.workspace),
        ),
      )
      output.result(members, () => {
        if (members.length === 0)
          return output.line('No member yet: stagedoor member add --role admin --user <id>')
        output.line(
          table(members.map((m) => [m.workspace ?? m.workspace_id, m.role, m.user_id, m.display_name ?? ''])),
        )
      })
    })
  member
    .command('add')
    .description('add a member, or change the role of one')
    .option('--workspace <id or name>', 'default: the only one there is')
    .addOption(new Option('--role <role>', 'what they may do').choices(APP_ROLES).makeOptionMandatory())
    .option(
      '--user <id>',
      'their id, as in the sub of their tokens (a uuid, an e-mail address, …); default: a new one',
    )
    .option('--name <text>', 'how people call them')
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<
        GlobalOptions & { workspace?: string; role: AppRole; user?: string; name?: string }
      >()
      const output = outputOf(options)
      const added = await withAdministrator(options, async (client) =>
        setMember(client, {
          workspaceId: await workspaceOf(client, options.workspace),
          role: options.role,
          ...(options.user !== undefined && { userId: options.user }),
          ...(options.name !== undefined && { displayName: options.name }),
        }),
      )
      output.result(added, () =>
        output.line(
          `${pc.green('✔')} ${added.display_name ?? added.user_id} is ${added.role} in ${added.workspace} (${added.user_id})`,
        ),
      )
    })
  return member
}
