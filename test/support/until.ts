/** Waits for something that another session or process brings about. A condition, never a length of time. */
export async function until<T>(
  what: string,
  condition: () => Promise<T | undefined | false> | T | undefined | false,
  withinMs = 60_000,
): Promise<T> {
  const deadline = Date.now() + withinMs
  for (;;) {
    const result = await condition()
    if (result) return result
    if (Date.now() > deadline) throw new Error(`waited ${withinMs} ms for: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
