import { query } from './query.ts'
import type { Request } from './request.ts'
import type { Playbook, PlaybookCheck, PlaybookDetail, PlaybookDiff, Playbooks } from './types.ts'

/** Playbooks in the catalogue. Registering and switching need a token of service_role. */
export interface PlaybooksApi {
  list(page: { limit: number; after?: string | undefined }): Promise<Playbooks>
  find(name: string, version?: number): Promise<PlaybookDetail>
  versions(
    name: string,
    page: { limit: number; before?: string | undefined },
  ): Promise<{ versions: Playbook[]; next: number | null }>
  diff(name: string, from: number, to: number): Promise<PlaybookDiff>
  check(text: string): Promise<PlaybookCheck>
  register(text: string, openToMembers: boolean): Promise<Playbook>
  enable(name: string): Promise<Playbook>
  disable(name: string): Promise<Playbook>
}

export function createPlaybooksApi(request: Request): PlaybooksApi {
  const post = <T>(path: string, body?: object) =>
    request<T>(`/playbooks${path}`, { method: 'POST', ...(body && { body }) })
  return {
    list: (page) => request(`/playbooks?${query(page)}`),
    find: (name, version) => request(`/playbooks/${name}?${query({ version })}`),
    versions: (name, page) => request(`/playbooks/${name}/versions?${query(page)}`),
    diff: (name, from, to) => request(`/playbooks/${name}/diff?${query({ from, to })}`),
    check: (text) => post('/check', { text }),
    register: (text, openToMembers) => post('', { text, open_to_members: openToMembers }),
    enable: (name) => post(`/${name}/enable`),
    disable: (name) => post(`/${name}/disable`),
  }
}
