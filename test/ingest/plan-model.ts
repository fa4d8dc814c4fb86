/** What an upload should make of production, worked out in TypeScript from the declaration's words alone. */
import { randomUUID } from 'node:crypto'
import { identities, type StagedLine, TRIAL } from '../support/ingest-rows.ts'

export interface Group {
  id: string
  client: string
  code: string
  name: string | null
}
export interface Item {
  id: string
  group: Group
  code: string
  name: string | null
}
export interface Figure {
  id: string
  group: Group
  item: Item | null
  day: string
  /** Hundredths. */
  amount: number | null
  units: number | null
  note: string | null
  flag: boolean | null
}
export interface Production {
  groups: Group[]
  items: Item[]
  figures: Figure[]
}

export type Duplicates = 'refuse' | 'last' | 'sum'

/** A production row as it was generated: names of its parents included. */
export interface Seed {
  client: number
  group: string
  groupName: string | null
  item: string | null
  itemName: string | null
  day: string
  amount: number | null
  units: number | null
  note: string | null
  flag: boolean | null
}

export function productionOf(seeds: readonly Seed[], clients: readonly string[]): Production {
  const state: Production = { groups: [], items: [], figures: [] }
  for (const seed of seeds) {
    const client = clients[seed.client]!
    const group =
      state.groups.find((one) => one.client === client && one.code === seed.group) ??
      added(state.groups, { id: randomUUID(), client, code: seed.group, name: seed.groupName })
    const item =
      seed.item === null
        ? null
        : (state.items.find((one) => one.group === group && one.code === seed.item) ??
          added(state.items, { id: randomUUID(), group, code: seed.item, name: seed.itemName }))
    if (state.figures.some((one) => one.group === group && one.item === item && one.day === seed.day))
      continue
    const { day, units, note, flag } = seed
    const amount = seed.amount === null ? null : rounded(seed.amount)
    state.figures.push({ id: randomUUID(), group, item, day, amount, units, note, flag })
  }
  return state
}

function added<T>(list: T[], one: T): T {
  list.push(one)
  return one
}

/** Thousandths to hundredths, halves away from zero, as numeric(12, 2) does. */
export function rounded(thousandths: number): number {
  return Math.sign(thousandths) * Math.round(Math.abs(thousandths) / 10) || 0
}

/** Lines hold amounts in thousandths here; the file has them divided. */
export function fileLine(line: StagedLine): StagedLine {
  if (typeof line.amount !== 'number') return line
  return { ...line, amount: line.amount / 1000 }
}

