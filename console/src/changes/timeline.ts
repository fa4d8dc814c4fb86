/** An entry of the history of a change. */
interface Entry {
  readonly at: string
  readonly actor: string
  readonly what: string
  readonly detail: Readonly<Record<string, unknown>>
}

/** Between what one click does: a new plan, and its submission. */
const ONE_CLICK_MS = 5_000

/** What ended or stayed because of a new plan: it has its own line, and may stand between the plan and its submission. */
const CONSEQUENCES = ['review_dismissed', 'review_kept']

/** The lines of the timeline. What one click did is one line: a plan takes the change back to a draft and may be submitted at once. */
export function timelineOf<E extends Entry>(entries: readonly E[]): [E, ...E[]][] {
  const lines: [E, ...E[]][] = []
  for (const entry of entries) {
    const before = lines.findLast(([{ what }]) => !CONSEQUENCES.includes(what))
    if (before !== undefined && isOneClick(before, entry)) before.push(entry)
    else lines.push([entry])
  }
  return lines
}

function isOneClick(line: readonly [Entry, ...Entry[]], entry: Entry): boolean {
  const last = line.at(-1) ?? line[0]
  const [before, now] = [stepOf(last), stepOf(entry)]
  return (
    before !== -1 &&
    before < now &&
    last.actor === entry.actor &&
    Date.parse(entry.at) - Date.parse(last.at) < ONE_CLICK_MS
  )
}

const STEPS = ['planned', 'draft', 'open', 'asked_again']

function stepOf({ what, detail }: Entry): number {
  return STEPS.indexOf(what === 'status' ? String(detail.to) : what)
}
