import { ApiProblem, type Failure } from '../api/failure.ts'
import { Prose } from './prose.tsx'

/** Why what somebody asked for was not done, where they asked for it. Unlike a failed read, a lost connection counts, too. */
export function RefusalNote({ failure }: { failure: Failure | undefined }) {
  if (failure === undefined) return null
  const hint = failure instanceof ApiProblem ? failure.hint : ''
  // The messages of the database have no full stop.
  const message = hint === '' ? failure.message : failure.message.replace(/(?<![.!?])$/, '.')
  return (
    <p className="note is-bad" role="alert">
      <b>
        <Prose text={message} />
      </b>{' '}
      {hint !== '' && <Prose text={hint} />}
    </p>
  )
}
