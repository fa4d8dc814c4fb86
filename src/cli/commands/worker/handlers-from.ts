/** What a file of the user's brings: handlers of jobs, of playbooks, or of both. */
import type { PlaybookHandlers } from '../../../executions/tool.ts'
import type { JobHandlers } from '../../../jobs/handlers.ts'

export interface Handlers {
  readonly handlers: JobHandlers
  readonly playbookHandlers: PlaybookHandlers
}

export async function handlersFrom(file: string | undefined): Promise<Handlers> {
  if (file === undefined) return { handlers: {}, playbookHandlers: {} }
  // Loaded here, because most commands need neither.
  const { loadPlaybookHandlers } = await import('../../../executions/handlers-file.ts')
  const { loadHandlers } = await import('../../../jobs/handlers-file.ts')
  return {
    handlers: await loadHandlers(file),
    playbookHandlers: (await loadPlaybookHandlers(file)) ?? {},
  }
}
