/**
 * What the life of units must be, said a second time and as plainly as possible: units in memory, one function for each
 * operation that changes them or throws the SQLSTATE with which the database must refuse. No SQL here.
 */
import { sha256 } from './life.ts'

export const NAMES = ['otto', 'ada', 'vera', 'bot', 'mallory', 'importer'] as const
export type Name = (typeof NAMES)[number]
/** The database role that each acts under, and what it may do in the workspace. mallory is a reviewer of another one. */
const WHO: Record<Name, { role: string; rights: readonly string[]; sees: boolean }> = {
  otto: { role: 'authenticated', rights: ['operate'], sees: true },
  ada: { role: 'stagedoor_reviewer', rights: ['operate', 'review'], sees: true },
  vera: { role: 'authenticated', rights: [], sees: true },
  bot: { role: 'stagedoor_agent', rights: [], sees: true },
  mallory: { role: 'stagedoor_reviewer', rights: [], sees: false },
  importer: { role: 'service_role', rights: ['operate', 'review'], sees: true },
}

export const TOPICS = ['leave', 'safety', 'fax'] as const
/** fax is retired, pets is not in the vocabulary. */
const KNOWN_TOPICS = ['leave', 'safety']

export type Profile = Record<string, unknown>
export interface Version {
  no: number
  title: string
  body: string
  by: string
}
export interface Edge {
  id: string
  type: string
  target: string
  to: string | null
}
export interface Outbox {
  operation: 'upsert' | 'patch' | 'delete'
  hash: string | null
  generation: number
  status: 'pending' | 'processing' | 'done' | 'dead_letter'
}
export interface ModelUnit {
  id: string
  address: string
  kind: string
  status: 'draft' | 'enacted' | 'superseded' | 'retired'
  deleted: boolean
  apr: string | null
  supersededBy: string | null
  versions: Version[]
  profile: Profile
  edges: Edge[]
  outbox: Outbox
  events: unknown[][]
  log: unknown[][]
}

/** The service decides nothing: what it carries out is ada's decision. */
export const deciderOf = (by: Name): Name => (by === 'importer' ? 'ada' : by)

export class Refused extends Error {}
const refuse = (state: string): never => {
  throw new Refused(state)
}

export const current = (unit: ModelUnit): Version => unit.versions.at(-1)!

/** The first heading, else the first line. */
const titleOf = (body: string) => /^#+ +(.*)$/m.exec(body)?.[1] ?? body.trim().split('\n')[0]!

export class UnitModel {
  readonly units: ModelUnit[] = []
  readonly #actors: Record<Name, string>

  constructor(actors: Record<Name, string>) {
    this.#actors = actors
  }

