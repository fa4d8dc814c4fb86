import { PageHead } from '../frame/page-head.tsx'
import { InboxCard } from '../inbox/inbox-card.tsx'
import { useLiveQuery } from '../live/live.tsx'
import { usePendingWork } from '../live/pending-work.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { EventsCard } from './events-card.tsx'
import { Flow } from './flow.tsx'
import { NeedsCard } from './needs-card.tsx'
import './overview.css'

/** At a glance: what waits for a person, then each room with its figures, then what just happened. */
export function Overview() {
  const overview = useLiveQuery(['overview'], (api) => api.overview())
  const events = useLiveQuery(['events', 'newest'], (api) => api.events({ limit: 12 }))
  return (
    <>
      <PageHead title="How data flows" />
      <InboxCard />
      <NeedsCard pendingWork={usePendingWork()} overview={overview.data} />
      <FailureNote failure={overview.failure} />
      <Flow overview={overview.data} />
      <EventsCard events={events} />
    </>
  )
}
