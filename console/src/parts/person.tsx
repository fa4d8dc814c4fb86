import { shortId, useNames } from '../people.ts'
import { useSession } from '../session/session.tsx'

/** The database's names of Stagedoor itself. */
const SERVERS: Record<string, string> = {
  stagedoor_worker: 'the server',
  stagedoor_api: 'the server',
  stagedoor_migrator: 'the server',
}

/** Stagedoor itself, or a program that works under a login of it: no person. */
export const isServer = (id: string): boolean => Object.hasOwn(SERVERS, id)

/** Who it was: "you", a name where one is known, else a short id. The whole id is in the title. */
export function Person({ id }: { id: string }) {
  const { me } = useSession()
  const names = useNames()
  return <span title={id}>{id === me.actor ? 'you' : (SERVERS[id] ?? names[id] ?? shortId(id))}</span>
}
