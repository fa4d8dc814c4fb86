import { RoomLinks } from '../parts/room-links.tsx'

const LINKS = [
  ['/jobs', 'Jobs'],
  ['/dead-letters', 'Dead letters'],
  ['/schedules', 'Schedules'],
] as const

export function JobLinks() {
  return <RoomLinks label="Pages of jobs" links={LINKS} />
}
