/** Where the parts of a playbook as it is run stand in what was written: its short forms have moved some. */
import type { Place } from './problem.ts'

export class Origins {
  private readonly places = new Map<string, Place>()

  keep(normal: Place, written: Place): void {
    this.places.set(JSON.stringify(normal), written)
  }

  of(normal: Place): Place {
    for (let length = normal.length; length > 0; length--) {
      const written = this.places.get(JSON.stringify(normal.slice(0, length)))
      if (written !== undefined) return [...written, ...normal.slice(length)]
    }
    return normal
  }
}
