import { Command } from 'commander'
import { addCommand, disableCommand, enableCommand } from './playbook/add.ts'
import { checkCommand, schemaCommand } from './playbook/check.ts'
import { listCommand, showCommand } from './playbook/look.ts'

export function playbookCommand(): Command {
  const playbook = new Command('playbook')
    .description('playbooks: write, check, register, look, switch off')
    .addHelpText(
      'after',
      `
  $ stagedoor playbook schema --write playbook.schema.json   for completion in your editor
  $ stagedoor playbook check playbook.yaml
  $ stagedoor run playbook.yaml --set n=10000
  $ stagedoor playbook add playbook.yaml --open-to-members

The language: docs/guides/playbooks.md`,
    )
  const commands = [
    addCommand(),
    checkCommand(),
    listCommand(),
    showCommand(),
    schemaCommand(),
    disableCommand(),
    enableCommand(),
  ]
  for (const command of commands) playbook.addCommand(command)
  return playbook
}
