import { useState } from 'react'
import { asFailure, type Failure } from '../api/failure.ts'

/** Something that a person asked for: whether it is under way, and why it was refused. */
export interface Action<Answer> {
  /** What is being done now, in words; undefined: nothing. */
  readonly busy: string | undefined
  /** Why the last one was refused. */
  readonly failure: Failure | undefined
  /** Does it and takes its answer; undefined where it was refused. */
  run(words: string, work: () => Promise<Answer>): Promise<Answer | undefined>
  /** Forgets the last refusal. */
  clear(): void
}

export function useAction<Answer>(take: (answer: Answer) => void): Action<Answer> {
  const [busy, setBusy] = useState<string>()
  const [failure, setFailure] = useState<Failure>()

  const run: Action<Answer>['run'] = async (words, work) => {
    setBusy(words)
    setFailure(undefined)
    try {
      const answer = await work()
      take(answer)
      return answer
    } catch (thrown) {
      setFailure(asFailure(thrown))
      return undefined
    } finally {
      setBusy(undefined)
    }
  }
  return { busy, failure, run, clear: () => setFailure(undefined) }
}
