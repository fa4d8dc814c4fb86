import { InvalidArgumentError } from 'commander'

/** Parses a whole number within bounds. */
export function whole(least: number, most: number): (value: string) => number {
  return (value) => {
    const number = Number(value)
    if (!/^-?\d+$/.test(value) || number < least || number > most) {
      throw new InvalidArgumentError(`A whole number from ${least} to ${most}.`)
    }
    return number
  }
}
