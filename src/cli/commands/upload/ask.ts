/** Questions to whoever sits at the terminal. */
import { createInterface } from 'node:readline/promises'

export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true
}

/** No is the answer to everything that is not a yes, an end of input included. */
export async function confirm(question: string): Promise<boolean> {
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  const gone = new Promise<string>((resolve) => asking.once('close', () => resolve('')))
  try {
    const answer = await Promise.race([asking.question(`${question} [y/N] `), gone])
    return /^y(es)?$/i.test(answer.trim())
  } finally {
    asking.close()
  }
}
