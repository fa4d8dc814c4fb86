import { Command } from 'commander'
import { addCommand } from './consumer/add.ts'
import {
  activateCommand,
  backfillCommand,
  disableCommand,
  dryRunCommand,
  removeCommand,
  reviewCommand,
} from './consumer/decide.ts'
import { evidenceCommand, listCommand, showCommand } from './consumer/look.ts'

export function consumerCommand(): Command {
  const consumer = new Command('consumer').description('consumers: events become jobs').addHelpText(
    'after',
    `
  $ stagedoor consumer add mail_new_orders --on iu_sql.orders.insert --kind send_mail
  $ stagedoor consumer dry-run mail_new_orders
  $ stagedoor consumer evidence mail_new_orders
  $ stagedoor consumer review mail_new_orders --seen 3 --as reviewer
  $ stagedoor consumer activate mail_new_orders

Nothing is dispatched while the gate queue.consumer_dispatch.enabled is closed.`,
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
    backfillCommand(),
    removeCommand(),
  ]) {
    consumer.addCommand(command)
  }
  return consumer
}
