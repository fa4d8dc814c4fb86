import type { Change } from '../../api/changes.ts'
import type { PlanSince, UploadDetail } from '../../api/upload-types.ts'
import { useReviews } from '../../changes/use-change.ts'
import { useLiveQuery } from '../../live/live.tsx'
import { useSession } from '../../session/session.tsx'

export interface Since {
  /** Of the plan that was approved. */
  readonly digest: string
  readonly reviewer: string
  readonly isOwn: boolean
  readonly rows: PlanSince
}

/** What has changed since one's own last approval of this upload, or since the last of anybody; undefined: nobody approved another plan. */
export function useSince(upload: UploadDetail, change: Change | undefined): Since | undefined {
  const { me } = useSession()
  const asks = change !== undefined && upload.status === 'planned'
  const reviews = useReviews(change, asks)
  const approvals = (reviews.data?.reviews ?? [])
    .filter(({ verdict, digest }) => verdict === 'approve' && digest !== upload.plan_digest)
    .sort((one, other) => Date.parse(one.at) - Date.parse(other.at))
  const last = approvals.findLast(({ reviewer }) => reviewer === me.actor) ?? approvals.at(-1)
  const { data } = useLiveQuery(
    ['uploads', upload.upload_id, 'since', upload.plan_digest, last?.digest],
    (api) => api.uploads.planSince(upload.upload_id, last!.digest),
    { enabled: asks && last !== undefined, once: true },
  )
  if (!asks || last === undefined || data === undefined || !data.known) return undefined
  return { digest: last.digest, reviewer: last.reviewer, isOwn: last.reviewer === me.actor, rows: data }
}
