import type { Me } from '../api/types.ts'
import { InboxCount } from '../inbox/inbox-count.tsx'
import { type System, useSystem } from '../live/system.tsx'
import { Chip } from '../parts/chip.tsx'
import { counted } from '../parts/format.ts'
import { useSession } from '../session/session.tsx'
import { Keys } from './keys.tsx'

export function TopBar() {
  const { me, signOut } = useSession()
  return (
    <header className="top">
      <Keys />
      <span className="top-workspace">{workspaceName(me)}</span>
      <span role="status">
        <StateChip system={useSystem()} />
      </span>
      <InboxCount />
      <span className="top-who" title={`Signed in as ${me.actor}`}>
        <span className="top-actor">{me.name ?? me.actor}</span>{' '}
        <span className="top-role">{roleName(me)}</span>
      </span>
      <button type="button" className="button is-small" onClick={() => signOut()}>
        Sign out
      </button>
    </header>
  )
}

function StateChip({ system }: { system: System }) {
  if (system.lost) return <Chip tone="bad">connection lost</Chip>
  if (system.failure !== undefined) return <Chip tone="bad">health unknown</Chip>
  if (system.data === undefined) return <Chip tone="stale">loading…</Chip>
  const failing = system.data.ready.checks.filter((check) => !check.ok).length
  if (system.data.ready.status === 'ready') return <Chip tone="ok">ready</Chip>
  return (
    <Chip tone="bad">{failing === 0 ? 'not ready' : `not ready: ${counted(failing, 'check')} failing`}</Chip>
  )
}

function workspaceName(me: Me): string {
  const [first, ...others] = me.workspaces
  if (first === undefined) return 'No workspace'
  const name = first.name ?? first.id
  return others.length === 0 ? name : `${name} and ${others.length} more`
}

/** The role in the workspaces. The token’s own role is a name of the database, so it is not shown. */
function roleName(me: Me): string {
  const roles = new Set(me.workspaces.map((workspace) => workspace.role))
  return roles.size === 0 ? 'no workspace' : [...roles].join(', ')
}
