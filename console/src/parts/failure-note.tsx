import { ApiProblem, type Failure } from '../api/failure.ts'
import { Prose } from './prose.tsx'

/** Why something could not be loaded. A lost connection is shown once, in the frame, and so not here. */
export function FailureNote({ failure }: { failure: Failure | undefined }) {
  if (!(failure instanceof ApiProblem)) return null
  return (
    <p className="note is-bad" role="status">
      <b>{failure.message}</b> <Prose text={failure.hint} />
      {failure.requestId !== '' && (
        <>
          {' '}
          <span className="tiny">
            request <code>{failure.requestId}</code>
          </span>
        </>
      )}
    </p>
  )
}
