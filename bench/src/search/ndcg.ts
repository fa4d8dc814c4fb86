/** How well a ranking answers: 1 if everything relevant stands first, less the deeper it stands. */
export function ndcg(ranked: readonly string[], relevant: ReadonlySet<string>, depth = 10): number {
  const gain = (place: number) => 1 / Math.log2(place + 2)
  let found = 0
  let best = 0
  for (let place = 0; place < depth; place++) {
    if (ranked[place] !== undefined && relevant.has(ranked[place]!)) found += gain(place)
    if (place < relevant.size) best += gain(place)
  }
  return found / best
}
