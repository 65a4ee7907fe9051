#if AsyncHTTPClient && canImport(AsyncHTTPClient)
import NIOCore
import NIOPosix
import Testing

@testable import KeelAsyncHTTPClient

@Suite("The event loops of an origin")
struct OriginLoopsTests {
    /// On which of three loops each of so many exchanges takes place that are under way together.
    private func places(_ count: Int, from first: Int = 0) async throws -> [Int] {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 3)
        let all = Array(group.makeIterator())
        let loops = OriginLoops(all, from: first)
        let taken = (0..<count).map { _ in loops.enter() }
        let indices = taken.compactMap { place in
            all.firstIndex { $0 === place.eventLoop }
        }
        for place in taken { place.leave() }
        // All have left: the next one is where the first one was.
        #expect(loops.enter().eventLoop === all[first])
        try await group.shutdownGracefully()
        return indices
    }

    @Test("A few exchanges share a loop, which another origin need not begin with")
    func few() async throws {
        #expect(try await places(8) == Array(repeating: 0, count: 8))
        #expect(try await places(3, from: 2) == [2, 2, 2])
    }

    @Test("Many exchanges are spread evenly")
    func many() async throws {
        let places = try await places(96, from: 1)
        for loop in 0..<3 { #expect(places.filter { $0 == loop }.count == 32) }
        #expect(places.prefix(9) == [1, 1, 1, 1, 1, 1, 1, 1, 2])
    }
}
#endif
