import type { GraphNode } from '../api/types.ts'
import { atTime } from '../parts/format.ts'

/** What a step waits for, and how long at most. */
export function waitText({
  kind,
  wake_at,
  event,
  subject,
  staging_record_id,
}: NonNullable<GraphNode['wait']>): string {
  const until = wake_at === null ? '' : atTime(wake_at)
  if (kind === 'timer') return `Waits until ${until}.`
  const most = until === '' ? '' : ` At most until ${until}.`
  if (kind === 'event')
    return `Waits for the event ${event}${subject === null ? '' : ` of ${subject}`}.${most}`
  return `Waits for a decision on the record ${staging_record_id}.${most}`
}