/** Changes the state as the promoted upload should, and says which lines (by place) are left out. */
export function promoteModel(
  state: Production,
  client: string,
  lines: readonly StagedLine[],
  duplicates: Duplicates,
): { leftOut: Set<number> } {
  const fields = [...new Set(lines.flatMap((line) => Object.keys(line)))]
  const rowTypes = [
    'group',
    ...(fields.includes('item_code') || fields.includes('item_name') ? ['item'] : []),
    'figure',
  ]
  const leftOut = new Set<number>()
  const known = lines.map((line) => identities(TRIAL, rowTypes, fields, line))
  const keyOf = (place: number) =>
    JSON.stringify([known[place]!['@item'] ?? null, known[place]!['@group'], lines[place]!.day])
  const taken: { place: number; line: StagedLine }[] = []
  const byKey = new Map<string, number[]>()
  for (const place of lines.keys()) byKey.set(keyOf(place), [...(byKey.get(keyOf(place)) ?? []), place])
  for (const places of byKey.values()) {
    const [first] = places
    if (places.length === 1) taken.push({ place: first!, line: lines[first!]! })
    else if (duplicates === 'refuse') for (const place of places) leftOut.add(place)
    else if (duplicates === 'last') {
      const last = places.at(-1)!
      for (const place of places) if (place !== last) leftOut.add(place)
      taken.push({ place: last, line: lines[last]! })
    } else {
      for (const place of places.slice(1)) leftOut.add(place)
      const line = { ...lines[first!]! } as Record<string, StagedLine[string]>
      for (const field of ['amount', 'units'].filter((one) => fields.includes(one))) {
        const values = places
          .map((place) => lines[place]![field])
          .filter((value) => value !== null) as number[]
        line[field] = values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0)
      }
      taken.push({ place: first!, line })
    }
  }
  taken.sort((a, b) => a.place - b.place)
  // A refused line says nothing about its parents, and creates none.
  for (const { place } of [...taken].filter(isAmbiguous)) leftOut.add(place)
  taken.splice(0, taken.length, ...taken.filter(({ place }) => !leftOut.has(place)))

  /** An attribute is the first value that is not empty. */
  const firstSaid = (identity: string, code: string, field: string) =>
    (taken
      .filter(({ place }) => known[place]![identity] === code)
      .map(({ line }) => line[field])
      .find((value) => value !== null && value !== undefined) ?? null) as string | null

  const groups = new Map<string, Group | 'ambiguous'>()
  const items = new Map<string, Item | 'ambiguous'>()
  // Everything is looked up as it was before: a name that this very upload brings does not count yet.
  const names = new Map<Group | Item, string | null>(
    [...state.groups, ...state.items].map((one) => [one, one.name]),
  )
  for (const { place, line } of taken) {
    const code = known[place]!['@group']!
    if (groups.has(code)) continue
    groups.set(
      code,
      found(
        state.groups.filter((one) => one.client === client && names.has(one)),
        names,
        code,
        line,
        fields,
        'group',
      ) ?? added(state.groups, { id: randomUUID(), client, code, name: null }),
    )
    const group = groups.get(code)!
    if (group !== 'ambiguous' && fields.includes('group_name'))
      group.name = firstSaid('@group', code, 'group_name')
  }
  for (const { place, line } of taken) {
    const code = known[place]!['@item']
    if (code == null || items.has(code)) continue
    const group = groups.get(known[place]!['@group']!) as Group
    items.set(
      code,
      found(
        state.items.filter((one) => one.group === group && names.has(one)),
        names,
        code,
        line,
        fields,
        'item',
      ) ?? added(state.items, { id: randomUUID(), group, code, name: null }),
    )
    const item = items.get(code)!
    if (item !== 'ambiguous' && fields.includes('item_name'))
      item.name = firstSaid('@item', code, 'item_name')
  }
  for (const { place, line } of taken) {
    const group = groups.get(known[place]!['@group']!) as Group
    const code = known[place]!['@item']
    const item = code == null ? null : (items.get(code) as Item)
    const figure =
      state.figures.find((one) => one.group === group && one.item === item && one.day === line.day) ??
      added(state.figures, {
        id: randomUUID(),
        group,
        item,
        day: line.day as string,
        amount: null,
        units: null,
        note: null,
        flag: null,
      })
    if (fields.includes('amount'))
      figure.amount = line.amount === null ? null : rounded(line.amount as number)
    if (fields.includes('units')) figure.units = line.units as number | null
    if (fields.includes('note')) figure.note = line.note as string | null
    if (fields.includes('flag')) figure.flag = line.flag as boolean | null
  }
  return { leftOut }

  /** Whether nobody can tell which row a parent of the line is, by the first line that names it. */
  function isAmbiguous({ place }: { place: number }): boolean {
    const [groupCode, itemCode] = [known[place]!['@group']!, known[place]!['@item']]
    const before = new Map<Group | Item, string | null>(
      [...state.groups, ...state.items].map((one) => [one, one.name]),
    )
    const firstOf = (identity: string, code: string) =>
      taken.find((one) => known[one.place]![identity] === code)!.line
    const ours = state.groups.filter((one) => one.client === client)
    const group = found(ours, before, groupCode, firstOf('@group', groupCode), fields, 'group')
    if (group === 'ambiguous') return true
    if (itemCode == null) return false
    const parents = taken.filter((one) => known[one.place]!['@item'] === itemCode)
    if (new Set(parents.map((one) => known[one.place]!['@group'])).size > 1) return true
    const others = state.items.filter((one) => one.group === group)
    return found(others, before, itemCode, firstOf('@item', itemCode), fields, 'item') === 'ambiguous'
  }
}

function found<T extends Group | Item>(
  candidates: T[],
  names: Map<Group | Item, string | null>,
  code: string,
  line: StagedLine,
  fields: string[],
  type: 'group' | 'item',
): T | 'ambiguous' | undefined {
  const byCode = candidates.find((one) => one.code === code)
  if (byCode || fields.includes(`${type}_code`)) return byCode
  const byName = candidates.filter(
    (one) => names.get(one) !== null && names.get(one) === line[`${type}_name`],
  )
  return byName.length > 1 ? 'ambiguous' : byName[0]
}

/** The state as lines of text without ids, sorted: comparable with what the database says. */
export function told(state: Production): string[] {
  return [
    ...state.groups.map((one) => JSON.stringify(['group', one.client, one.code, one.name])),
    ...state.items.map((one) =>
      JSON.stringify(['item', one.group.client, one.group.code, one.code, one.name]),
    ),
    ...state.figures.map((one) =>
      JSON.stringify([
        'figure',
        one.group.client,
        one.group.code,
        one.item?.code ?? null,
        one.day,
        one.amount,
        one.units,
        one.note,
        one.flag,
      ]),
    ),
  ].sort()
}
