import { Ago } from './ago.tsx'
import { Person } from './person.tsx'

/** Everybody who approved, with the time: Rita 2 min ago, Ron 1 min ago. */
export function Approvers({ approvers }: { approvers: readonly { reviewer: string; at: string }[] }) {
  return approvers.map(({ reviewer, at }, index) => (
    <span key={reviewer}>
      {index > 0 && ', '}
      <Person id={reviewer} /> <Ago at={at} />
    </span>
  ))
}
