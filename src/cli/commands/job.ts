import { Command } from 'commander'
import { kindCommand, kindsCommand, pauseCommand, resumeCommand } from './job/kinds.ts'
import { deadCommand, listCommand, showCommand } from './job/look.ts'
import { cancelCommand, enqueueCommand, replayCommand } from './job/steer.ts'

export function jobCommand(): Command {
  const job = new Command('job')
    .description('the job queue: enqueue, look, cancel, replay, pause')
    .addHelpText(
      'after',
      `
  $ stagedoor job enqueue send_report --key week-45 --payload '{"report_id": "r1"}'
  $ stagedoor job list --state waiting
  $ stagedoor job show <id>
  $ stagedoor job dead
  $ stagedoor job replay --kind send_report
  $ stagedoor job kind set send_report max_attempts=3 concurrency=2

Inside your own transaction, from any language: select iu_core.fn_job_enqueue('send_report')`,
    )
  for (const command of [
    enqueueCommand(),
    listCommand(),
    showCommand(),
    cancelCommand(),
    deadCommand(),
    replayCommand(),
    kindsCommand(),
    kindCommand(),
    pauseCommand(),
    resumeCommand(),
  ]) {
    job.addCommand(command)
  }
  return job
}
