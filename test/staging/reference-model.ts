/**
 * What the staging zone must do, said a second time and as plainly as possible: records in memory, one function for
 * each operation that changes them or gives the SQLSTATE with which the database must refuse. No SQL here.
 */

export const NAMES = ['ada', 'grace', 'otto', 'vera', 'bot', 'mallory', 'importer', 'worker'] as const
export type Name = (typeof NAMES)[number]
/** The database role that each acts under, and what it may do in the workspace. */
const WHO: Record<Name, { role: string; rights: readonly string[] }> = {
  ada: { role: 'stagedoor_reviewer', rights: ['stage', 'operate', 'review'] },
  // An administrator.
  grace: { role: 'stagedoor_reviewer', rights: ['stage', 'operate', 'review', 'administer'] },
  otto: { role: 'authenticated', rights: ['stage', 'operate'] },
  vera: { role: 'authenticated', rights: [] },
  bot: { role: 'stagedoor_agent', rights: ['stage'] },
  // A reviewer of another workspace.
  mallory: { role: 'stagedoor_reviewer', rights: [] },
  importer: { role: 'service_role', rights: ['stage', 'operate', 'review', 'administer'] },
  worker: { role: 'dot_executor', rights: ['stage', 'operate', 'review', 'administer'] },
}

const SERVICES = ['service_role', 'dot_executor']
const MAY_EXECUTE = {
  create: [...SERVICES, 'authenticated', 'stagedoor_agent', 'stagedoor_reviewer'],
  withdraw: [...SERVICES, 'authenticated', 'stagedoor_agent', 'stagedoor_reviewer'],
  consume: [...SERVICES, 'authenticated', 'stagedoor_reviewer'],
  approve: [...SERVICES, 'stagedoor_reviewer'],
  reject: [...SERVICES, 'stagedoor_reviewer'],
  tick: [...SERVICES, 'stagedoor_reviewer'],
  unregister: [...SERVICES, 'stagedoor_reviewer'],
  expire: SERVICES,
  cleanup: SERVICES,
}
export type Operation = keyof typeof MAY_EXECUTE

export const KINDS = {
  mark_manifest: { type: 'mark_report', approval: true, fourEyes: true, checklist: false },
  review_package: { type: 'review_bundle', approval: true, fourEyes: true, checklist: true },
  agent_intermediate: { type: 'nosql_payload', approval: false, fourEyes: false, checklist: false },
} as const
export type Kind = keyof typeof KINDS
/** Every record of the model has a checklist with these items, both required. */
export const ITEMS = ['sources', 'totals'] as const

export type RunName = 'running' | 'ended' | 'unknown' | 'elsewhere'

export interface ModelRecord {
  id: string
  kind: Kind
  key: string | undefined
  content: number
  owner: string
  ownerVia: string | null
  status: 'pending' | 'approved' | 'consumed' | 'rejected' | 'expired' | 'cleaned'
  approvedBy: string | null
  approvedVia: string | null
  rejectedBy: string | null
  rejectedReason: string | null
  consumed: boolean
  expired: boolean
  parts: number
  ticks: Record<string, string>
  overdue: boolean
  retentionPassed: boolean
  tampered: boolean
}

export interface ModelEvent {
  type: string
  record: string
  actor: string
  via: string | null
}

class Refused extends Error {
  readonly sqlstate: string
  constructor(sqlstate: string) {
    super(sqlstate)
    this.sqlstate = sqlstate
  }
}
const refuse = (sqlstate: string): never => {
  throw new Refused(sqlstate)
}

export class StagingModel {
  records: ModelRecord[] = []
  readonly events: ModelEvent[] = []
  readonly gates = { writes: true, cleanup: true }
  /** Name → the actor as the database writes it. */
  readonly #actors: Record<Name, string>

  constructor(actors: Record<Name, string>) {
    this.#actors = actors
  }

  /** The SQLSTATE of a refusal, or what the operation answers. */
  attempt<T>(work: () => T): T | string {
    try {
      return work()
    } catch (error) {
      if (error instanceof Refused) return error.sqlstate
      throw error
    }
  }

  /** Answers the record that exists, or undefined: a new one, which the caller then adds under the database's id. */
  create(by: Name, what: { kind: Kind; key: string | undefined; content: number; owner: Name | undefined }) {
    this.#mayExecute(by, 'create')
    if (by === 'mallory') refuse('SD201')
    this.#right(by, 'stage')
    this.#gate('writes')
    this.#actAs(by, what.owner)
    const existing = this.records.find((record) => what.key !== undefined && record.key === what.key)
    if (existing && (existing.kind !== what.kind || existing.content !== what.content)) refuse('SD505')
    return existing
  }

  add(
    by: Name,
    id: string,
    what: { kind: Kind; key: string | undefined; content: number; owner: Name | undefined },
  ) {
    const { actor, via } = this.#actAs(by, what.owner)
    this.records.push({
      id,
      kind: what.kind,
      key: what.key,
      content: what.content,
      owner: actor,
      ownerVia: via,
      status: 'pending',
      approvedBy: null,
      approvedVia: null,
      rejectedBy: null,
      rejectedReason: null,
      consumed: false,
      expired: false,
      parts: 2,
      ticks: {},
      overdue: false,
      retentionPassed: false,
      tampered: false,
    })
    this.#emit('record_created', id, actor, via)
  }

