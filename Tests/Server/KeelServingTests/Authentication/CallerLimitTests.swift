import HTTPTypes
import KeelHTTP
import KeelStorageFirestore
import KeelTestKit
import Testing

@testable import KeelServing

@Suite("Limits of one caller's streams and transactions", .timeLimit(.minutes(1)))
struct CallerLimitTests {
    private let served = Served {
        $0.authenticate = TestUsers.authenticate
        $0.maximumListeners = 4
        $0.maximumListenersPerCaller = 2
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

    // MARK: Transactions

    /// Begins a transaction, reads documents in it, and returns its token.
    private func begin(
        at served: Served,
        _ user: HTTPFields,
        reading paths: [String] = []
    ) async throws -> String {
        let path = Served.root + ":beginTransaction"
        let answer = try await served.send(.post, path: path, Array("{}".utf8), user)
        let token = try #require(answer.json["transaction"]?.text)
        for path in paths {
            #expect(try await Self.read(path, in: token, at: served, user).status == 200)
        }
        await served.clock.advance(by: .seconds(1))
        return token
    }

    private static func read(
        _ path: String,
        in token: String,
        at served: Served,
        _ user: HTTPFields
    ) async throws -> Served.Answer {
        let body = #"{"documents":["\#(Served.name(path))"],"transaction":"\#(token)"}"#
        return try await served.send(.post, path: Served.root + ":batchGet", Array(body.utf8), user)
    }

    /// Expects that a transaction of Bob's goes on, and that the first one of Ann's has been evicted.
    private static func expect(
        _ bob: String,
        outlasts ann: String,
        at served: Served
    ) async throws {
        #expect(try await read("a/1", in: bob, at: served, TestUsers.bob).status == 200)
        #expect(try await read("a/1", in: ann, at: served, TestUsers.ann).error == "ABORTED")
    }

    @Test("A caller with many transactions evicts its own")
    func transactions() async throws {
        let served = Served {
            $0.authenticate = TestUsers.authenticate
            $0.maximumTransactions = 3
        }
        let bob = try await begin(at: served, TestUsers.bob)
        let ann = try await begin(at: served, TestUsers.ann)
        for _ in 0..<2 { _ = try await begin(at: served, TestUsers.ann) }
        #expect(served.transactionCount == 3)
        try await Self.expect(bob, outlasts: ann, at: served)
    }

    @Test("A caller that reads much in small transactions does not evict the larger one of another")
    func reads() async throws {
        let served = Served {
            $0.authenticate = TestUsers.authenticate
            $0.maximumReads = 8
        }
        let bob = try await begin(at: served, TestUsers.bob, reading: ["a/1", "a/2", "a/3"])
        let ann = try await begin(at: served, TestUsers.ann, reading: ["a/1", "a/2"])
        for _ in 0..<2 { _ = try await begin(at: served, TestUsers.ann, reading: ["a/1", "a/2"]) }
        #expect(served.transactionCount == 3)
        try await Self.expect(bob, outlasts: ann, at: served)
    }
}
