/** Gates by their names in the server. A plain label is needed where only the name is known, as in an event. */
export const STAGING_WRITES = 'iu_core.staging_writes_enabled'
export const DISPATCH = 'queue.consumer_dispatch.enabled'
export const STAGING_EXCLUDED = 'iu_core.no_vector_staging_excluded'

const LABELS: Readonly<Record<string, string>> = {
  [STAGING_WRITES]: 'Uploads and staging',
  'iu_core.staging_cleanup_enabled': 'Cleanup of staging',
  'iu_core.bulk_reference_checks_enabled': 'Promotion: foreign keys at once',
  [DISPATCH]: 'Events start jobs',
  // Open: everything but staged data is indexed. Closed: nothing is.
  [STAGING_EXCLUDED]: 'Search indexing',
  'search.phase_1.enabled': 'Search phase 1: index units',
  'search.phase_2.enabled': 'Search phase 2: include the old knowledge base',
  'search.phase_3.enabled': 'Search phase 3: smaller chunks',
}

/** A gate that the console does not know is shown by its technical name. */
export function gateLabel(name: string): string {
  return LABELS[name] ?? name
}
