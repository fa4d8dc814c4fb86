/** The commands that a page shows, and whether the command line takes them. */
import type { Command, Option } from 'commander'

/** Words of each `stagedoor …` of a page: of its sh blocks, and of code within its text. */
export function commandsIn(markdown: string): string[][] {
  const blocks = [...markdown.matchAll(/^( *)```(?:sh|bash)\n(.*?)^\1```$/gms)].flatMap(([, , text]) =>
    text!.replace(/\\\n\s*/g, ' ').split('\n'),
  )
  const withoutBlocks = markdown.replace(/^( *)```.*?^\1```$/gms, '')
  const inline = [...withoutBlocks.matchAll(/`(stagedoor [^`]+)`/g)].map(([, text]) => text!)
  return [...blocks, ...inline]
    .flatMap((line) => commandOf(line))
    .map(wordsOf)
    .filter((words) => words.length > 0 && words[0] !== '$@')
}

/** `until stagedoor job list | grep …` and `$(stagedoor token)`, too. */
function commandOf(line: string): string[] {
  const withoutComment = line.replace(/(^|\s)#(?!\{).*$/, '')
  return [
    ...withoutComment.matchAll(
      /(?:^|[\s("]|\bnpm run -s )stagedoor(?: --)? +((?:'[^']*'|"[^"]*"|[^|;&)`'"])*)/g,
    ),
  ]
    .filter(
      ({ index, 0: all }) => !/(alias|\/) *$/.test(withoutComment.slice(0, index)) && !all.includes('()'),
    )
    .map(([, words]) => words!)
}

function wordsOf(text: string): string[] {
  const words = text.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? []
  const end = words.findIndex((word) => /^([<>]|\d?>)/.test(word) && !/^<[\w ,-]+>$/.test(word))
  return (end === -1 ? words : words.slice(0, end)).map((word) => word.replace(/['"]/g, ''))
}

/** Undefined where the program would take it: an ellipsis and what stands for a value are values. */
export function parseProblem(program: Command, words: readonly string[]): string | undefined {
  let command = program
  let at = 0
  for (; at < words.length; at++) {
    const child = command.commands.find(
      (one) => one.name() === words[at] || one.aliases().includes(words[at]!),
    )
    if (child === undefined) break
    command = child
  }
  // `search how many days` is `search` with a question: its default command.
  const usual = (command as unknown as { _defaultCommandName: string | null })._defaultCommandName
  if (usual) command = command.commands.find((one) => one.name() === usual)!
  if (command === program)
    return words[0] === '…' || words[0]!.startsWith('-') || /^[A-Z<]/.test(words[0]!)
      ? undefined
      : 'no such command'
  let given = 0
  const options = optionsOf(command)
  for (; at < words.length; at++) {
    const word = words[at]!
    if (!/^--?[a-z]/i.test(word)) {
      if (command.commands.length > 0 && command.registeredArguments.length === 0 && /^[a-z]/.test(word))
        return `no such command: ${word}`
      given++
      continue
    }
    const [name] = word.split('=')
    const option = options.find((one) => one.long === name || one.short === name)
    if (option === undefined) return `no such option: ${word}`
    if ((option.required || option.optional) && !word.includes('=')) at++
    if (option.required && at >= words.length) return undefined
  }
  const takes = command.registeredArguments
  if (!takes.some((argument) => argument.variadic) && given > takes.length) return 'too many arguments'
  return undefined
}

function optionsOf(command: Command): Option[] {
  const parent = command.parent === null ? [] : optionsOf(command.parent)
  return [...command.options, ...parent, { long: '--help', short: '-h' } as Option]
}
