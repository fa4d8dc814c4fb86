/** A document of a few pieces, on its way through staging to units. */
import type { TestDatabase } from '../support/database.ts'
import type { Graph } from './graph.ts'

export interface StagedManifest {
  readonly id: string
  readonly hash: string
}

/** Stages a manifest of the document `name`; its pieces are sections, one after the other: address within it → text. */
export async function stageManifest(
  db: TestDatabase,
  workspace: string,
  name: string,
  pieces: Readonly<Record<string, string>>,
): Promise<StagedManifest> {
  const { rows } = await db.pool('stagedoor_worker').query<StagedManifest>(
    `with piece as (
       select ordinality as position, $2 || '/' || key as address, value as text, octet_length(value) as bytes,
              coalesce(sum(octet_length(value)) over (order by ordinality rows between unbounded preceding and 1 preceding), 0) as from
         from json_each_text($3) with ordinality
     ), document as (
       select string_agg(text, '' order by position) as source,
              jsonb_agg(jsonb_build_object(
                'position', position, 'address', address, 'parent', null, 'kind', 'section', 'title', address, 'from', "from",
                'to', "from" + bytes, 'hash', encode(sha256(convert_to(text, 'UTF8')), 'hex'), 'topics', '[]'::jsonb) order by position) as pieces
         from piece
     )
     select c.staging_record_id as id, c.content_hash as hash
       from document d, iu_core.fn_iu_staging_create('mark_manifest', 'manifest_json', 'a cut', p_new => true, p_parts => array[
         jsonb_build_object('part_name', 'manifest', 'payload_kind', 'json', 'payload_json', jsonb_build_object(
           'schema', 'stagedoor.mark_manifest/1',
           'document', jsonb_build_object('source_ref', 'file:' || $2, 'title', $2, 'language', 'en', 'bytes', octet_length(d.source),
                                          'content_hash', encode(sha256(convert_to(d.source, 'UTF8')), 'hex')),
           'pieces', d.pieces)),
         jsonb_build_object('part_name', 'source', 'payload_kind', 'text', 'payload_text', d.source)],
       p_workspace_id => $1, p_source_kind => 'system', p_source_ref => 'test') c`,
    [workspace, name, JSON.stringify(pieces)],
  )
  return rows[0]!
}

export const approveManifest = (graph: Graph, { id, hash }: StagedManifest) =>
  graph.call('select iu_core.fn_iu_staging_approve($1, $2)', [id, hash], graph.reviewer)

/** Staged, approved and cut. Returns the document's id. */
export async function cutDocument(
  db: TestDatabase,
  graph: Graph,
  name: string,
  pieces: Readonly<Record<string, string>>,
): Promise<string> {
  const staged = await stageManifest(db, graph.workspace, name, pieces)
  await approveManifest(graph, staged)
  const { cut } = await graph.call<{ cut: { document_id: string } }>(
    'select iu_core.dot_iu_cut_from_manifest($1, $2) as cut',
    [staged.id, staged.hash],
  )
  return cut.document_id
}
