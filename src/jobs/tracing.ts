/** Spans: the trace is the correlation's, so that a change, its jobs and what follows from them are one trace. */
import {
  context,
  ProxyTracerProvider,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { Job } from './queue.ts'

/** A uuid has the 16 bytes of a trace id; the last 8 of the cause stand for the span that it came from. */
function traceOf(job: Pick<Job, 'correlation_id' | 'causation_event_id' | 'job_id'>): {
  traceId: string
  spanId: string
} {
  const bytes = (uuid: string): string => uuid.replaceAll('-', '')
  return {
    traceId: bytes(job.correlation_id ?? job.job_id),
    spanId: bytes(job.causation_event_id ?? job.correlation_id ?? job.job_id).slice(16),
  }
}

/** The tracer that somebody registered. Without one a span costs more than all else that a short job costs. */
function registeredTracer(): Tracer | undefined {
  const provider = trace.getTracerProvider()
  return provider instanceof ProxyTracerProvider
    ? provider.getDelegateTracer('stagedoor')
    : provider.getTracer('stagedoor')
}

export function inSpan<T>(jobs: readonly Job[], work: () => Promise<T> | T): Promise<T> | T {
  const tracer = registeredTracer()
  return tracer ? runTraced(tracer, jobs, work) : work()
}

async function runTraced<T>(tracer: Tracer, jobs: readonly Job[], work: () => Promise<T> | T): Promise<T> {
  const [job] = jobs
  const parent = trace.setSpanContext(context.active(), {
    ...traceOf(job!),
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
  })
  const span = tracer.startSpan(`job ${job!.job_kind}`, { kind: SpanKind.CONSUMER }, parent)
  if (span.isRecording()) describe(span, jobs)
  return context.with(trace.setSpan(parent, span), async () => {
    try {
      return await work()
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR })
      try {
        span.recordException(error as Error)
      } catch {
        // Anything can be thrown, also what throws when it is read. The job fails with it all the same.
      }
      throw error
    } finally {
      span.end()
    }
  })
}

function describe(span: Span, jobs: readonly Job[]): void {
  const [job] = jobs
  span.setAttributes({
    'messaging.system': 'stagedoor',
    'messaging.destination.name': job!.job_kind,
    'messaging.message.id': job!.job_id,
    'messaging.batch.message_count': jobs.length,
    'stagedoor.job.attempts': job!.attempts,
    'stagedoor.job.lease_epoch': job!.lease_epoch,
  })
  // A batch is in the trace of its first job; the others are linked to it.
  for (const other of jobs.slice(1)) {
    span.addLink({ context: { ...traceOf(other), traceFlags: TraceFlags.SAMPLED, isRemote: true } })
  }
}
