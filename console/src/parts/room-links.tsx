import { usePath } from '../route.ts'
import './room-links.css'

interface Props {
  /** Names the links, for those who listen. */
  readonly label: string
  readonly links: readonly (readonly [href: string, title: string])[]
  /** The page that is open, where its address is not in the links. */
  readonly current?: string | undefined
}

/** The pages of one room, below its title. */
export function RoomLinks({ label, links, current }: Props) {
  const path = usePath()
  return (
    <nav className="room-links" aria-label={label}>
      {links.map(([href, title]) => (
        <a key={href} href={href} aria-current={(current ?? path) === href ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </nav>
  )
}
