import { Command } from 'commander'
import { checkCommand } from './unit/check.ts'
import {
  amendCommand,
  deleteCommand,
  enactCommand,
  mergeCommand,
  restoreCommand,
  retireCommand,
  splitCommand,
  supersedeCommand,
} from './unit/life.ts'
import { diffCommand, historyCommand, listCommand, showCommand } from './unit/look.ts'
import { edgeCommand, moveCommand, reorderCommand } from './unit/place.ts'
import { createCommand, editCommand, profileCommand, sliceCommand } from './unit/write.ts'

export function unitCommand(): Command {
  const unit = new Command('unit')
    .description('information units: knowledge in pieces, each with its versions and its life')
    .addHelpText(
      'after',
      `
  $ stagedoor mark handbook.md                       from a document, through review
  $ stagedoor unit list --under handbook
  $ stagedoor unit show handbook/leave --as-of 2h
  $ stagedoor unit slice handbook/leave --find "28 days" --text "30 days"
  $ stagedoor unit enact handbook/leave --apr APR-2026-114 --as reviewer

A unit is named by its address or its id.`,
    )
  const commands = [
    listCommand(),
    showCommand(),
    createCommand(),
    editCommand(),
    sliceCommand(),
    profileCommand(),
    edgeCommand(),
    moveCommand(),
    reorderCommand(),
    enactCommand(),
    supersedeCommand(),
    retireCommand(),
    splitCommand(),
    mergeCommand(),
    deleteCommand(),
    restoreCommand(),
    amendCommand(),
    historyCommand(),
    diffCommand(),
    checkCommand(),
  ]
  for (const command of commands) unit.addCommand(command)
  return unit
}
