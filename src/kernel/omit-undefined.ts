/** The same object without the keys whose value is undefined: for options that may be absent but not undefined. */
export function omitUndefined<T extends object>(given: { readonly [Key in keyof T]: T[Key] | undefined }): T {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T
}
