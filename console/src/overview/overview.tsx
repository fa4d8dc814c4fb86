import type { Api } from '../api/client.ts'
import { PageHead } from '../frame/page-head.tsx'
import { useLiveQuery } from '../live/live.tsx'
import { usePendingWork } from '../live/pending-work.tsx'
import { useSystem } from '../live/system.tsx'
import { usePolled } from '../live/use-polled.ts'
import { readWork } from '../live/work.ts'
import { EventsCard } from './events-card.tsx'
import { Flow } from './flow.tsx'
import { GatesCard } from './gates-card.tsx'
import { HealthCard } from './health-card.tsx'
import { NeedsCard } from './needs-card.tsx'
import { ExecutionsCard, JobsCard, SearchCard } from './work-cards.tsx'
import './overview.css'

const readPromoted = (api: Api) => api.uploads.list({ status: 'promoted', limit: 50 })

export function Overview() {
  const system = useSystem()
  const gates = useLiveQuery(['health', 'gates'], (api) => api.gates())
  const events = useLiveQuery(['events', 'newest'], (api) => api.events({ limit: 20 }))
  const pendingWork = usePendingWork()
  const promoted = useLiveQuery(['promotions', 'newest'], readPromoted)
  const facts = useLiveQuery(['events', 'overview'], (api) => api.overview())
  const work = usePolled(readWork)
  return (
    <>
      <PageHead title="How data flows" />
      <NeedsCard pendingWork={pendingWork} work={work.data} />
      <Flow
        facts={facts.data}
        gates={gates.data?.gates}
        events={events.data}
        pendingWork={pendingWork.data}
        promoted={promoted.data}
        work={work.data}
      />
      <div className="below">
        <div className="stack">
          <HealthCard system={system} />
          <GatesCard gates={gates} />
        </div>
        <div className="stack">
          <JobsCard work={work} />
          <ExecutionsCard work={work} />
          <SearchCard work={work} check={system.data?.ready.checks.find(({ name }) => name === 'search')} />
          <EventsCard events={events} />
        </div>
      </div>
    </>
  )
}
