import { Argument, type Command as Cmd, Command } from 'commander'

/** Words for the shell, made from the commands themselves. */
export function completionCommand(program: () => Cmd): Command {
  return new Command('completion')
    .description('print a completion script for your shell')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .addHelpText('after', '\nExample:\n  $ eval "$(stagedoor completion bash)"')
    .action((shell: string) => {
      const paths = words(program())
      process.stdout.write(shell === 'fish' ? fish(paths) : bash(paths, shell === 'zsh'))
    })
}

/** For each command path ("", "gate", "gate open") the words that may follow. */
function words(command: Cmd, path = ''): Map<string, string[]> {
  const found = new Map<string, string[]>()
  const options = command.options.map((option) => option.long ?? option.short ?? '').filter(Boolean)
  found.set(path, [...command.commands.map((child) => child.name()), ...options])
  for (const child of command.commands) {
    for (const [key, value] of words(child, `${path} ${child.name()}`.trim())) found.set(key, value)
  }
  return found
}

function bash(paths: Map<string, string[]>, zsh: boolean): string {
  const cases = [...paths].map(([path, next]) => `    "${path}") words="${next.join(' ')}" ;;`).join('\n')
  return `${zsh ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''}_stagedoor() {
  local path="" word words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] || path="\${path:+$path }$word"
  done
  case "$path" in
${cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _stagedoor stagedoor
`
}

function fish(paths: Map<string, string[]>): string {
  const lines = [...paths].flatMap(([path, next]) => {
    const condition =
      path === ''
        ? '__fish_use_subcommand'
        : path
            .split(' ')
            .map((word) => `__fish_seen_subcommand_from ${word}`)
            .join('; and ')
    return next.map((word) =>
      word.startsWith('--')
        ? `complete -c stagedoor -n '${condition}' -l ${word.slice(2)}`
        : `complete -c stagedoor -f -n '${condition}' -a ${word}`,
    )
  })
  return `${lines.join('\n')}\n`
}
