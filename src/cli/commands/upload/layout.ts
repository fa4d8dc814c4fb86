/** Text that fits the terminal. */
import { cut, visibleLine } from '../../output.ts'

export { wrap } from '../../output.ts'

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

/** On its line and in its width, with a mark where there was more. */
export function shortened(text: string, width: number): string {
  return cut(visibleLine(text), Math.max(1, width - 1))
}
