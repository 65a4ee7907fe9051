#if PostgreSQL && (os(Linux) || os(macOS))
import Foundation
import KeelAsyncHTTPClient
import KeelHTTP
import KeelStorage
import KeelStorageFirestore
import KeelTestKit
import KeelToolsTestSupport
import Testing

/// A Listen stream of Firestore's protocol at one of two servers of a database, which is killed while a third one
/// commits; the stream is resumed at the other one.
///
/// `KEEL_FLEET_KILLS` sets the number of kills, `KEEL_SEED` repeats the moments at which they happen.
@Suite("A Listen stream whose keel serve is killed", .timeLimit(.minutes(30)))
struct ServerFleetListenTests {
    /// The number of kills: a run for a change is brief, the nightly run sets `KEEL_THOROUGH`, and `KEEL_FLEET_KILLS`
    /// comes before both.
    private static let kills: Int = {
        let variables = ProcessInfo.processInfo.environment
        if let given = variables["KEEL_FLEET_KILLS"].flatMap({ Int($0) }) { return given }
        return (variables["KEEL_THOROUGH"] ?? "").isEmpty ? 8 : 60
    }()

    /// The number of rounds of commits that the client may not have shown yet.
    private static let window = 20
    private static let writers = 4

    @Test("Resumed at another server, it brings each change since its token, and nothing else")
    func resumes() async throws {
        let seed = SeededRandom.chosenSeed()
        print("KEEL_SEED=\(seed) KEEL_FLEET_KILLS=\(Self.kills)")
        var random = SeededRandom(seed: seed)
        let database = try PostgreSQLServer.shared.get().database()
        let committing = try ServedProcess(storage: database, port: 0)
        defer { committing.kill() }
        var listening: [ServedProcess] = []
        defer { for server in listening { server.kill() } }
        for _ in 0..<2 { listening.append(try ServedProcess(storage: database, port: 0)) }
        let transport = AsyncHTTPClientTransport()
        let storage = Self.storage(at: committing.port, over: transport)
        try await storage.commit { batch in
            for number in 0..<400 {
                try batch.set(DocumentPath("notes/still-\(number)"), ["color": "red", "n": 0])
            }
        }
        let (permits, permit) = AsyncStream.makeStream(of: Void.self)
        async let written: Void = Self.write(to: storage, permits)

        var client = ListenedDocuments()
        var permitted = 0
        for kill in 0..<Self.kills {
            let place = kill % listening.count
            var left = Int.random(in: 1...300, using: &random)
            var stream = try await client.stream(at: listening[place].port, over: transport)
            do {
                while let message = try await stream.next() {
                    let isOfDocument = try client.receive(message)
                    while permitted < client.roundCount + Self.window {
                        permit.yield()
                        permitted += 1
                    }
                    guard isOfDocument, client.token != nil else { continue }
                    left -= 1
                    if left == 0 { listening[place].kill() }
                }
            } catch is TransportError {
                // The server is gone, in the middle of a message or between two.
            }
            try #require(left <= 0, "the stream ended before its server was killed")
            listening[place] = try ServedProcess(storage: database, port: 0)
        }
        permit.finish()
        try await written
        try await storage.setDocument("notes/last", ["color": "red", "n": 0])
        var stream = try await client.stream(at: listening[0].port, over: transport)
        while client.shown["last"] == nil {
            let message = try #require(try await stream.next())
            _ = try client.receive(message)
        }

        let query = DocumentQuery("notes").where(.equal("color", "red"))
        let stored = try await storage.queryDocuments(query).map { document in
            (document.id, Int(document["n"]?.integerValue ?? -1))
        }
        #expect(client.shown == Dictionary(uniqueKeysWithValues: stored))
        print("\(client.roundCount * Self.writers) commits, \(client.messageCount) messages")
        await transport.shutdown()
    }

    private static func storage(
        at port: Int,
        over transport: AsyncHTTPClientTransport
    ) -> StorageClient {
        var configuration = FirestoreStorageAdapter.Configuration.emulator(
            host: "127.0.0.1:\(port)",
            project: "p"
        )
        // Tests that wait for a process occupy the threads that this one needs.
        configuration.timeout = .seconds(600)
        return StorageClient(FirestoreStorageAdapter(configuration, transport: transport))
    }

