import { Command } from 'commander'
import { addCommand, checkCommand } from './dataset/add.ts'
import { listCommand, showCommand } from './dataset/look.ts'
import { mapCommand } from './dataset/map.ts'

export function datasetCommand(): Command {
  const dataset = new Command('dataset')
    .description('what files mean: their headers, their rules, the tables they go to')
    .addHelpText(
      'after',
      `
  $ stagedoor dataset add ads
  $ stagedoor dataset show ads --platform meta
  $ stagedoor dataset check ./orders.json
  $ stagedoor dataset add ./orders.json --no-approval --undo-window '90 days'
  $ stagedoor dataset map ads --platform meta --header "Spend €=spend"`,
    )
  for (const command of [listCommand(), showCommand(), checkCommand(), addCommand(), mapCommand()]) {
    dataset.addCommand(command)
  }
  return dataset
}
