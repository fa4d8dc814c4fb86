import { ApiProblem, type Failure } from '../api/failure.ts'
import { Prose } from './prose.tsx'

/** Why what somebody asked for was not done, where they asked for it. Unlike a failed read, a lost connection counts, too. */
export function RefusalNote({ failure }: { failure: Failure | undefined }) {
  if (failure === undefined) return null
  return (
    <p className="note is-bad" role="alert">
      <b>
        <Prose text={failure.message} />
      </b>{' '}
      {failure instanceof ApiProblem && <Prose text={failure.hint} />}
    </p>
  )
}
