import { Chip } from '../parts/chip.tsx'
import { useSession } from '../session/session.tsx'

/** What awaits review: `review` for whoever may decide on it, `in review` for the person who owns it. */
export function ReviewChip({ owner }: { owner: string }) {
  const { me } = useSession()
  return <Chip tone="held">{owner === me.actor ? 'in review' : 'review'}</Chip>
}
