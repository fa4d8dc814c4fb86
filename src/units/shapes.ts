/** The records of this room, each stated once: its type, its columns and its shape in the API come from here. */
import {
  JsonObject,
  nullable,
  type Row,
  shape,
  Text,
  TextOrNull,
  Timestamp,
  TimestampOrNull,
  Type,
  typed,
} from '../kernel/schema.ts'
import type { UnitFinding } from './lifecycle.ts'

export const LIFECYCLE_STATUSES = ['draft', 'enacted', 'superseded', 'retired'] as const

export const UnitRecord = shape('Unit', {
  unit_id: Text,
  workspace_id: Text,
  canonical_address: Text,
  unit_kind: Text,
  container_id: TextOrNull,
  position: Type.Integer(),
  source_ref: Text,
  owner_actor: Text,
  owner_via: TextOrNull,
  created_at: Timestamp,
  current_version_id: Text,
  version_no: Type.Integer({ description: 'name it in an edit, as expected_version' }),
  content_hash: Type.String({ description: 'SHA-256 of the text' }),
  title: Text,
  language: Text,
  body_bytes: Type.Integer(),
  content_profile: JsonObject,
  topics: Type.Array(Text),
  lifecycle_status: Type.Enum([...LIFECYCLE_STATUSES]),
  apr_ref: TextOrNull,
  supersedes: TextOrNull,
  superseded_by: TextOrNull,
  deleted_at: TimestampOrNull,
  changed_at: Timestamp,
  edges_out: Type.Integer(),
  edges_in: Type.Integer(),
  conformance: nullable(Type.Enum(['conforms', 'deviates'])),
  drift: nullable(Type.Enum(['none', 'drifted'])),
  findings: Type.Union([typed<readonly UnitFinding[]>(Type.Array(JsonObject)), Type.Null()], {
    description: 'of the checker; null before its first check',
  }),
  checked_at: TimestampOrNull,
  mup_tier: Type.Integer({ description: '0 created, 1 usable, 2 complete' }),
  missing: Type.Array(Text, { description: 'what it lacks for the tiers above its own' }),
  vector_state: Type.Enum(['pending', 'stale', 'error', 'retired', 'current']),
})
export type UnitRecord = Row<typeof UnitRecord>

const UnitAbove = shape('UnitAbove', { unit_id: Text, title: Text })

export const ListedUnit = shape('ListedUnit', {
  ...UnitRecord.properties,
  path: Type.Array(UnitAbove, { description: 'the units that it is in, the outermost first' }),
  units_in: Type.Integer({ description: 'how many units are in it' }),
})
export type ListedUnit = Row<typeof ListedUnit>

export const UnitKind = shape('UnitKind', {
  unit_kind: Text,
  description: Text,
  required_profile: Type.Array(Text, { description: 'keys that its profile needs to be usable' }),
})
export type UnitKind = Row<typeof UnitKind>

const version = {
  unit_version_id: Text,
  version_no: Type.Integer(),
  unit_kind: Text,
  title: Text,
  language: Text,
  content_hash: Text,
  note: TextOrNull,
  edited_by: Text,
  edited_via: TextOrNull,
  edited_at: Timestamp,
}
export const UnitVersion = shape('UnitVersion', { ...version, body: Text })
export type UnitVersion = Row<typeof UnitVersion>

export const UnitDetail = shape('UnitDetail', {
  ...UnitRecord.properties,
  version: UnitVersion,
  status_then: nullable(
    Type.String({
      description: 'its status at the time that was asked for, `deleted` where it was; null without a time',
    }),
  ),
})
export type UnitDetail = Row<typeof UnitDetail>

export const VersionRecord = shape('UnitVersionRecord', {
  ...version,
  body_bytes: Type.Integer(),
  current_until: nullable(
    Type.Unsafe<Date>({ ...Timestamp, description: 'when the next one came; null for the current one' }),
  ),
})
export type VersionRecord = Row<typeof VersionRecord>

