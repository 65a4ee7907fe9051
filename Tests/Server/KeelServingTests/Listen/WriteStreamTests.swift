import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import Synchronization
import Testing

@testable import KeelServing

@Suite("Streams of writes", .timeLimit(.minutes(1)))
struct WriteStreamTests {
    /// A client that has sent all of its requests at once.
    private final class Client: Sendable {
        private let received = Mutex<[FirestoreJSON]>([])

        var responses: [FirestoreJSON] { received.withLock { $0 } }

        func run(_ adapter: any StorageAdapter, _ requests: [FirestoreJSON]) async -> StreamFailure?
        {
            let (stream, continuation) = AsyncStream.makeStream(of: FirestoreJSON.self)
            for request in requests { continuation.yield(request) }
            continuation.finish()
            return await StorageServer(adapter: adapter).stream(.write, stream) { response in
                self.received.withLock { $0.append(response) }
            }
        }
    }

    private static let handshake: FirestoreJSON = ["database": .string(Served.database)]

    private static func batch(_ writes: String...) throws -> FirestoreJSON {
        let text = #"{"streamToken":"AA==","writes":[\#(writes.joined(separator: ","))]}"#
        return try FirestoreJSON(parsing: Array(text.utf8))
    }

    @Test("Batches are answered in order, each with its results and a new token")
    func order() async throws {
        let store = InMemoryStorageAdapter()
        let client = Client()
        let failure = await client.run(
            store,
            [
                Self.handshake, try Self.batch(Served.write("notes/1", n: 1)),
                try Self.batch(Served.write("notes/1", n: 2), Served.write("notes/2", n: 2)),
                try Self.batch(),
            ]
        )
        #expect(failure == nil)
        let responses = client.responses
        #expect(responses.map { $0["writeResults"]?.elements?.count } == [nil, 1, 2, 0])
        #expect(responses.map { $0["commitTime"] != nil } == [false, true, true, true])
        #expect(responses.first?["streamId"]?.text?.isEmpty == false)
        let tokens = responses.compactMap { $0["streamToken"]?.text }
        #expect(Set(tokens).count == 4)
        let found = try await store.read(ReadRequest(.documents(["notes/1"])))
        let documents = try found.documents
        #expect(try documents[0]?.fields()["n"] == .integer(2))
    }

    @Test("The batches after one that fails are not applied")
    func failure() async throws {
        let store = InMemoryStorageAdapter()
        let client = Client()
        let missing = #"{"currentDocument":{"exists":true},"delete":"\#(Served.name("notes/9"))"}"#
        let failure = await client.run(
            store,
            [
                Self.handshake, try Self.batch(Served.write("notes/1", n: 1)),
                try Self.batch(missing), try Self.batch(Served.write("notes/2", n: 1)),
            ]
        )
        #expect(failure?.status == .notFound)
        #expect(client.responses.count == 2)
        let found = try await store.read(ReadRequest(.documents(["notes/1", "notes/2"])))
        let documents = try found.documents
        #expect(documents.map { $0 != nil } == [true, false])
    }

    @Test("A stream begins with a request that names the database and has no writes")
    func handshakes() async throws {
        let writes = try Self.batch(Served.write("notes/1", n: 1))
        let resumed: FirestoreJSON = ["database": .string(Served.database), "streamId": "1"]
        for first in [writes, [:], resumed] {
            let client = Client()
            #expect(await client.run(InMemoryStorageAdapter(), [first])?.status == .invalidArgument)
            #expect(client.responses.isEmpty)
        }
        let client = Client()
        let untold: FirestoreJSON = ["writes": []]
        let failure = await client.run(InMemoryStorageAdapter(), [Self.handshake, untold])
        #expect(failure?.status == .invalidArgument, "a token is missing")
    }

    /// A store that refuses each batch, or whose commits fail as a whole.
    private struct FailingStore: ForwardingStorageAdapter {
        let upstream: any StorageAdapter = InMemoryStorageAdapter()
        let error: StorageError
        let failsAsAWhole: Bool

        func commit(
            _ batches: [WriteBatch]
        ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
            guard !failsAsAWhole else { throw error }
            return batches.map { _ in .failure(error) }
        }
    }

    /// The statuses for which the SDKs drop a user's write.
    private static let permanent: Set<FirestoreStatus> = [
        .invalidArgument, .notFound, .alreadyExists, .permissionDenied, .failedPrecondition,
        .outOfRange, .unimplemented, .dataLoss,
    ]

    /// All codes of storage, also those of a store behind another server.
    private static let codes = StorageError.Code.known + [.databaseNotFound, .invalidReply]

    /// Returns the status of a batch that a store does not commit.
    private static func status(
        _ code: StorageError.Code,
        failsAsAWhole: Bool
    ) async throws -> FirestoreStatus {
        let error = StorageError(code, "the store fails")
        let failure = await Client().run(
            FailingStore(error: error, failsAsAWhole: failsAsAWhole),
            [handshake, try batch(Served.write("notes/1", n: 1))]
        )
        return try #require(failure?.status)
    }

    @Test("A client drops a write that the store refuses if it can never succeed", arguments: codes)
    func refusals(code: StorageError.Code) async throws {
        let isHopeless: Set<StorageError.Code> = [
            .documentNotFound, .alreadyExists, .conflict, .invalidArgument, .encodingFailed,
            .tooLarge, .unsupported,
        ]
        let status = try await Self.status(code, failsAsAWhole: false)
        #expect(Self.permanent.contains(status) == isHopeless.contains(code), "\(status.name)")
    }

    @Test("A client keeps a write while the store fails, whatever the reason", arguments: codes)
    func outages(code: StorageError.Code) async throws {
        let status = try await Self.status(code, failsAsAWhole: true)
        // The value itself is larger than the store allows.
        #expect(Self.permanent.contains(status) == (code == .tooLarge), "\(status.name)")
    }

    @Test(
        "A client drops a user's write that access rules refuse, and no other one",
        arguments: [true, false]
    )
    func rules(failsAsAWhole: Bool) async throws {
        struct Trouble: Error {}
        let causes: [((any Error)?, FirestoreStatus)] = [
            (nil, .permissionDenied), (Trouble(), .unavailable),
        ]
        let user = StorageContext().of(StoragePrincipal(id: "ann"))
        let requests = [Self.handshake, try Self.batch(Served.write("notes/1", n: 1))]
        for (cause, status) in causes {
            let error = StorageError(.permissionDenied, "not yours", cause: cause)
            let store = FailingStore(error: error, failsAsAWhole: failsAsAWhole)
            let failure = await user.bind { () async -> StreamFailure? in
                await Client().run(store, requests)
            }
            #expect(failure?.status == status)
        }
    }
}
