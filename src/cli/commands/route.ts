import { Command } from 'commander'
import { addCommand } from './route/add.ts'
import {
  activateCommand,
  disableCommand,
  dryRunCommand,
  removeCommand,
  reviewCommand,
} from './route/decide.ts'
import { evidenceCommand, listCommand, showCommand } from './route/look.ts'

export function routeCommand(): Command {
  const route = new Command('route')
    .description('routes: what happens to your tables becomes events')
    .addHelpText(
      'after',
      `
  $ stagedoor route add orders --on insert,update --keep id,status
  $ stagedoor route dry-run orders.insert orders.update
  $ stagedoor route evidence orders.insert
  $ stagedoor route review orders.insert --seen 3 --as reviewer
  $ stagedoor route activate orders.insert --as reviewer

The database holds to it: disabled, then a dry run, then the review of a second person, then active. A change of what a
route matches or sends begins anew.`,
    )
  for (const command of [
    addCommand(),
    listCommand(),
    showCommand(),
    dryRunCommand(),
    evidenceCommand(),
    reviewCommand(),
    activateCommand(),
    disableCommand(),
    removeCommand(),
  ]) {
    route.addCommand(command)
  }
  return route
}