    /// Commits a round for each permit, in which several writers commit at once.
    ///
    /// A writer creates a document, and deletes or changes one that it created five rounds before, or leaves it alone.
    /// No later commit hides that a client has missed one: a document is not written a third time.
    private static func write(
        to storage: StorageClient,
        _ permits: AsyncStream<Void>
    ) async throws {
        var round = 0
        for await _ in permits {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<writers {
                    group.addTask { [round] in try await commit(round, of: writer, to: storage) }
                }
                try await group.waitForAll()
            }
            round += 1
        }
    }

    private static func commit(
        _ round: Int,
        of writer: Int,
        to storage: StorageClient
    ) async throws {
        let number = DocumentValue.integer(Int64(round))
        try await storage.commit { batch in
            try batch.create(
                DocumentPath("notes/\(writer)-\(round)"),
                ["color": "red", "n": number]
            )
            let former = round - 5
            guard former >= 0 else { return }
            let path = DocumentPath("notes/\(writer)-\(former)")
            switch former % 4 {
            case 0: batch.delete(path)
            case 1: try batch.set(path, ["color": "blue", "n": number])
            case 2: try batch.set(path, ["color": "red", "n": number])
            default: break
            }
        }
    }
}

/// The documents that a client of one target has, by the messages of its streams.
///
/// As in the SDKs, documents are shown with the next consistent point. Those that arrived after the last one are lost
/// with their stream.
private struct ListenedDocuments {
    struct Violation: Error, CustomStringConvertible { let description: String }

    /// The field `n` of the documents that the client shows, by id.
    private(set) var shown: [String: Int] = [:]
    private(set) var token: String?
    /// The number of rounds of which the client has shown a document.
    private(set) var roundCount = 0
    private(set) var messageCount = 0
    /// The changes since the last consistent point; nil for a document that has left the result.
    private var staged: [String: Int?] = [:]
    /// The last number with which each document was shown; the largest one if it has left the result for good.
    private var newest: [String: Int] = [:]
    /// Whether the stream continues from a token and has not reached a consistent point yet.
    private var isCatchingUp = false

    /// Opens a stream that continues from the last token.
    mutating func stream(
        at port: Int,
        over transport: AsyncHTTPClientTransport
    ) async throws -> ListenChannel {
        (staged, isCatchingUp) = ([:], token != nil)
        return try await ListenChannel.open(request, at: port, over: transport)
    }

    /// The request that adds the target: the red notes.
    private var request: String {
        let database = ListenChannel.database
        let resumption = token.map { #","resumeToken":"\#($0)""# } ?? ""
        return #"{"database":"\#(database)","addTarget":{"targetId":2\#(resumption),"#
            + #""query":{"parent":"\#(database)/documents","structuredQuery":{"#
            + #""from":[{"collectionId":"notes"}],"where":{"fieldFilter":{"#
            + #""field":{"fieldPath":"color"},"op":"EQUAL","value":{"stringValue":"red"}}}}}}}"#
    }

    /// Takes a message.
    ///
    /// - Returns: Whether it is about a document.
    /// - Throws: ``Violation`` if the server repeats what the client has, goes back, or makes it begin anew.
    mutating func receive(_ message: ListenChannel.Message) throws -> Bool {
        messageCount += 1
        if let document = message.documentChange?.document {
            let id = Self.id(of: document.name)
            guard let number = document.fields["n"]?.integerValue.flatMap({ Int($0) }) else {
                throw Violation(description: "\(id) has no number")
            }
            let last = newest[id] ?? -1
            // A page of the log that begins before the point at which a stream joins it may repeat a document.
            guard isCatchingUp ? number > last : number >= last else {
                throw Violation(description: "\(id) comes with \(number) after \(last)")
            }
            staged[id] = .some(number)
            return true
        }
        if let departure = message.documentDelete ?? message.documentRemove {
            staged.updateValue(nil, forKey: Self.id(of: departure.document))
            return true
        }
        guard let change = message.targetChange else {
            throw Violation(description: "a message that was not asked for: \(message)")
        }
        switch change.targetChangeType {
        case nil, "NO_CHANGE"?: try show(change.resumeToken)
        case "CURRENT"? where change.targetIds == nil: try show(change.resumeToken)
        case "ADD"?, "CURRENT"?: break
        case let kind?: throw Violation(description: "the target is told \(kind)")
        }
        return false
    }

    /// Shows what has arrived.
    private mutating func show(_ token: String?) throws {
        guard let token else { throw Violation(description: "a consistent point has no token") }
        for (id, number) in staged {
            shown[id] = number
            newest[id] = number ?? .max
            // The writers begin a round together.
            if id.hasPrefix("0-"), let round = Int(id.dropFirst(2)) {
                roundCount = max(roundCount, round + 1)
            }
        }
        (self.token, staged, isCatchingUp) = (token, [:], false)
    }

    private static func id(of name: String) -> String {
        name.split(separator: "/").last.map(String.init) ?? name
    }
}
#endif
