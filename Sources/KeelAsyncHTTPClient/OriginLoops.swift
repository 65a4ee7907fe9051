#if AsyncHTTPClient && canImport(AsyncHTTPClient)
import NIOCore
import Synchronization

/// The event loops of one origin, and how many exchanges each of them has under way.
///
/// While there are few, one loop has them all, and the connections are opened there: no response
/// changes threads on its way. More are spread, each to the loop that has the least to do.
final class OriginLoops: Sendable {
    /// An exchange on a loop.
    struct Place: Sendable {
        let eventLoop: any EventLoop
        fileprivate let index: Int
        fileprivate let loops: OriginLoops

        /// Takes note that the exchange is over.
        func leave() { loops.busy.withLock { $0[index] -= 1 } }
    }

    /// With so many exchanges under way, a loop is busy enough for another one to take the next.
    private static let few = 8

    private let loops: [any EventLoop]
    private let busy: Mutex<[Int]>

    /// Creates a table of loops.
    ///
    /// - Parameters:
    ///   - loops: The loops there are.
    ///   - first: The place of the one that has few exchanges.
    init(_ loops: [any EventLoop], from first: Int) {
        self.loops = Array(loops[first...] + loops[..<first])
        busy = Mutex(Array(repeating: 0, count: loops.count))
    }

    /// Takes note of a new exchange, and finds a loop for it.
    func enter() -> Place {
        let index = busy.withLock { busy in
            var least = 0
            for index in busy.indices {
                if busy[index] < busy[least] { least = index }
                guard busy[index] >= Self.few else {
                    least = index
                    break
                }
            }
            busy[least] += 1
            return least
        }
        return Place(eventLoop: loops[index], index: index, loops: self)
    }
}
#endif
