/** Markings and cuts as they look over HTTP. */
import { Type } from 'typebox'

export const piece = {
  address: Type.String(),
  title: Type.String(),
  kind: Type.String(),
  change: Type.Enum(['new', 'changed', 'moved', 'same'], { description: 'since the last cut' }),
}
const Place = Type.Object({
  parent: Type.Union([Type.String(), Type.Null()], {
    description: 'the piece that it is in; null: the document',
  }),
  after: Type.Union([Type.String(), Type.Null()], {
    description: 'the piece before it there; null: it is first',
  }),
})
export const Moved = Type.Optional(
  Type.Object(
    { from: Place, to: Place },
    { description: 'where the document had it at the last cut, and has it now' },
  ),
)
export const gone = {
  address: Type.String(),
  title: Type.String(),
  kind: Type.String(),
  text_is: Type.Enum(['gone', 'in_no_piece', 'in_another_piece'], {
    description: 'whether the document lost it, or the manifest leaves it out, or has it in another piece',
  }),
}
export const GONE = { description: 'pieces of the last cut that are none any more' }
export const leftOutPart = {
  from: Type.Integer({ description: 'first byte in the UTF-8 of the document' }),
  to: Type.Integer({ description: 'the byte after its last' }),
  first_line: Type.Integer(),
  last_line: Type.Integer(),
}
export const LeftOut = Type.Union(
  [
    Type.Object({
      bytes: Type.Integer(),
      parts: Type.Array(Type.Object({ ...leftOutPart, text: Type.String() }), {
        description: 'the first fifty',
      }),
    }),
    Type.Null(),
  ],
  { description: 'text of the document that is in no piece, and will be in no unit; null: none' },
)
/** As docs/guides/units.md tells them. */
export const movedTo = {
  moved_from: Type.Optional(
    Type.String({ description: 'address of the container that it leaves; absent: none' }),
  ),
  moved_to: Type.Optional(
    Type.String({ description: 'address of the container that it goes into; absent: none' }),
  ),
  replaced_place: Type.Optional(
    Type.Boolean({ description: 'people had put it where it was; the document moved its piece' }),
  ),
}
export const replacedVersion = Type.Optional(
  Type.Integer({
    description: 'what people wrote since the last cut, which the text of the document takes the place of',
  }),
)
export const OutlookOfPiece = Type.Object(
  {
    what: Type.Enum(['born', 'unchanged', 'versioned', 'successor']),
    unit: Type.Optional(Type.String({ description: 'address of the unit that holds the piece' })),
    status: Type.Optional(Type.Enum(['draft', 'enacted', 'superseded', 'retired', 'deleted'])),
    version_no: Type.Optional(Type.Integer()),
    new_address: Type.Optional(Type.String({ description: 'of the draft that comes beside it' })),
    replaced_version: replacedVersion,
    keeps_text: Type.Optional(Type.Boolean({ description: 'only its title changes' })),
    ...movedTo,
    kept_in: Type.Optional(
      Type.String({
        description: 'container in which people put it, and in which it stays; empty: in none',
      }),
    ),
  },
  { description: 'what a cut would do with its unit, as that is now' },
)
export const documentFacts = Type.Object({
  source_ref: Type.String(),
  title: Type.String(),
  language: Type.String(),
  content_hash: Type.String(),
  bytes: Type.Integer(),
})
