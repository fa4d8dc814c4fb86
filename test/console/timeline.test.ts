/** The timeline of a change: one click of a person is one line. */
import { expect, it } from 'vitest'
import { timelineOf } from '../../console/src/changes/timeline.ts'

type Entry = Parameters<typeof timelineOf>[0][number]

const entry = (what: string, second: number, detail: Entry['detail'] = {}, actor = 'ann'): Entry => ({
  at: new Date(second * 1000).toISOString(),
  actor,
  what,
  detail,
})
const status = (to: string, second: number, actor?: string) => entry('status', second, { to }, actor)
const lines = (...entries: Entry[]) => timelineOf(entries).map((line) => line.map(({ what }) => what))

it('a plan, its draft and its submission are one line, and reviews that it ended have their own', () => {
  expect(
    lines(
      entry('planned', 0),
      entry('review_dismissed', 0),
      status('draft', 0.1),
      status('open', 0.3),
      entry('asked_again', 0.4),
    ),
  ).toEqual([['planned', 'status', 'status', 'asked_again'], ['review_dismissed']])
})

it('what was done later, by somebody else or in another order is a line of its own', () => {
  expect(
    lines(entry('planned', 0), status('draft', 0.1), status('open', 60), entry('asked_again', 60)),
  ).toEqual([
    ['planned', 'status'],
    ['status', 'asked_again'],
  ])
  expect(lines(entry('planned', 0), status('open', 0, 'ben'))).toEqual([['planned'], ['status']])
  expect(lines(status('open', 0), entry('planned', 1), status('draft', 1), entry('planned', 2))).toEqual([
    ['status'],
    ['planned', 'status'],
    ['planned'],
  ])
  expect(lines(entry('planned', 0), entry('reviewed', 0.1), status('open', 0.2))).toEqual([
    ['planned'],
    ['reviewed'],
    ['status'],
  ])
})
