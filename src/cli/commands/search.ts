/** Search on the command line. Without the name of a command, what follows is the question. */
import { Command } from 'commander'
import { auditCommand } from './search/audit.ts'
import { deadCommand, nowCommand, replayCommand, statusCommand } from './search/care.ts'
import { documentCommand } from './search/document.ts'
import { findCommand } from './search/find.ts'
import { phaseCommand, windowCommand } from './search/phase.ts'
import { switchCommand } from './search/switch.ts'

export function searchCommand(): Command {
  const search = new Command('search')
    .description('find units and documents by words and by meaning; every hit says how fresh it is')
    .usage('[find] <question...> | <command>')
    .addHelpText(
      'after',
      `
  $ stagedoor search how much annual leave do I get
  $ stagedoor search '"paid leave" carry*' --topic leave --status enacted
  $ stagedoor search now                            what was edited, at once
  $ stagedoor search status
  $ stagedoor search audit --repair
  $ stagedoor search switch --embedder openai       needs EMBEDDINGS_URL

\`stagedoor search find --help\` lists the filters. A question that begins with the name of a command: search find status …`,
    )
  // A question may begin with any word.
  search.helpCommand(false).addCommand(findCommand(), { isDefault: true })
  const commands = [
    statusCommand(),
    nowCommand(),
    deadCommand(),
    replayCommand(),
    auditCommand(),
    switchCommand(),
    phaseCommand(),
    windowCommand(),
    documentCommand(),
  ]
  for (const command of commands) search.addCommand(command)
  return search
}
