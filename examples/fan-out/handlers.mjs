/** The same for every run of one attempt is `context.command_id`: give it to whatever must not happen twice. */
export const playbookHandlers = {
  list({ n }) {
    return Array.from({ length: n }, (_, index) => ({ id: index, amount: (index * 7) % 100 }))
  },

  load({ order, broken }) {
    if (broken.includes(order.id)) throw new Error(`order ${order.id} has no customer`)
    return order.amount
  },

  /** In the order of the items; null is one that failed. */
  repair({ orders, results }) {
    return orders.filter((_, index) => results[index] === null).map((order) => order.id)
  },

  report({ fanin, repaired }) {
    return { ...fanin, repaired }
  },
}
