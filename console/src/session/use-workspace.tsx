import { Choice } from '../parts/choice.tsx'
import { useParameter } from '../route.ts'
import { useSession } from './session.tsx'

/** The workspace that a page is about: the one in the address, else the first. Empty for a token without any. */
export function useWorkspace(): {
  readonly id: string
  readonly name: string
  readonly rights: readonly string[]
} {
  const { me } = useSession()
  const [asked] = useParameter('workspace')
  const found = me.workspaces.find(({ id }) => id === asked) ?? me.workspaces[0]
  return found === undefined
    ? { id: '', name: 'no workspace', rights: [] }
    : { id: found.id, name: found.name ?? found.id, rights: found.rights }
}

/** Stands only where there is a choice. */
export function WorkspaceChoice() {
  const { me } = useSession()
  const { id } = useWorkspace()
  const [, choose] = useParameter('workspace')
  if (me.workspaces.length < 2) return null
  return (
    <Choice
      label="Workspace"
      value={id}
      options={me.workspaces.map((one) => [one.id, one.name ?? one.id])}
      choose={choose}
    />
  )
}