export const LifecycleChange = shape('UnitStatusChange', {
  log_id: Text,
  from_status: Text,
  to_status: Text,
  change_set_id: TextOrNull,
  apr_ref: TextOrNull,
  reason: TextOrNull,
  changed_by: Text,
  changed_via: TextOrNull,
  changed_at: Timestamp,
})
export type LifecycleChange = Row<typeof LifecycleChange>

export const UnitHistory = shape('UnitHistory', {
  versions: Type.Array(VersionRecord, { description: 'newest first' }),
  lifecycle: Type.Array(LifecycleChange, { description: 'newest first' }),
})
export type UnitHistory = Row<typeof UnitHistory>

export const UnitDiff = shape('UnitDiff', {
  unit_id: Text,
  from_version: Type.Integer(),
  from_hash: Text,
  from_title: Text,
  to_version: Type.Integer(),
  to_hash: Text,
  to_title: Text,
  diff: Type.String({ description: 'unified; empty where the text is the same' }),
})
export type UnitDiff = Row<typeof UnitDiff>

export const CreatedUnit = shape('CreatedUnit', { unit_id: Text, unit_version_id: Text, content_hash: Text })
export type CreatedUnit = Row<typeof CreatedUnit>

export const EditedUnit = shape('EditedUnit', {
  version_no: Type.Integer(),
  unit_version_id: Text,
  content_hash: Text,
  changed: Type.Boolean({ description: 'false: the text was the same, and there is no new version' }),
})
export type EditedUnit = Row<typeof EditedUnit>

const EdgeStatus = Type.Enum(['verified', 'unverified'], {
  description: 'unverified: what it names is not there (yet); the checker looks again',
})
export const Edge = shape('UnitEdge', {
  edge_id: Text,
  edge_type: Text,
  from_unit_id: Text,
  from_address: Text,
  target_ref: Text,
  to_unit_id: TextOrNull,
  to_address: TextOrNull,
  edge_status: EdgeStatus,
  created_by: Text,
  created_at: Timestamp,
})
export type Edge = Row<typeof Edge>

export const AddedEdge = shape('CreatedUnitEdge', {
  edge_id: Text,
  edge_status: EdgeStatus,
  created: Type.Boolean({ description: 'false: there was this very edge' }),
})
export type AddedEdge = Row<typeof AddedEdge>

export const Topic = shape('Topic', {
  topic_id: Text,
  workspace_id: nullable(Type.String({ description: 'null: of every workspace' })),
  topic_label: Text,
  description: TextOrNull,
  retired_at: nullable(
    Type.Unsafe<Date>({ ...Timestamp, description: 'units that carry it keep it; no other gets it' }),
  ),
  registered_by: Text,
  registered_at: Timestamp,
  units: Type.Integer({ description: 'how many carry it, of those that you may see' }),
})
export type Topic = Row<typeof Topic>

export const KnownDocument = shape('Document', {
  document_id: Text,
  workspace_id: Text,
  source_ref: Text,
  title: Text,
  language: Text,
  content_hash: Text,
  bytes: Type.Integer(),
  pieces: Type.Integer({ description: 'of the newest cut' }),
  updated_by: Text,
  created_at: Timestamp,
  updated_at: Timestamp,
  deleted_at: TimestampOrNull,
})
export type KnownDocument = Row<typeof KnownDocument>

export const DocumentPiece = shape('DocumentPiece', {
  piece_address: Type.String({ description: 'by which manifests name it' }),
  position: Type.Integer(),
  unit_id: Text,
  canonical_address: Text,
  unit_kind: Text,
  title: Text,
  lifecycle_status: Text,
  version_no: Type.Integer(),
  content_hash: Type.String({ description: 'of the piece; the unit may have been edited since' }),
  dropped_at: nullable(Type.Unsafe<Date>({ ...Timestamp, description: 'when a cut no longer had it' })),
})
export type DocumentPiece = Row<typeof DocumentPiece>

export const DocumentDetail = shape('DocumentDetail', {
  ...KnownDocument.properties,
  body: Text,
  map: Type.Array(DocumentPiece),
  next: nullable(Type.String({ description: 'where the next page of the map goes on' })),
})
export type DocumentDetail = Row<typeof DocumentDetail>

// Where a unit stands, and where it comes from.

