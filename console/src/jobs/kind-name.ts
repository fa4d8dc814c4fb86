const STORES: Record<string, string> = {
  disk: 'files on a disk',
  pvc: 'files on a volume',
  s3: 'files in a bucket',
}

/** What people call a kind of jobs. Those that read uploads are named after the store of the files, which is an id. */
export function kindName(kind: string): string {
  const store = /^upload_read:(\w+)\./.exec(kind)?.[1]
  return store === undefined ? kind : `upload_read (${STORES[store] ?? store})`
}
