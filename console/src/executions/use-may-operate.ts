import { useSession } from '../session/session.tsx'

/** Whether the caller may start and control executions: in this workspace, or in any where none is named. */
export function useMayOperate(workspace?: string | null): boolean {
  const { me } = useSession()
  if (me.role === 'service_role') return true
  return me.workspaces.some(
    ({ id, rights }) => rights.includes('operate') && (workspace === undefined || workspace === id),
  )
}
