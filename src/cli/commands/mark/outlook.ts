/** What a cut would do with the unit of a piece, in words for whoever decides. */
import type { StagedPiece } from '../../../stagedoor/marked.ts'
import { placeChange } from './pieces.ts'

/** Nothing where nothing happens, or where a new piece is born. */
export function outlookLines({ address, change, moved, outlook }: StagedPiece): string[] {
  const { kept_in: kept, moved_from: from, moved_to: to, replaced_place } = outlook
  const isMoving = from !== undefined || to !== undefined
  return [
    ...(moved ? [`document: ${placeChange(moved)}`] : []),
    ...textOutlook(address, outlook, change === 'changed'),
    ...(isMoving ? [`moves from ${from ?? 'outside'} to ${to ?? 'outside'}`] : []),
    ...(replaced_place ? ['though people had put it there'] : []),
    ...(kept === undefined
      ? []
      : [
          kept === '' ? 'people took it out: it stays outside' : `people put it into ${kept}: it stays there`,
        ]),
  ]
}

function textOutlook(
  address: string,
  { what, unit = address, status, version_no: version = 0, ...outlook }: StagedPiece['outlook'],
  isChanged: boolean,
): string[] {
  const held = `${status}${short(unit, address)}`
  if (what === 'versioned') {
    const { keeps_text, replaced_version: own } = outlook
    return [
      `${held} → version ${version + 1}${keeps_text ? ', a new title' : ''}`,
      ...(own === undefined ? [] : [`in place of what people wrote: version ${own}`]),
    ]
  }
  if (what === 'successor') {
    const draft = `draft${short(outlook.new_address!, address)}`
    return status === 'enacted'
      ? [`${held}: stays in force`, `→ ${draft}, its successor`]
      : [`${held}: stays so`, `→ a new ${draft}`]
  }
  return what === 'unchanged' && isChanged ? [`${held}: says so already`] : []
}

/** The address of the piece stands above: of its units only what comes behind it. */
function short(unit: string, address: string): string {
  if (unit === address) return ''
  return ` ${unit.startsWith(`${address}~`) ? unit.slice(address.length) : unit}`
}