  /** Whoever may: the unit, as the right demands it. */
  #open(
    by: Name,
    unit: ModelUnit | undefined,
    right: 'operate' | 'review',
    forReviewersOnly = false,
  ): ModelUnit {
    const { role, rights, sees } = WHO[by]
    if (role === 'stagedoor_agent' || (forReviewersOnly && role === 'authenticated')) refuse('42501')
    if (!unit || !sees) return refuse('SD901')
    if (!rights.includes(right)) refuse('SD202')
    return unit
  }

  #tell(unit: ModelUnit, by: Name, type: string, payload: object, stream: string | null = null): void {
    unit.events.push([type, stream, this.#actors[by], payload])
  }

  #enqueue(unit: ModelUnit, operation: Outbox['operation']): void {
    const { outbox } = unit
    // What is not done yet is not forgotten for a patch.
    if (operation !== 'patch' || outbox.status === 'done') outbox.operation = operation
    outbox.hash = outbox.operation === 'delete' ? null : sha256(current(unit).body)
    outbox.generation++
    if (outbox.status !== 'processing') outbox.status = 'pending'
  }

  #become(unit: ModelUnit, by: Name, to: string, apr: string | null = null): void {
    const from = unit.deleted && to !== 'deleted' ? 'deleted' : unit.status
    unit.log.push([from, to, apr, this.#actors[by]])
    const payload = {
      ...{ unit_id: unit.id, from_status: from, to_status: to, version_no: unit.versions.length },
      ...(apr && { apr_ref: apr }),
    }
    this.#tell(unit, by, 'iu.unit_lifecycle_changed', payload)
    if (to === 'retired' && from !== 'deleted') this.#tell(unit, by, 'piece.piece_deprecated', payload)
  }

  #topics(before: unknown, after: unknown): void {
    for (const topic of (after as string[] | undefined) ?? [])
      if (!KNOWN_TOPICS.includes(topic) && !((before as string[]) ?? []).includes(topic)) refuse('SD907')
  }

  create(by: Name, id: string, address: string, body: string, profile: Profile): void {
    const { role, rights, sees } = WHO[by]
    if (role === 'stagedoor_agent') refuse('42501')
    if (!sees) refuse('SD201')
    if (!rights.includes('operate')) refuse('SD202')
    if (!body.trim()) refuse('SD912')
    if ('title' in profile) refuse('SD911')
    this.#topics(undefined, profile.topic_labels)
    if (this.units.some((unit) => unit.address === address)) refuse('SD904')
    const unit: ModelUnit = {
      ...{
        id,
        address,
        kind: 'note',
        status: 'draft',
        deleted: false,
        apr: null,
        supersededBy: null,
        profile,
      },
      ...{
        versions: [{ no: 1, title: titleOf(body), body, by: this.#actors[by] }],
        edges: [],
        events: [],
        log: [],
      },
      outbox: { operation: 'upsert', hash: sha256(body), generation: 1, status: 'pending' },
    }
    const payload = { unit_id: id, unit_kind: 'note', version_no: 1, content_hash: sha256(body) }
    this.#tell(unit, by, 'birth_registry.entity_born', payload, 'note')
    this.units.push(unit)
  }

  edit(
    by: Name,
    on: ModelUnit | undefined,
    version: number,
    body: string | null,
    title: string | null,
  ): void {
    this.#write(by, this.#editable(by, on, version), body, title)
  }

  slice(by: Name, on: ModelUnit | undefined, version: number, from: number, to: number, text: string): void {
    const unit = this.#editable(by, on, version)
    const letters = [...current(unit).body]
    if (from < 0 || to < from || to > letters.length) refuse('SD906')
    this.#write(by, unit, [...letters.slice(0, from), text, ...letters.slice(to)].join(''), null)
  }

  #editable(by: Name, on: ModelUnit | undefined, version: number): ModelUnit {
    const unit = this.#open(by, on, 'operate')
    if (unit.status !== 'draft' || unit.deleted) refuse('SD903')
    if (version !== unit.versions.length) refuse('SD902')
    return unit
  }

  #write(by: Name, unit: ModelUnit, body: string | null, title: string | null): void {
    if (body !== null && !body.trim()) refuse('SD912')
    if (title !== null && !title.trim()) refuse('SD001')
    const old = current(unit)
    const next = { no: old.no + 1, title: title ?? old.title, body: body ?? old.body, by: this.#actors[by] }
    if (next.title === old.title && next.body === old.body) return
    unit.versions.push(next)
    if (next.title !== old.title) this.#enqueue(unit, 'patch')
    if (next.body !== old.body) this.#enqueue(unit, 'upsert')
    const hashes = { content_hash: sha256(next.body), previous_hash: sha256(old.body) }
    this.#tell(unit, by, 'iu.unit_versioned', { unit_id: unit.id, version_no: next.no, ...hashes })
  }

  /** Draft or enacted: what is known about a unit still changes. */
  #alive(unit: ModelUnit): void {
    if (!['draft', 'enacted'].includes(unit.status) || unit.deleted) refuse('SD903')
  }

  profile(by: Name, on: ModelUnit | undefined, patch: Profile): void {
    const unit = this.#open(by, on, 'operate')
    if ('title' in patch) refuse('SD911')
    this.#alive(unit)
    const merged = Object.fromEntries(
      Object.entries({ ...unit.profile, ...patch }).filter(([, value]) => value !== null),
    )
    const same = (key: string) => JSON.stringify(merged[key]) === JSON.stringify(unit.profile[key])
    const keys = Object.keys(patch).filter((key) => !same(key))
    if (keys.length === 0) return
    this.#topics(unit.profile.topic_labels, merged.topic_labels)
    unit.profile = merged
    this.#tell(unit, by, 'iu.unit_profile_changed', { unit_id: unit.id, keys: keys.sort() })
  }

  changeKind(by: Name, on: ModelUnit | undefined, kind: string, apr: string): void {
    const unit = this.#open(by, on, 'review', true)
    this.#alive(unit)
    if (unit.kind === kind) return
    if (unit.apr === apr) refuse('SD910')
    this.#tell(unit, deciderOf(by), 'iu.unit_profile_changed', {
      unit_id: unit.id,
      keys: ['unit_kind'],
      from_kind: unit.kind,
      to_kind: kind,
      apr_ref: apr,
    })
    unit.log.push([unit.status, unit.status, apr, this.#actors[deciderOf(by)]])
    unit.kind = kind
    unit.apr = apr
  }

  edge(by: Name, on: ModelUnit | undefined, type: string, target: string): Edge {
    const unit = this.#open(by, on, 'operate')
    this.#alive(unit)
    const named = this.units.find((one) => one.address === target && !one.deleted && one.status !== 'retired')
    if (named === unit) refuse('SD001')
    const old = unit.edges.find((edge) => edge.type === type && edge.target === target)
    const edge = old ?? { id: '', type, target, to: null }
    edge.to = named?.id ?? null
    if (!old) {
      unit.edges.push(edge)
      this.#tell(unit, by, 'iu.edge_added', { edge_type: type })
    }
    return edge
  }

  deleteEdge(by: Name, on: ModelUnit | undefined): void {
    const { role, rights, sees } = WHO[by]
    if (role === 'stagedoor_agent') refuse('42501')
    const edge = on?.edges[0]
    if (!on || !edge || !sees) throw new Refused('SD913')
    if (!rights.includes('operate')) refuse('SD202')
    this.#alive(on)
    on.edges.shift()
    this.#tell(on, by, 'iu.edge_removed', { edge_type: edge.type })
  }

  enact(by: Name, on: ModelUnit | undefined, version: number, apr: string): void {
    const unit = this.#open(by, on, 'review', true)
    if (unit.status !== 'draft' || unit.deleted) refuse('SD905')
    if (version !== unit.versions.length) refuse('SD902')
    this.#become(unit, deciderOf(by), 'enacted', apr)
    unit.status = 'enacted'
    unit.apr = apr
    this.#enqueue(unit, 'patch')
  }

  supersede(by: Name, on: ModelUnit | undefined, successor: ModelUnit | undefined, apr: string): void {
    const unit = this.#open(by, on, 'review', true)
    if (unit === successor) refuse('SD001')
    if (!successor) throw new Refused('SD901')
    for (const one of [unit, successor]) if (one.status !== 'enacted' || one.deleted) refuse('SD905')
    this.#become(unit, deciderOf(by), 'superseded', apr)
    unit.status = 'superseded'
    unit.apr = apr
    unit.supersededBy = successor.id
    this.#enqueue(unit, 'patch')
  }

  retire(by: Name, on: ModelUnit | undefined): void {
    const unit = this.#open(by, on, 'review', true)
    if (!['draft', 'enacted'].includes(unit.status) || unit.deleted) refuse('SD905')
    this.#become(unit, by, 'retired')
    unit.status = 'retired'
    this.#enqueue(unit, 'patch')
  }

  delete(by: Name, on: ModelUnit | undefined): void {
    const unit = this.#deletable(by, on)
    if (unit.deleted) refuse('SD905')
    this.#become(unit, by, 'deleted')
    unit.deleted = true
    this.#enqueue(unit, 'delete')
  }

  restore(by: Name, on: ModelUnit | undefined): void {
    const unit = this.#deletable(by, on)
    if (!unit.deleted) refuse('SD905')
    this.#become(unit, by, unit.status)
    unit.deleted = false
    this.#enqueue(unit, 'upsert')
  }

  /** Whoever writes deletes drafts; what was decided about is of those who decide. */
  #deletable(by: Name, on: ModelUnit | undefined): ModelUnit {
    const unit = this.#open(by, on, 'operate')
    if (unit.status !== 'draft' && !WHO[by].rights.includes('review')) refuse('SD202')
    return unit
  }
}
