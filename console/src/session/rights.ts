import type { Me } from '../api/types.ts'

export type Right = 'read' | 'stage' | 'operate' | 'review' | 'administer'

/** Whether somebody has the right in some workspace. The server decides in any case; this only says which buttons make sense. */
export function mayAnywhere(me: Me, right: Right): boolean {
  return me.role === 'service_role' || me.workspaces.some(({ rights }) => rights.includes(right))
}

/** What all workspaces share is changed by whoever has the right in every one of them. */
export function mayEverywhere(me: Me, right: Right): boolean {
  if (me.role === 'service_role') return true
  return me.workspaces.length > 0 && me.workspaces.every(({ rights }) => rights.includes(right))
}