  approve(by: Name, id: string, sees: 'right' | 'wrong', as: Name | undefined): void {
    this.#enter(by, 'approve', id, 'review')
    const { actor, via } = this.#actAs(by, as)
    const record = this.#open(id, 'approved')
    if (sees === 'wrong') refuse('SD504')
    if (record.tampered) refuse('SD514')
    const policy = KINDS[record.kind]
    const owners = [record.owner, record.ownerVia]
    const own = owners.includes(actor) || (via !== null && owners.includes(via))
    if (policy.fourEyes && own) refuse('SD508')
    if (policy.checklist && !ITEMS.every((item) => item in record.ticks)) refuse('SD509')
    Object.assign(record, { status: 'approved', approvedBy: actor, approvedVia: via })
    this.#emit('record_approved', id, actor, via)
  }

  reject(by: Name, id: string, reason: string): void {
    this.#enter(by, 'reject', id, 'review')
    if (reason.trim() === '') refuse('SD001')
    this.#end(this.#open(id, 'rejected'), by, reason)
  }

  withdraw(by: Name, id: string): void {
    this.#enter(by, 'withdraw', id, 'stage')
    if (this.find(id)?.owner !== this.#actors[by]) refuse('SD511')
    this.#end(this.#open(id, 'withdrawn'), by, 'withdrawn')
  }

  tick(by: Name, id: string, item: string, ticked: boolean): void {
    this.#enter(by, 'tick', id, 'review')
    const record = this.#open(id, 'ticked')
    const own = [record.owner, record.ownerVia].includes(this.#actors[by])
    if (KINDS[record.kind].fourEyes && own) refuse('SD508')
    if (!ITEMS.some((known) => known === item)) refuse('SD001')
    if (ticked) record.ticks[item] ??= this.#actors[by]
    else delete record.ticks[item]
  }

  consume(by: Name, id: string, run: RunName, sees: 'right' | 'wrong' | undefined): void {
    this.#enter(by, 'consume', id, 'operate')
    const service = SERVICES.includes(WHO[by].role)
    if (run !== 'running' && !(run === 'elsewhere' && service)) refuse('SD401')
    const record = this.#open(id, 'consumed')
    if (sees === 'wrong') refuse('SD504')
    if (record.tampered) refuse('SD514')
    Object.assign(record, { status: 'consumed', consumed: true })
    this.#emit('record_consumed', id, this.#actors[by], null)
  }

  unregister(by: Name, id: string): void {
    this.#enter(by, 'unregister', id, 'administer')
    const record = this.find(id) as ModelRecord
    if (record.approvedBy !== null || record.consumed) refuse('SD512')
    this.records = this.records.filter((other) => other !== record)
    this.#emit('record_unregistered', id, this.#actors[by], null)
  }

  expire(by: Name): number {
    this.#mayExecute(by, 'expire')
    this.#gate('cleanup')
    const due = this.records.filter((r) => (r.status === 'pending' || r.status === 'approved') && r.overdue)
    for (const record of due) {
      Object.assign(record, { status: 'expired', expired: true })
      this.#emit('record_expired', record.id, this.#actors[by], null)
    }
    return due.length
  }

  cleanup(by: Name, dryRun: boolean): number {
    this.#mayExecute(by, 'cleanup')
    this.#gate('cleanup')
    const ended = ['consumed', 'rejected', 'expired']
    const due = this.records.filter((record) => ended.includes(record.status) && record.retentionPassed)
    for (const record of dryRun ? [] : due) {
      Object.assign(record, { status: 'cleaned', parts: 0 })
      this.#emit('record_cleaned', record.id, this.#actors[by], null)
    }
    return due.length
  }

  find(id: string): ModelRecord | undefined {
    return this.records.find((record) => record.id === id)
  }

  #mayExecute(by: Name, operation: Operation): void {
    if (!MAY_EXECUTE[operation].includes(WHO[by].role)) refuse('42501')
  }

  #right(by: Name, right: string | undefined): void {
    if (right !== undefined && !WHO[by].rights.includes(right)) refuse('SD202')
  }

  #gate(gate: 'writes' | 'cleanup'): void {
    if (!this.gates[gate]) refuse('SD101')
  }

  /** The doors in their order: privilege, sight of the record, right, gate. */
  #enter(by: Name, operation: Operation, id: string, right: string | undefined): void {
    this.#mayExecute(by, operation)
    if (!this.find(id) || by === 'mallory') refuse('SD501')
    this.#right(by, right)
    this.#gate('writes')
  }

  #actAs(by: Name, named: Name | undefined): { actor: string; via: string | null } {
    if (named === undefined || named === by) return { actor: this.#actors[by], via: null }
    if (WHO[by].role !== 'service_role') refuse('SD203')
    return { actor: this.#actors[named], via: this.#actors[by] }
  }

  /** The record if it may still become what is wanted. */
  #open(id: string, wanted: string): ModelRecord {
    const record = this.find(id) as ModelRecord
    const decided = record.status !== 'pending' && !(wanted === 'consumed' && record.status === 'approved')
    const undecided = record.status === 'pending' || record.status === 'approved'
    if (record.status === 'expired' || (undecided && record.overdue)) refuse('SD503')
    if (decided) refuse('SD502')
    if (wanted === 'consumed' && record.status === 'pending' && KINDS[record.kind].approval) refuse('SD510')
    return record
  }

  #end(record: ModelRecord, by: Name, reason: string): void {
    const actor = this.#actors[by]
    Object.assign(record, { status: 'rejected', rejectedBy: actor, rejectedReason: reason })
    this.#emit('record_rejected', record.id, actor, null)
  }

  #emit(type: string, record: string, actor: string, via: string | null): void {
    this.events.push({ type, record, actor, via })
  }
}
