import { Chip } from '../parts/chip.tsx'
import { useSession } from '../session/session.tsx'

/** What awaits review: `review` for whoever may decide on it, `awaiting review` for the person who owns it. */
export function ReviewChip({ owner }: { owner: string }) {
  const { me } = useSession()
  return <Chip tone="held">{owner === me.actor ? 'awaiting review' : 'review'}</Chip>
}
