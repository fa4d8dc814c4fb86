import { useCallback, useEffect, useState } from 'react'
import { asFailure } from '../api/failure.ts'
import type { StalePlan, UploadDetail } from '../api/upload-types.ts'
import { useSession } from '../session/session.tsx'

export interface Stale {
  /** How many rows somebody changed since the plan was made, and how; undefined: none, or not known yet. */
  readonly plan: StalePlan | undefined
  /** False: it is being asked, and what may be decided is not known. */
  readonly known: boolean
  /** Asks again: a promotion was refused for it. */
  check(): void
}

/**
 * Whether production is still what the plan was made on. Asked when the page opens and whenever the plan or its review
 * changes, not on every beat: it compares every planned row.
 */
export function useStale(upload: UploadDetail): Stale {
  const { api } = useSession()
  const [found, setFound] = useState<{ digest: string; plan: StalePlan }>()
  const [asked, setAsked] = useState(0)
  const [unanswered, setUnanswered] = useState<string>()
  const { upload_id: id, status, plan_digest: digest, review_status } = upload
  const canBe = status === 'planned' && upload.plan_refusal === null && upload.run_mode !== 'FULL_DRY_RUN'

  // biome-ignore lint/correctness/useExhaustiveDependencies: a decision or a refusal is a reason to ask again
  useEffect(() => {
    if (!canBe || digest === null) return
    let wanted = true
    api.uploads
      .stalePlan(id, { limit: 1 })
      .then((plan) => wanted && setFound({ digest, plan }))
      // Without it the page says less; the promotion itself is refused in any case.
      .catch((thrown) => {
        asFailure(thrown)
        if (wanted) setUnanswered(digest)
      })
    return () => {
      wanted = false
    }
  }, [api, id, canBe, digest, review_status, asked])

  const check = useCallback(() => setAsked((count) => count + 1), [])
  const current = canBe && found?.digest === digest && found.plan.total > 0
  const known = !canBe || found?.digest === digest || unanswered === digest
  return { plan: current ? found.plan : undefined, known, check }
}
