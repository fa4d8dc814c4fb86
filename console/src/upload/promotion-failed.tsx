import type { UploadDetail } from '../api/upload-types.ts'
import { Ago } from '../parts/ago.tsx'
import { count } from '../parts/format.ts'
import { Person } from '../parts/person.tsx'
import { Prose } from '../parts/prose.tsx'
import { lastPromotionFailure } from './state.ts'

/** Why the plan that is there was not promoted, although somebody tried. The history has all attempts. */
export function PromotionFailed({ upload }: { upload: UploadDetail }) {
  const failure = lastPromotionFailure(upload)
  if (failure === undefined) return null
  const { error, failed_at, tried_by } = failure
  return (
    <p className="note is-bad" role="status">
      <b>
        Promotion failed <Ago at={failed_at} />: <Prose text={error.message.replace(/[.]$/, '')} />.
      </b>{' '}
      <Prose text={error.hint} />{' '}
      <span className="tiny">
        Tried by <Person id={tried_by} />
        {upload.promotion_failure_count > 1 && `; ${count(upload.promotion_failure_count)} attempts in all`}.
        Nothing was written.
      </span>
    </p>
  )
}
