import type { Me } from '../api/types.ts'
import { Choice } from '../parts/choice.tsx'
import { useParameter } from '../route.ts'
import { useSession } from '../session/session.tsx'

type Membership = Me['workspaces'][number]

/** The workspace whose settings are shown: the one in the address, else the first that one administers, else the first. */
export function useWorkspace(): {
  readonly workspace: Membership | undefined
  readonly administers: boolean
  choose(id: string): void
} {
  const { me } = useSession()
  const [named, choose] = useParameter('workspace')
  const administers = (one: Membership) => one.rights.includes('administer')
  const workspace =
    me.workspaces.find(({ id }) => id === named) ?? me.workspaces.find(administers) ?? me.workspaces[0]
  return { workspace, administers: workspace !== undefined && administers(workspace), choose }
}

/** Only for those who have several. */
export function WorkspaceChoice({ value, choose }: { value: string; choose(id: string): void }) {
  const { me } = useSession()
  if (me.workspaces.length < 2) return null
  return (
    <Choice
      label="Workspace"
      value={value}
      options={me.workspaces.map(({ id, name }) => [id, name ?? id])}
      choose={choose}
    />
  )
}
