import { useParameter } from '../route.ts'
import { useSession } from '../session/session.tsx'
import { Choice } from './choice.tsx'

interface ChosenWorkspace {
  readonly id: string | undefined
  readonly rights: readonly string[]
}

/** The workspace that the page is about: the one that the address names, or the first. */
export function useWorkspace(): ChosenWorkspace {
  const { me } = useSession()
  const [asked] = useParameter('workspace')
  const chosen = me.workspaces.find(({ id }) => id === asked) ?? me.workspaces[0]
  return { id: chosen?.id, rights: chosen?.rights ?? [] }
}

/** Only for those who have several. */
export function WorkspaceChoice() {
  const { me } = useSession()
  const { id } = useWorkspace()
  const [, choose] = useParameter('workspace')
  if (me.workspaces.length < 2) return null
  return (
    <Choice
      label="Workspace"
      value={id ?? ''}
      options={me.workspaces.map((workspace) => [workspace.id, workspace.name ?? workspace.id])}
      choose={choose}
    />
  )
}
