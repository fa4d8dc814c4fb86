import { useMemo } from 'react'
import type { JobStatistics } from '../api/jobs.ts'
import { counted, duration } from '../parts/format.ts'
import { Plot, type Series } from '../parts/plot.tsx'

const WINDOWS: Record<string, string> = {
  '1h': 'the last hour',
  '24h': 'the last 24 hours',
  '7d': 'the last 7 days',
}
const perBucket = (value: number) => (Number.isInteger(value) ? String(value) : '')
const latency = (value: number) => duration(value)

/** Throughput and latency of the window, each with its numbers in a sentence. */
export function JobPlots({ statistics }: { statistics: JobStatistics }) {
  const { series, window, bucket_s } = statistics
  const drawn = useMemo(() => plotted(series), [series])
  const sum = (of: 'completed' | 'dead' | 'retries') =>
    series.reduce((total, bucket) => total + bucket[of], 0)
  const span = WINDOWS[window]
  const bucket = bucket_s === 60 ? 'minute' : bucket_s === 3600 ? 'hour' : `${bucket_s / 60} minutes`
  return (
    <div className="job-plots">
      <section className="card" aria-label="Throughput">
        <header className="card-head">
          <h2>Throughput</h2>
          <span className="tiny">jobs per {bucket}</span>
        </header>
        <Plot
          summary={`${counted(sum('completed'), 'job')} completed in ${span}, ${counted(sum('dead'), 'became a dead letter', 'became dead letters')}, ${counted(sum('retries'), 'retry', 'retries')}.`}
          x={drawn.x}
          series={drawn.throughput}
          format={perBucket}
        />
      </section>
      <section className="card" aria-label="Latency">
        <header className="card-head">
          <h2>Latency</h2>
          <span className="tiny">95 of 100 jobs were faster</span>
        </header>
        <Plot summary={latencySummary(series, span!)} x={drawn.x} series={drawn.latency} format={latency} />
      </section>
    </div>
  )
}

function plotted(series: JobStatistics['series']): {
  x: number[]
  throughput: Series[]
  latency: Series[]
} {
  const of = (name: Exclude<keyof JobStatistics['series'][number], 'at'>) =>
    series.map((bucket) => bucket[name])
  return {
    x: series.map(({ at }) => new Date(at).getTime() / 1000),
    throughput: [
      { name: 'completed', values: of('completed'), tone: 'ok', kind: 'bars' },
      { name: 'dead letters', values: of('dead'), tone: 'bad', kind: 'bars' },
    ],
    latency: [
      { name: 'waited', values: of('wait_p95_ms'), tone: 'held' },
      { name: 'ran', values: of('run_p95_ms'), tone: 'work' },
    ],
  }
}

function latencySummary(series: JobStatistics['series'], span: string): string {
  const worst = (of: 'wait_p95_ms' | 'run_p95_ms') => Math.max(...series.map((bucket) => bucket[of] ?? -1))
  const [waited, ran] = [worst('wait_p95_ms'), worst('run_p95_ms')]
  if (waited < 0 && ran < 0) return `No job ended in ${span}.`
  return `At worst jobs waited ${duration(Math.max(0, Math.round(waited)))} and ran ${duration(Math.max(0, Math.round(ran)))} in ${span}.`
}
