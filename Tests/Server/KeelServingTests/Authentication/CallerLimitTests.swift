import HTTPTypes
import KeelHTTP
import KeelStorageFirestore
import KeelTestKit
import Testing

@testable import KeelServing

@Suite("Limits of one caller's streams", .timeLimit(.minutes(1)))
struct CallerLimitTests {
    private let served = Served {
        $0.authenticate = TestUsers.authenticate
        $0.maximumListeners = 4
    }

    @Test("Over gRPC, a caller takes half of all streams, until one of them ends")
    func gRPC() async throws {
        func open(_ user: HTTPFields) async throws -> GRPCStreamClient {
            let client = await GRPCStreamClient(.listen, of: served, user)
            try client.send(.addTarget(7, "notes"))
            return client
        }
        let first = try await open(TestUsers.ann)
        #expect(try await first.next() != nil)
        let second = try await open(TestUsers.ann)
        #expect(try await second.next() != nil)
        let third = try await open(TestUsers.ann)
        #expect(try await third.status() == 8)
        #expect(third.message?.contains("the caller has 2 streams") == true)
        let writer = await GRPCStreamClient(.write, of: served, TestUsers.ann)
        #expect(try await writer.status() == 8)
        let other = try await open(TestUsers.bob)
        #expect(try await other.next() != nil)
        first.finish()
        #expect(try await first.status() == 0)
        let fourth = try await open(TestUsers.ann)
        #expect(try await fourth.next() != nil)
        for client in [second, other, fourth] {
            client.finish()
            #expect(try await client.status() == 0)
        }
    }

    @Test("Over WebChannel, a caller opens half of all sessions")
    func webChannel() async throws {
        let database = #"{"database":"projects/p/databases/(default)"}"#
        func status(_ user: HTTPFields) async throws -> Int {
            try await WebChannelClient(served, "Write", user).openingAnswer([database]).status
        }
        #expect(try await status(TestUsers.ann) == 200)
        #expect(try await status(TestUsers.ann) == 200)
        #expect(try await status(TestUsers.ann) == 429)
        #expect(served.server.channels.count == 2)
        #expect(try await status(TestUsers.bob) == 200)
        // All together have the limit of the server.
        #expect(try await status(TestUsers.bob) == 200)
        #expect(try await status(TestUsers.guest) == 429)
    }

    /// Opens a stream of Keel Sync.
    private func events(
        of served: Served,
        _ fields: HTTPFields = [:],
        on connection: UInt64? = nil
    ) async -> HTTPReply {
        var call = HTTPCall(HTTPRequest("http://127.0.0.1:8080/sync/all/events", .get, fields))
        call.options.connection = connection
        return await served.server.respond(to: call)
    }

    @Test("Over Keel Sync, a caller takes half of all streams, until one of them ends")
    func sync() async throws {
        var replies: [HTTPReply] = []
        for _ in 0..<2 { replies.append(await events(of: served, TestUsers.ann)) }
        #expect(replies.allSatisfy { $0.head.status == .ok })
        let third = await events(of: served, TestUsers.ann)
        #expect(third.head.status == .tooManyRequests)
        replies.append(await events(of: served, TestUsers.bob))
        #expect(replies.last?.head.status == .ok)
        replies.removeFirst()
        #expect(await events(of: served, TestUsers.ann).head.status == .ok)
    }

    @Test("Anonymous callers are distinguished by their connections")
    func anonymous() async throws {
        let served = Served {
            $0.maximumListeners = 4
            $0.maximumListenersPerCaller = 1
        }
        var replies: [HTTPReply] = []
        for connection in [1, 2] as [UInt64] {
            replies.append(await events(of: served, on: connection))
        }
        #expect(replies.allSatisfy { $0.head.status == .ok })
        #expect(await events(of: served, on: 1).head.status == .tooManyRequests)
    }
}
