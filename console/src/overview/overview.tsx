import type { Api } from '../api/client.ts'
import { PageHead } from '../frame/page-head.tsx'
import { useHeld } from '../live/held.tsx'
import { useSystem } from '../live/system.tsx'
import { usePolled } from '../live/use-polled.ts'
import { EventsCard } from './events-card.tsx'
import { Flow } from './flow.tsx'
import { GatesCard } from './gates-card.tsx'
import { HealthCard } from './health-card.tsx'
import { NeedsCard } from './needs-card.tsx'
import './overview.css'

const readGates = (api: Api) => api.gates()
const readPromoted = (api: Api) => api.uploads.list({ status: 'promoted', limit: 50 })
const readEvents = (api: Api) => api.events({ limit: 20 })

export function Overview() {
  const system = useSystem()
  const gates = usePolled(readGates)
  const events = usePolled(readEvents)
  const held = useHeld()
  const promoted = usePolled(readPromoted)
  return (
    <>
      <PageHead title="The way of the data" />
      <Flow gates={gates.data?.gates} events={events.data} held={held.data} promoted={promoted.data} />
      <div className="below">
        <div className="stack">
          <NeedsCard held={held} />
          <HealthCard system={system} />
          <GatesCard gates={gates} />
        </div>
        <EventsCard events={events} />
      </div>
    </>
  )
}
