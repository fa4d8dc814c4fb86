/** Runs where the hosts meet: a port of their network leads to a socket in the file system, which the test serves. */
import { connect, createServer } from 'node:net'

const [address, path] = process.argv.slice(2)
const server = createServer((inner) => {
  const outer = connect(path)
  for (const [from, to] of [
    [inner, outer],
    [outer, inner],
  ]) {
    from.on('error', () => to.destroy())
    from.on('close', () => to.destroy())
    from.pipe(to)
  }
}).listen(0, address, () => console.log(server.address().port))
