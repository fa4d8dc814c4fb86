import { Command } from 'commander'
import { createCommand } from './create.ts'
import { approveCommand, consumeCommand, rejectCommand, tickCommand, withdrawCommand } from './decide.ts'
import { cleanupCommand, expireCommand, healthCommand, policyCommand } from './keep.ts'
import { listCommand, showCommand } from './look.ts'

export function stagingCommand(): Command {
  const staging = new Command('staging')
    .description('the staging zone: hold anything, approve exactly what was seen')
    .addHelpText(
      'after',
      `
  $ stagedoor staging create --as agent --kind review_package --type review_bundle --purpose "Commentary on week 45" \\
      --part manifest=@manifest.json --part commentary=@notes.md --part checklist=@checklist.json
  $ stagedoor staging list --status pending
  $ stagedoor staging show <id>
  $ stagedoor staging tick --as reviewer <id> 1 2
  $ stagedoor staging approve --as reviewer <id> --digest <as shown>
  $ stagedoor staging consume <id>

Nothing is written while the gate iu_core.staging_writes_enabled is closed.`,
    )
  for (const command of [
    createCommand(),
    listCommand(),
    showCommand(),
    tickCommand(),
    approveCommand(),
    rejectCommand(),
    withdrawCommand(),
    consumeCommand(),
    expireCommand(),
    cleanupCommand(),
    healthCommand(),
    policyCommand(),
  ]) {
    staging.addCommand(command)
  }
  return staging
}
