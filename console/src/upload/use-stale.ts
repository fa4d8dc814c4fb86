import { useCallback, useEffect, useState } from 'react'
import { asFailure } from '../api/failure.ts'
import type { PlanCheck, UploadDetail } from '../api/upload-types.ts'
import { useSession } from '../session/session.tsx'

/** Rows that somebody changed since the plan was made, and how. */
export interface MovedRows {
  readonly total: number
  readonly counts: PlanCheck['counts']
}

export interface Stale {
  /** undefined: none, or not known. */
  readonly plan: MovedRows | undefined
  /** False: it is being asked, and what may be decided is not known. */
  readonly known: boolean
  /** When the plan was compared with production; null: that was not possible in time; undefined: there is nothing to compare, or no answer yet. */
  readonly checkedAt: string | null | undefined
  /** Asks again: a promotion was refused for it, or somebody wants to know. */
  check(): void
}

/**
 * Whether production is still what the plan was made on. Asked when the page opens and whenever the plan or its review
 * changes, not on every beat: it compares every planned row.
 */
export function useStale(upload: UploadDetail): Stale {
  const { api } = useSession()
  const [found, setFound] = useState<{ digest: string; check: PlanCheck }>()
  const [asked, setAsked] = useState(0)
  const [unanswered, setUnanswered] = useState<string>()
  const { upload_id: id, status, plan_digest: digest, review_status } = upload
  const canBe = status === 'planned' && upload.plan_refusal === null && upload.run_mode !== 'FULL_DRY_RUN'

  // biome-ignore lint/correctness/useExhaustiveDependencies: a decision or a refusal is a reason to ask again
  useEffect(() => {
    if (!canBe || digest === null) return
    let wanted = true
    api.uploads
      .checkPlan(id)
      .then((check) => wanted && setFound({ digest, check }))
      // Without it the page says less; the promotion itself is refused in any case.
      .catch((thrown) => {
        asFailure(thrown)
        if (wanted) setUnanswered(digest)
      })
    return () => {
      wanted = false
    }
  }, [api, id, canBe, digest, review_status, asked])

  const again = useCallback(() => setAsked((count) => count + 1), [])
  const check = canBe && found?.digest === digest ? found.check : undefined
  const isUnanswered = canBe && unanswered === digest
  return {
    plan: check?.rows_differ ? { total: check.rows_differ, counts: check.counts } : undefined,
    known: !canBe || check !== undefined || isUnanswered,
    checkedAt: check !== undefined ? check.checked_at : isUnanswered ? null : undefined,
    check: again,
  }
}
