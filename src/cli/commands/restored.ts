import { Command } from 'commander'
import pc from 'picocolors'
import { rebaseAfterRestore } from '../../events/restored.ts'
import { type GlobalOptions, outputOf } from '../context.ts'
import { administering } from '../governing.ts'

export function restoredCommand(): Command {
  return new Command('restored')
    .description('after a logical restore (pg_restore, psql): write every position in the outbox anew')
    .addHelpText(
      'after',
      `
Positions of readers and consumers are transaction ids of the server that the dump came from. Run it once, before workers
and the API start. Run twice, or where nothing was restored, it changes nothing that is read.`,
    )
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const output = outputOf(options)
      const done = await administering(options, (client) => rebaseAfterRestore(client))
      output.result(done, () => {
        output.line(
          `${pc.green('✔')} ${done.events} events, ${done.readers} readers and ${done.consumers} consumers have their positions here.`,
        )
        output.line(pc.dim(`  ${done.undispatched} events are yet to be passed on. Next: stagedoor start`))
      })
    })
}
