import { createContext, type ReactNode, useContext } from 'react'
import type { Api } from '../api/client.ts'
import { NoAnswer } from '../api/failure.ts'
import type { Ready } from '../api/types.ts'
import { type Polled, usePolled } from './use-polled.ts'

interface SystemFacts {
  readonly version: string
  readonly ready: Ready
}

export interface System extends Polled<SystemFacts> {
  /** True while nothing answers: then everything on the page is from before. */
  readonly lost: boolean
}

const SystemContext = createContext<System | undefined>(undefined)

export function useSystem(): System {
  const system = useContext(SystemContext)
  if (system === undefined) throw new Error('useSystem is used outside of SystemProvider')
  return system
}

/** The state of the server, read once for the frame and for every page. */
export function SystemProvider({ children }: { children: ReactNode }) {
  const polled = usePolled(readSystem)
  return (
    <SystemContext value={{ ...polled, lost: polled.failure instanceof NoAnswer }}>{children}</SystemContext>
  )
}

async function readSystem(api: Api): Promise<SystemFacts> {
  const [health, ready] = await Promise.all([api.health(), api.ready()])
  return { version: health.version, ready }
}