const RelatedUnit = shape('RelatedUnit', { unit_id: Text, canonical_address: Text, title: Text })

export const UnitOrigin = shape('UnitOrigin', {
  document_id: Text,
  source_ref: Text,
  title: Text,
  piece_address: Type.String({ description: 'by which manifests name the piece' }),
  position: Type.Integer(),
  is_same: Type.Boolean({ description: 'whether the unit still says what the piece said' }),
  dropped_at: nullable(Type.Unsafe<Date>({ ...Timestamp, description: 'when a cut no longer had it' })),
  cut_run_id: Text,
  cut_at: TimestampOrNull,
  staging_record_id: nullable(
    Type.String({ description: 'the marking that was approved and cut; null: not known to you' }),
  ),
})
export type UnitOrigin = Row<typeof UnitOrigin>

export const UnitContext = shape('UnitContext', {
  path: Type.Array(RelatedUnit, { description: 'the units that it is in, the outermost first' }),
  units_in: Type.Integer({ description: 'how many units are in it' }),
  supersedes: nullable(RelatedUnit),
  superseded_by: nullable(RelatedUnit),
  successor: Type.Union([RelatedUnit, Type.Null()], { description: 'the draft that will supersede it' }),
  origin: Type.Array(UnitOrigin, { description: 'the documents whose piece it is' }),
})
export type UnitContext = Row<typeof UnitContext>

// Markings and cuts.

const moved = {
  moved_from: Type.Optional(
    Type.String({ description: 'address of the container that it leaves; absent: none' }),
  ),
  moved_to: Type.Optional(
    Type.String({ description: 'address of the container that it goes into; absent: none' }),
  ),
  replaced_place: Type.Optional(
    Type.Literal(true, { description: 'people had put it where it was; the document moved its piece' }),
  ),
}
const ReplacedVersion = Type.Optional(
  Type.Integer({
    description: 'what people wrote since the last cut, which the text of the document takes the place of',
  }),
)

export const CutUnit = shape('CutUnit', {
  unit_id: Text,
  canonical_address: Text,
  what: Type.Enum(['created', 'versioned', 'successor', 'retired', 'moved']),
  replaced_version: ReplacedVersion,
  ...moved,
})
export type CutUnit = Row<typeof CutUnit>

const leftOutPart = {
  from: Type.Integer({ description: 'first byte in the UTF-8 of the document' }),
  to: Type.Integer({ description: 'the byte after its last' }),
  first_line: Type.Integer(),
  last_line: Type.Integer(),
}
/** Text of a document that is in none of its pieces. */
export const LeftOut = shape('LeftOut', {
  bytes: Type.Integer(),
  parts: Type.Array(shape('LeftOutPart', leftOutPart), { description: 'the first fifty' }),
})
export type LeftOut = Row<typeof LeftOut>
export const LeftOutText = shape('LeftOutText', {
  bytes: Type.Integer(),
  parts: Type.Array(shape('LeftOutTextPart', { ...leftOutPart, text: Text }), {
    description: 'the first fifty',
  }),
})
export type LeftOutText = Row<typeof LeftOutText>

export const Cut = shape('Cut', {
  run_id: Text,
  document_id: Text,
  created: Type.Integer(),
  versioned: Type.Integer(),
  successors: Type.Integer({
    description: 'new drafts for pieces whose unit is enacted, retired or deleted',
  }),
  retired: Type.Integer(),
  kept: Type.Integer({ description: 'no longer a piece of the document, and in force: left as they are' }),
  unchanged: Type.Integer(),
  units: Type.Array(CutUnit, { description: 'those that the cut touched' }),
  kinds_kept: Type.Optional(
    Type.Array(Text, {
      description: 'addresses of units that the manifest calls another kind; they keep theirs',
    }),
  ),
  orders_replaced: Type.Optional(
    Type.Array(Text, {
      description: 'containers whose order people had made, and the document changed',
    }),
  ),
  legacy_kept: Type.Optional(
    Type.Literal(true, {
      description: 'the document is one of the old knowledge base, whose own text stays as it is',
    }),
  ),
  left_out: Type.Optional(LeftOut),
})
export type Cut = Row<typeof Cut>

