import type { RoomFigures } from '../api/types.ts'
import type { Tone } from '../parts/chip.tsx'
import { count } from '../parts/format.ts'
import type { Stage } from '../stages.ts'

/** A figure of a room, and the list that it counts. */
interface Figure {
  readonly word: string
  readonly href: string
}

interface RoomText {
  readonly room: RoomFigures['room']
  readonly stage: Stage['id']
  readonly title: string
  readonly href: string
  readonly count?: Figure
  readonly waiting?: Figure
  readonly running?: Figure
  /** What the rate counts, such as "opened". */
  readonly rate?: string
  /** What the oldest one is called, and where it is shown. */
  readonly oldest?: { readonly word: string; href(id: string): string }
  /** Said while the room has nothing: how it is filled. */
  readonly empty: string
}

/** In the order of the rail. Every figure leads to the list that it counts. */
export const ROOM_TEXTS: readonly RoomText[] = [
  {
    room: 'changes',
    stage: 'held',
    title: 'Changes',
    href: '/changes',
    waiting: { word: 'await review', href: '/changes?show=waiting' },
    rate: 'opened',
    oldest: { word: 'oldest', href: (number) => `/changes/${number}` },
    empty: 'An upload, a record or a cut opens a change. A second person reviews it.',
  },
  {
    room: 'uploads',
    stage: 'held',
    title: 'Uploads',
    href: '/uploads',
    waiting: { word: 'not promoted', href: '/uploads?status=open' },
    running: { word: 'being read', href: '/uploads?status=reading' },
    rate: 'came',
    oldest: { word: 'oldest', href: (id) => `/uploads/${id}` },
    empty: 'Drop a file on the page of uploads. It is checked and compared; nothing is written yet.',
  },
  {
    room: 'records',
    stage: 'held',
    title: 'Records',
    href: '/records',
    waiting: { word: 'undecided', href: '/records?status=pending' },
    rate: 'staged',
    oldest: { word: 'oldest', href: (id) => `/records/${id}` },
    empty: 'What agents and programs bring waits here as records.',
  },
  {
    room: 'promotions',
    stage: 'production',
    title: 'Promotions',
    href: '/promotions',
    count: { word: 'can be undone', href: '/promotions?state=undoable' },
    waiting: { word: 'approved, to promote', href: '/changes?status=approved&kind=upload' },
    rate: 'promoted',
    oldest: { word: 'oldest approved', href: (number) => `/changes/${number}` },
    empty: 'An approved change is promoted into your tables in one transaction.',
  },
  {
    room: 'units',
    stage: 'production',
    title: 'Units',
    href: '/units',
    count: { word: 'in use', href: '/units?view=list' },
    waiting: { word: 'drafts', href: '/units?status=draft' },
    rate: 'edited',
    oldest: { word: 'oldest draft', href: (id) => `/units/${id}` },
    empty: 'Mark a document: its parts become units with versions.',
  },
  {
    room: 'events',
    stage: 'signals',
    title: 'Events',
    href: '/events',
    rate: 'recorded',
    empty: 'Every change records an event in the same transaction.',
  },
  {
    room: 'consumers',
    stage: 'signals',
    title: 'Consumers',
    href: '/consumers',
    running: { word: 'active', href: '/consumers?state=active' },
    waiting: { word: 'in dry run', href: '/consumers?state=dry_run' },
    oldest: { word: 'longest in dry run', href: (id) => `/consumers/${encodeURIComponent(id)}` },
    empty: 'A consumer makes a job of each event that it matches.',
  },
  {
    room: 'jobs',
    stage: 'signals',
    title: 'Jobs',
    href: '/jobs',
    waiting: { word: 'due', href: '/jobs?status=waiting' },
    running: { word: 'running', href: '/jobs?status=running' },
    rate: 'ended',
    oldest: { word: 'oldest due', href: (id) => `/jobs/${id}` },
    empty: 'Events, schedules and programs enqueue jobs. Workers run them.',
  },
  {
    room: 'executions',
    stage: 'work',
    title: 'Executions',
    href: '/executions',
    running: { word: 'running', href: '/executions?status=RUNNING' },
    waiting: { word: 'paused', href: '/executions?status=PAUSED' },
    rate: 'started',
    oldest: { word: 'runs longest', href: (id) => `/executions/${id}` },
    empty: 'A playbook runs as an execution, with every step logged.',
  },
  {
    room: 'playbooks',
    stage: 'work',
    title: 'Playbooks',
    href: '/playbooks',
    count: { word: 'registered', href: '/playbooks' },
    empty: 'A playbook is a YAML file of steps, loops and waits. Register one.',
  },
  {
    room: 'search',
    stage: 'projections',
    title: 'Search',
    href: '/search',
    waiting: { word: 'to be indexed', href: '/search' },
    running: { word: 'being indexed', href: '/search' },
    rate: 'indexed',
    oldest: { word: 'oldest', href: () => '/search' },
    empty: 'Units and documents are found by words and by meaning once there are some.',
  },
]

type What = RoomFigures['trouble'][number]['what']

/** Where one acts on what is wrong. */
const TROUBLES: Readonly<Record<What, { readonly tone: Tone; readonly href: string }>> = {
  changes_requested: { tone: 'held', href: '/changes?status=changes_requested' },
  invalid_uploads: { tone: 'bad', href: '/uploads?problem=invalid' },
  failed_uploads: { tone: 'bad', href: '/uploads?status=failed' },
  expiring_records: { tone: 'held', href: '/records?status=pending' },
  stale_plans: { tone: 'bad', href: '/uploads?problem=outdated' },
  failed_promotions: { tone: 'bad', href: '/uploads?problem=promotion' },
  deviating_units: { tone: 'bad', href: '/units?check=deviates' },
  drifted_units: { tone: 'stale', href: '/units?check=drifted' },
  failed_dispatches: { tone: 'bad', href: '/consumers' },
  failing_routes: { tone: 'bad', href: '/routes' },
  dry_routes: { tone: 'held', href: '/routes?state=dry_run' },
  dead_letters: { tone: 'bad', href: '/dead-letters' },
  paused_kinds: { tone: 'held', href: '/jobs' },
  failed_executions: { tone: 'bad', href: '/executions?status=FAILED&time=day' },
  late_texts: { tone: 'stale', href: '/search' },
  failed_texts: { tone: 'bad', href: '/search' },
}

export function troubleText({ what, count: found, words }: RoomFigures['trouble'][number]) {
  return { ...TROUBLES[what], text: `${count(found)} ${words}` }
}
