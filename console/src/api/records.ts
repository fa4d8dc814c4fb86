import { learnNames } from '../people.ts'
import { downloadFile } from './download.ts'
import { query } from './query.ts'
import { type Request, readText } from './request.ts'
import type { Approval, Marking, RecordedEvent, StagingRecord, StagingRecords } from './types.ts'

/** Staging records, which wait for the decision of a person. */
export interface RecordsApi {
  /** Pending records of every kind that needs approval; without those that are decided with an upload. */
  undecided(page: { limit: number; after?: string }): Promise<StagingRecords>
  list(asked: {
    limit: number
    after?: string | undefined
    status?: string | undefined
    kind?: string | undefined
    owner?: string | undefined
  }): Promise<StagingRecords>
  find(id: string): Promise<StagingRecord>
  /** The beginning of a part, as text. */
  partText(id: string, index: number, bytes: number): Promise<string>
  downloadPart(id: string, index: number, name: string): Promise<void>
  /** Of a record of kind mark_manifest: its pieces with their text. */
  marking(id: string): Promise<Marking>
  tick(id: string, item: string, ticked: boolean): Promise<unknown>
  approve(id: string, digest: string): Promise<StagingRecord>
  /** Of a record of the kind approval: what a program asks for, and what came of it. */
  approval(id: string): Promise<Approval>
  /** With the answers to its form. */
  approveRequest(id: string, digest: string, answers: object): Promise<Approval>
  reject(id: string, reason: string): Promise<StagingRecord>
  withdraw(id: string): Promise<StagingRecord>
  history(id: string): Promise<{ events: RecordedEvent[] }>
}

export function createRecordsApi(request: Request, token: string | undefined): RecordsApi {
  const post = <T>(id: string, action: string, body?: object) =>
    request<T>(`/staging/${id}/${action}`, { method: 'POST', ...(body && { body }) })
  const list = async (asked: object) => {
    const page = await request<StagingRecords>(`/staging?${query(asked)}`)
    learnNames(page.people)
    return page
  }
  return {
    undecided: (page) => list({ ...page, undecided: true }),
    list,
    find: (id) => request(`/staging/${id}`),
    partText: (id, index, bytes) =>
      readText(`/staging/${id}/parts/${index}`, token, { range: `bytes=0-${bytes - 1}` }),
    downloadPart: (id, index, name) => downloadFile(`/staging/${id}/parts/${index}`, token, name),
    marking: (id) => request(`/marks/${id}`),
    tick: (id, item, ticked) => post(id, 'tick', { item_id: item, ticked }),
    approve: (id, digest) => post(id, 'approve', { digest }),
    approval: (id) => request(`/approvals/${id}`),
    approveRequest: (id, digest, answers) =>
      request(`/approvals/${id}/approve`, { method: 'POST', body: { digest, answers } }),
    reject: (id, reason) => post(id, 'reject', { reason }),
    withdraw: (id) => post(id, 'withdraw'),
    history: (id) => request(`/staging/${id}/history`),
  }
}
