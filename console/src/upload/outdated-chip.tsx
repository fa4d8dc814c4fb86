import type { Upload } from '../api/upload-types.ts'
import { Chip } from '../parts/chip.tsx'

/** What is known of a plan without comparing it; nothing says that one is up to date. */
export function OutdatedChip({ outdated }: Pick<Upload, 'outdated'>) {
  if (outdated === null) return null
  return outdated === 'outdated' ? (
    <span title="Production has moved under rows of this plan since it was made.">
      <Chip tone="bad">outdated</Chip>
    </span>
  ) : (
    <span title="Its tables were written since the plan was made, and nobody has compared the rows.">
      <Chip tone="held">maybe outdated</Chip>
    </span>
  )
}
