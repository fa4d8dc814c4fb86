import type { ExecutionTimeline } from '../api/types.ts'
import { useLiveQuery } from '../live/live.tsx'
import { useNow } from '../live/now.ts'
import { Card } from '../parts/card.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { count, counted, duration } from '../parts/format.ts'

/** Who does what: a line for each process, a bar for what it ran, by time. */
export function TimelineCard({ id, over }: { id: string; over: boolean }) {
  const { data, failure, loading } = useLiveQuery(['executions', id, 'timeline'], (api) =>
    api.executions.timeline(id),
  )
  return (
    <Card
      id="timeline"
      title="Who does what"
      aside={
        data &&
        data.lanes.length > 0 && (
          <span className="tiny">{counted(data.lanes.length, 'process', 'processes')}</span>
        )
      }
    >
      <FailureNote failure={failure} />
      {loading && <p className="empty">Loading…</p>}
      {data &&
        (data.lanes.length === 0 && data.running.length === 0 ? (
          <p className="empty">
            Nothing was run yet. A server or <code>stagedoor worker</code> runs steps and items.
          </p>
        ) : (
          <Lanes timeline={data} over={over} />
        ))}
    </Card>
  )
}

interface Lane {
  readonly worker: string
  readonly done: number
  readonly failed: number
  readonly busy_ms: number
  readonly bars: ExecutionTimeline['lanes'][number]['bars']
  readonly running: ExecutionTimeline['running']
}

function lanesOf({ lanes, running }: ExecutionTimeline): Lane[] {
  const known = new Map<string, Lane>(lanes.map((lane) => [lane.worker, { ...lane, running: [] }]))
  for (const one of running) {
    const lane = known.get(one.worker) ?? {
      worker: one.worker,
      done: 0,
      failed: 0,
      busy_ms: 0,
      bars: [],
      running: [],
    }
    known.set(one.worker, { ...lane, running: [...lane.running, one] })
  }
  return [...known.values()]
}

function Lanes({ timeline, over }: { timeline: ExecutionTimeline; over: boolean }) {
  const now = useNow()
  const begins = [timeline.from, ...timeline.running.map(({ started_at }) => started_at)].flatMap((at) =>
    at === null ? [] : [Date.parse(at)],
  )
  const from = Math.min(...begins)
  const last = timeline.to === null ? from : Date.parse(timeline.to)
  const to = Math.max(last, over || timeline.running.length === 0 ? last : now, from + 1)
  const left = (at: string) => ((Date.parse(at) - from) / (to - from)) * 100
  return (
    <>
      <ul className="lanes">
        {lanesOf(timeline).map((lane) => (
          <li key={lane.worker} className="lane">
            <span className="lane-name" title={lane.worker}>
              {lane.worker}
            </span>
            <span className="lane-track" role="img" aria-label={laneText(lane, to - from)}>
              {barsOf(lane).map(({ bar, tone }) => (
                <i
                  key={`${tone} ${bar.from}`}
                  className={tone}
                  title={barText(bar)}
                  style={{ left: `${left(bar.from)}%`, width: `${left(bar.to) - left(bar.from)}%` }}
                />
              ))}
              {lane.running.length > 0 && (
                <i
                  className="is-work"
                  title={`runs ${counted(lane.running.length, 'command')}`}
                  style={{ left: `${left(lane.running[0]!.started_at)}%`, right: 0 }}
                />
              )}
            </span>
            <span className="tiny lane-sum">{laneText(lane, to - from)}</span>
          </li>
        ))}
      </ul>
      <p className="tiny lane-scale">
        <span>0</span>
        <span>{duration(to - from)}</span>
      </p>
      {timeline.partial && (
        <p className="note is-stale">Only the newest 200,000 events of the log are shown.</p>
      )}
    </>
  )
}

/** Bars of a process overlap; what failed is a strip over the others, which still show. */
function barsOf({ bars }: Lane): { bar: Lane['bars'][number]; tone: 'is-ok' | 'is-bad' }[] {
  return [
    ...bars.filter(({ done }) => done > 0).map((bar) => ({ bar, tone: 'is-ok' as const })),
    ...bars.filter(({ failed }) => failed > 0).map((bar) => ({ bar, tone: 'is-bad' as const })),
  ]
}

function laneText({ done, failed, busy_ms, running }: Lane, span: number): string {
  return [
    `${count(done)} done`,
    failed > 0 && `${counted(failed, 'attempt')} failed`,
    running.length > 0 && `${count(running.length)} running`,
    busy_ms > span * 1.1 ? `${duration(busy_ms)} of work in parallel` : `busy ${duration(busy_ms)}`,
  ]
    .filter(Boolean)
    .join(', ')
}

function barText({ step, index, done, failed, from, to }: Lane['bars'][number]): string {
  const what = `${step ?? 'several steps'}${index === null ? '' : `, item ${index}`}`
  const many =
    done + failed === 1 ? (failed === 1 ? 'failed' : 'done') : `${count(done)} done, ${count(failed)} failed`
  return `${what}: ${many}, ${duration(Date.parse(to) - Date.parse(from))}`
}
