import { Command } from 'commander'
import { approveCommand, rejectCommand, submitCommand } from './upload/decide.ts'
import { fixCommand } from './upload/fix.ts'
import { limitsCommand } from './upload/limits.ts'
import { lineageOfUploadCommand } from './upload/lineage.ts'
import { listCommand, showCommand } from './upload/look.ts'
import { planCommand } from './upload/plan.ts'
import { exportCommand, problemsCommand } from './upload/problems.ts'
import { discardCommand, promoteCommand, undoCommand } from './upload/promote.ts'

export function uploadCommand(): Command {
  const upload = new Command('upload')
    .description('files on their way into the tables: checked, planned, approved, promoted, undone')
    .addHelpText(
      'after',
      `
  $ stagedoor ingest week-45.csv --dataset ads --platform meta --as operator
  $ stagedoor upload problems <id>
  $ stagedoor upload export <id> -o wrong-lines.csv
  $ stagedoor upload fix <id> --file wrong-lines.csv --as operator
  $ stagedoor upload plan <id> --rows
  $ stagedoor upload approve <id> --as reviewer
  $ stagedoor upload promote <id> --as operator
  $ stagedoor upload undo <id> --as reviewer`,
    )
  for (const command of [
    listCommand(),
    showCommand(),
    problemsCommand(),
    exportCommand(),
    fixCommand(),
    planCommand(),
    submitCommand(),
    approveCommand(),
    rejectCommand(),
    promoteCommand(),
    undoCommand(),
    discardCommand(),
    lineageOfUploadCommand(),
    limitsCommand(),
  ]) {
    upload.addCommand(command)
  }
  return upload
}
