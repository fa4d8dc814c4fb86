import { Command } from 'commander'
import { enginesCommand } from './executions/engines.ts'
import { eventsCommand, listCommand, showCommand } from './executions/look.ts'
import { rebuildCommand } from './executions/rebuild.ts'
import { rerunCommand } from './executions/rerun.ts'
import { cancelCommand, pauseCommand, resumeCommand } from './executions/steer.ts'
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
  $ stagedoor executions events <id> --failed
  $ stagedoor executions rerun <id> --from load --handlers handlers.mjs
  $ stagedoor executions engines
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
    enginesCommand(),
    rebuildCommand(),
  ]
  for (const command of commands) executions.addCommand(command)
  return executions
}
