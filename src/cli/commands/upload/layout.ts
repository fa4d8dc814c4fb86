/** Text that fits the terminal. */
import { cut, splitAt, visibleLine, widthOf } from '../../output.ts'

/** Piped, nobody's window is too narrow. */
export function screenWidth(): number {
  return Math.max(60, Math.min(process.stdout.columns ?? 120, 160))
}

export function count(number: number | null): string {
  return (number ?? 0).toLocaleString('en')
}

/** 1 line, 2 lines */
export function lines(number: number | null): string {
  return number === 1 ? '1 line' : `${count(number)} lines`
}

/** Lines of at most `width`, broken at blanks where there are any. What others wrote is made visible first. */
export function wrap(text: string, width: number): string[] {
  const wrapped: string[] = []
  let line = ''
  for (const word of visibleLine(text)
    .split(' ')
    .flatMap((part) => pieces(part, width))) {
    if (line !== '' && widthOf(line) + 1 + widthOf(word) > width) {
      wrapped.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...wrapped, line]
}

function pieces(word: string, width: number): string[] {
  const [first, rest] = splitAt(word, Math.max(2, width))
  return rest === '' ? [first] : [first, ...pieces(rest, width)]
}

/** On its line and in its width, with a mark where there was more. */
export function shortened(text: string, width: number): string {
  return cut(visibleLine(text), Math.max(1, width - 1))
}
