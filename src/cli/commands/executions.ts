import { Command } from 'commander'
import { eventsCommand, listCommand, showCommand } from './executions/look.ts'
import { rebuildCommand } from './executions/rebuild.ts'
import { cancelCommand, pauseCommand, rerunCommand, resumeCommand } from './executions/steer.ts'
import { traceCommand } from './executions/trace.ts'
import { waitCommand } from './executions/wait.ts'

export function executionsCommand(): Command {
  const executions = new Command('executions')
    .description('executions of playbooks: look, wait, pause, cancel, run again from a step')
    .addHelpText(
      'after',
      `
  $ stagedoor run playbook.yaml --set n=10000
  $ stagedoor executions list --status RUNNING
  $ stagedoor executions show <id>
  $ stagedoor executions rerun <id> --from load
  $ stagedoor executions rebuild --all --verify`,
    )
  const commands = [
    listCommand(),
    showCommand(),
    eventsCommand(),
    traceCommand(),
    waitCommand(),
    cancelCommand(),
    pauseCommand(),
    resumeCommand(),
    rerunCommand(),
    rebuildCommand(),
  ]
  for (const command of commands) executions.addCommand(command)
  return executions
}