const preview = {
  what: Type.Enum(['created', 'unchanged', 'versioned', 'successor']),
  unit: Type.Optional(Type.String({ description: 'address of the unit that holds the piece' })),
  status: Type.Optional(Type.Enum(['draft', 'enacted', 'superseded', 'retired', 'deleted'])),
  version_no: Type.Optional(Type.Integer()),
  new_address: Type.Optional(Type.String({ description: 'address of its new successor draft' })),
  replaced_version: ReplacedVersion,
  keeps_text: Type.Optional(Type.Literal(true, { description: 'only its title changes' })),
  ...moved,
  kept_in: Type.Optional(
    Type.String({ description: 'container in which people put it, and in which it stays; empty: in none' }),
  ),
}
/** What a cut would do with the unit of a piece, as that is now. */
export const PiecePreview = shape('PiecePreview', preview)
export type PiecePreview = Row<typeof PiecePreview>

export const LegacyDocument = shape('LegacyDocument', {
  document_id: Text,
  title: Text,
  content_hash: Text,
  is_same: Type.Boolean({ description: 'whether it says what is marked' }),
})
export type LegacyDocument = Row<typeof LegacyDocument>

const PiecePlace = shape('PiecePlace', {
  parent: nullable(Type.String({ description: 'the piece that it is in; null: the document' })),
  after: nullable(Type.String({ description: 'the piece before it there; null: it is first' })),
})
const piece = {
  address: Text,
  title: Text,
  kind: Text,
  change: Type.Enum(['new', 'changed', 'moved', 'same'], { description: 'since the last cut' }),
  moved: Type.Optional(
    shape('PieceMove', {
      from: PiecePlace,
      to: PiecePlace,
    }),
  ),
}
const removed = {
  address: Text,
  title: Text,
  kind: Text,
  text_is: Type.Enum(['removed', 'in_no_piece', 'in_another_piece'], {
    description: 'whether the document lost it, or the manifest leaves it out, or has it in another piece',
  }),
}
const REMOVED = { description: 'pieces of the last cut that are no longer in the manifest' }
const LEFT_OUT = {
  description: 'text of the document that is in no piece, and will be in no unit; null: none',
}

/** A proposal of a cut, as it was staged. */
export const StagedMark = shape('StagedMark', {
  staging_record_id: Text,
  digest: Type.String({ description: 'name it at approval and at the cut' }),
  lifecycle_status: Text,
  created: Type.Boolean(),
  pieces: Type.Array(shape('MarkedPiece', { ...piece, bytes: Type.Integer() })),
  removed: Type.Array(shape('RemovedPiece', removed), REMOVED),
  left_out: Type.Union([LeftOutText, Type.Null()], LEFT_OUT),
})

/** A proposal with the texts of its pieces, and what its cut would do. */
export const Marking = shape('Marking', {
  staging_record_id: Text,
  digest: Text,
  lifecycle_status: Text,
  document: shape('MarkedDocument', {
    source_ref: Text,
    title: Text,
    language: Text,
    content_hash: Text,
    bytes: Type.Integer(),
  }),
  pieces: Type.Array(
    shape('StagedPiece', {
      position: Type.Integer(),
      parent: TextOrNull,
      ...piece,
      from: Type.Integer(),
      to: Type.Integer(),
      hash: Text,
      topics: Type.Array(Text),
      text: Text,
      before: nullable(Type.String({ description: 'the text of its unit now, where the piece changed' })),
      preview: PiecePreview,
    }),
  ),
  removed: Type.Array(
    shape('StagedRemovedPiece', {
      ...removed,
      retired: Type.Array(Text, { description: 'drafts that the cut would retire' }),
      kept: Type.Array(Text, { description: 'units in force, which stay' }),
    }),
    REMOVED,
  ),
  left_out: Type.Union([LeftOutText, Type.Null()], LEFT_OUT),
  legacy: Type.Union([LegacyDocument, Type.Null()], {
    description: 'the document of the old knowledge base under this source, which stays as it is',
  }),
})
