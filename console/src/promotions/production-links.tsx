import { RoomLinks } from '../parts/room-links.tsx'

const LINKS = [
  ['/promotions', 'Promotions'],
  ['/rows', 'Where a row comes from'],
] as const

export function ProductionLinks() {
  return <RoomLinks label="Pages of production" links={LINKS} />
}
