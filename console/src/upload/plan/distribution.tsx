import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { asFailure } from '../../api/failure.ts'
import type { Distribution } from '../../api/upload-types.ts'
import { FailureNote } from '../../parts/failure-note.tsx'
import { Plot } from '../../parts/plot.tsx'
import { useSession } from '../../session/session.tsx'
import { amount } from './values.ts'

interface Props {
  readonly upload: string
  readonly rowType: string
  readonly column: string
}

/** How the numbers of a column lie before and after the plan: a wrong unit or a lost decimal sign shows at a glance. */
export default function DistributionPlot({ upload, rowType, column }: Props) {
  const { api } = useSession()
  const { data, error } = useQuery({
    queryKey: ['uploads', upload, 'distribution', rowType, column],
    queryFn: () => api.uploads.distribution(upload, { row_type: rowType, column }),
  })
  const x = useMemo(
    () => (data?.buckets ?? []).map(({ from, to }) => (Number(from) + Number(to)) / 2),
    [data],
  )
  const series = useMemo(
    () => [
      {
        name: 'before',
        tone: 'stale' as const,
        values: (data?.buckets ?? []).map(({ before }) => before),
      },
      { name: 'after', tone: 'accent' as const, values: (data?.buckets ?? []).map(({ after }) => after) },
    ],
    [data],
  )
  if (error) return <FailureNote failure={asFailure(error)} />
  if (data === undefined) return <p className="muted distribution">Loading…</p>
  return (
    <div className="distribution">
      <Plot summary={summaryOf(column, data)} x={x} time={false} series={series} height={120} />
    </div>
  )
}

function summaryOf(column: string, { before, after }: Distribution): string {
  const words = ({ count, min, median, max }: Distribution['before']) =>
    count === 0 || min === null || median === null || max === null
      ? 'no numbers'
      : `${amount(min)} to ${amount(max)}, median ${amount(median)}`
  return `Rows by ${column}. Before: ${words(before)}. After: ${words(after)}.`
}
