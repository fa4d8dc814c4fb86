/** Figures of search: what this process's worker counted, and what the database says when it is asked. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { ProjectionHooks } from '../../search/hooks.ts'
import type { SearchStatus } from '../../search/status.ts'

export function projectionMeasures(registers: Registry[]): ProjectionHooks {
  const rows = new Counter({
    name: 'stagedoor_search_projected_total',
    help: 'Units and documents that this process worked on for search, by outcome',
    labelNames: ['outcome'],
    registers,
  })
  const chunks = new Counter({
    name: 'stagedoor_search_chunks_embedded_total',
    help: 'Chunks that this process sent to an embedder',
    labelNames: ['collection'],
    registers,
  })
  const duration = new Histogram({
    name: 'stagedoor_search_batch_duration_seconds',
    help: 'How long a batch took from the claim until it was in search',
    buckets: [0.005, 0.025, 0.1, 0.5, 2.5, 10, 60],
    registers,
  })
  return {
    done(count, ms) {
      rows.inc({ outcome: 'done' }, count)
      duration.observe(ms / 1000)
    },
    failed(count, deadLetters) {
      rows.inc({ outcome: 'failed' }, count - deadLetters)
      if (deadLetters > 0) rows.inc({ outcome: 'dead_letter' }, deadLetters)
    },
    waiting: (count) => rows.inc({ outcome: 'waiting' }, count),
    embedded: (collection, count) => chunks.inc({ collection }, count),
  }
}

export function searchGauges(registers: Registry[]): (now: SearchStatus) => void {
  const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Gauge({ name: `stagedoor_search_${name}`, help, labelNames, registers })
  const outbox = gauge('outbox', 'Units and documents on their way into search, by status', ['status'])
  const oldest = gauge('oldest_due_seconds', 'How long the oldest due unit or document has been waiting')
  const outage = gauge('waiting_for_outage', 'Those that wait for an embedder or a store that is away')
  const chunks = gauge('chunks', 'Chunks in search', ['source'])
  const points = gauge('points', 'Vectors in a collection', ['collection', 'state'])
  const tokens = gauge('tokens_today', 'What the embedders that cost took today', ['embedder', 'model'])
  return (now) => {
    for (const one of [outbox, chunks, points, tokens]) one.reset()
    for (const status of ['pending', 'processing', 'dead_letter', 'due'] as const)
      outbox.set({ status }, now.outbox[status])
    oldest.set(now.outbox.oldest_due_s ?? 0)
    outage.set(now.outage?.rows ?? 0)
    chunks.set({ source: 'unit' }, now.chunks.units)
    chunks.set({ source: 'document' }, now.chunks.documents)
    for (const { collection, state, points: count } of now.collections)
      if (state !== 'legacy') points.set({ collection, state }, count)
    const today = now.cost[0]?.day
    for (const { day, embedder, model, tokens: count } of now.cost)
      if (day === today) tokens.set({ embedder, model }, count)
  }
}
