#if AsyncHTTPClient && canImport(AsyncHTTPClient)
import HTTPTypes
import KeelTestKit
import NIOCore
import NIOPosix
import Testing

@testable import KeelAsyncHTTPClient

@Suite("Event loops of an origin")
struct OriginLoopsTests {
    /// Runs `body` with a group of loops, identified by their indices.
    private func withLoops(
        _ count: Int,
        _ body: (MultiThreadedEventLoopGroup, (any EventLoop) -> Int?) throws -> Void
    ) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: count)
        let all = Array(group.makeIterator())
        let outcome = Result {
            try body(group) { loop in all.firstIndex { $0 === loop } }
        }
        try await group.shutdownGracefully()
        try outcome.get()
    }

    @Test(
        "Calls share a loop if calls, connections or processors are few",
        arguments: [(6, 64, 8), (6, 8, 64), (2, 64, 64), (1, 64, 64), (3, 64, 64)]
    )
    func oneLoop(loops: Int, connections: Int, calls: Int) async throws {
        try await withLoops(loops) { group, index in
            let table = OriginLoops(
                Array(group.makeIterator()),
                from: loops - 1,
                connections: connections
            )
            let places = (0..<calls).map { _ in table.enter() }
            #expect(Set(places.map { index($0.eventLoop) }) == [loops - 1])
        }
    }

    @Test("Many calls use half of the loops and return to one when they are few")
    func manyCalls() async throws {
        try await withLoops(6) { group, index in
            let all = Array(group.makeIterator())
            let table = OriginLoops(all, from: 5, connections: 64)
            var places = (0..<48).map { _ in table.enter() }
            #expect(
                places.prefix(24).map { index($0.eventLoop) }
                    == Array(repeating: 5, count: 8) + Array(repeating: 0, count: 8)
                    + Array(repeating: 1, count: 8)
            )
            for loop in [5, 0, 1] {
                #expect(places.count { index($0.eventLoop) == loop } == 16)
            }
            for place in places { place.leave(isMultiplexed: false) }
            places = (0..<8).map { _ in table.enter() }
            #expect(Set(places.map { index($0.eventLoop) }) == [5])
        }
    }

    @Test("Calls on one connection share a loop")
    func multiplexed() async throws {
        try await withLoops(6) { group, index in
            let table = OriginLoops(Array(group.makeIterator()), from: 0, connections: 64)
            table.enter().leave(isMultiplexed: true)
            let places = (0..<64).map { _ in table.enter() }
            #expect(Set(places.map { index($0.eventLoop) }) == [0])
        }
    }

    @Test("Only the least recently used origins are evicted")
    func evicts() async throws {
        try await withLoops(2) { group, index in
            let requests = OriginRequests(on: group, connections: 8)
            func loop(_ number: Int) throws -> Int? {
                let head = HTTPRequest("http://host\(number)/")
                return index(try requests.request(for: head).eventLoop)
            }
            let limit = OriginRequests.limit
            var wrong: [Int] = []
            // Origins alternate between the loops: number 0 has loop 0, as does every other one.
            for number in 0..<limit {
                if try loop(number) != number % 2 { wrong.append(number) }
                // This keeps number 0 recently used.
                if try loop(0) != 0 { wrong.append(0) }
            }
            #expect(wrong.isEmpty)
            let afterwards = try [limit, 0, limit - 2, 2].map { try loop($0) }
            // The next origin is the 513th. If all were dropped, 0 and 510 would be the 514th and
            // 515th; number 2 is dropped, and becomes the 514th.
            #expect(afterwards == [0, 0, 0, 1])
        }
    }
}
#endif
