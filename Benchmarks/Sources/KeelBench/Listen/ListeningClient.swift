import Foundation
import KeelAsyncHTTPClient
import KeelHTTP
import KeelStorage
import KeelStorageFirestore
import Synchronization

/// A client that listens to queries over one WebChannel, and commits over another connection.
///
/// It is the same for both servers: Keel's adapter for Google's emulator, without extensions of the protocol.
final class ListeningClient: Sendable {
    /// An event of a listener.
    private enum News: Sendable {
        /// The whole result.
        case loaded
        /// A document's number in a consistent snapshot.
        case changed(DocumentPath, to: DocumentValue?, at: ContinuousClock.Instant)
        case failed(String)
    }

    /// The collection of all documents.
    static let collection = "notes"

    /// The server at which the client listens.
    let server: FirestoreServer
    /// The server at which it commits, which runs as long as the client exists.
    private let committingServer: FirestoreServer
    private let shape: Shape
    private let wire: CountingTransport
    private let writer: StorageClient
    private let listeners: [Task<Void, Never>]
    private let news: AsyncStream<News>
    private let lastNumber = Mutex(Int64(0))

    struct Shape: Sendable {
        var targets: Int
        var documentsPerTarget: Int
        /// The value of the field `group` in the documents of the first target.
        var firstGroup = 0

        fileprivate func query(_ target: Int) -> DocumentQuery {
            let all = DocumentQuery(CollectionPath(ListeningClient.collection))
            guard targets > 1 || firstGroup > 0 else { return all }
            return all.where(.equal("group", .integer(Int64(firstGroup + target))))
        }
    }

    /// Stores the documents of all targets, and listens to the targets until each is complete.
    ///
    /// - Parameters:
    ///   - server: The server at which the client listens.
    ///   - shape: The targets.
    ///   - other: Another server of the same store, at which the client commits; nil for `server`.
    /// - Throws: An error if the documents cannot be stored, or a listener fails.
    @concurrent
    init(
        _ server: FirestoreServer,
        _ shape: Shape,
        committingAt other: FirestoreServer? = nil
    ) async throws {
        (self.server, self.shape) = (server, shape)
        committingServer = other ?? server
        wire = CountingTransport(AsyncHTTPClientTransport())
        writer = Self.client(of: committingServer)
        try await Self.fill(shape, writer)
        let reader = Self.client(of: server, over: wire)
        let (news, told) = AsyncStream.makeStream(of: News.self)
        self.news = news
        listeners = (0..<shape.targets).map { target in
            Task { await Self.listen(reader, shape.query(target), told) }
        }
        var missing = shape.targets
        while missing > 0 {
            switch try await nextNews() {
            case .loaded: missing -= 1
            case .changed: break
            case .failed(let reason): throw Flaw("A listener failed: \(reason)")
            }
        }
    }

    deinit {
        for listener in listeners { listener.cancel() }
    }

    /// Returns a client of a server by Google's protocol.
    static func client(
        of server: FirestoreServer,
        over transport: any HTTPTransport = AsyncHTTPClientTransport()
    ) -> StorageClient {
        var configuration = FirestoreStorageAdapter.Configuration.emulator(
            host: "127.0.0.1:\(server.port)",
            project: "bench"
        )
        configuration.timeout = .seconds(600)
        return StorageClient(FirestoreStorageAdapter(configuration, transport: transport))
    }

    // MARK: Measures

    /// Returns the microseconds from the call of each commit to the snapshot with its change.
    @concurrent
    func times(of commits: Int) async throws -> [Double] {
        var times: [Double] = []
        for _ in 0..<commits { times.append(try await commit()) }
        return times
    }

    /// Returns the average bytes that a commit costs on the listener's connection, without HTTP's own.
    @concurrent
    func bytes(of commits: Int) async throws -> Double {
        let before = wire.count
        for _ in 0..<commits { _ = try await commit() }
        return Double(wire.count - before) / Double(commits)
    }

    /// Changes one document of one target, and returns the microseconds until a snapshot has it.
    @concurrent
    func commit() async throws -> Double {
        let number = lastNumber.withLock { last in
            last += 1
            return last
        }
        let document = Int.random(in: 0..<(shape.targets * shape.documentsPerTarget))
        let path = Self.path(document)
        let fields = Self.fields(of: document, shape, number)
        let start = ContinuousClock.now
        try await writer.setDocument(path, fields)
        while true {
            switch try await nextNews() {
            case .changed(path, to: .integer(number), let time):
                return start.duration(to: time).microseconds
            case .changed, .loaded: break
            case .failed(let reason): throw Flaw("A listener failed: \(reason)")
            }
        }
    }

    // MARK: Documents

    private static func path(_ document: Int) -> DocumentPath {
        DocumentPath("\(collection)/\(document)")
    }

    private static func fields(
        of document: Int,
        _ shape: Shape,
        _ number: Int64
    ) -> DocumentFields {
        let group = shape.firstGroup + document / shape.documentsPerTarget
        return ["group": .integer(Int64(group)), "n": .integer(number)]
    }

    private static func fill(_ shape: Shape, _ writer: StorageClient) async throws {
        let count = shape.targets * shape.documentsPerTarget
        for first in stride(from: 0, to: count, by: 500) {
            try await writer.commit { batch in
                for document in first..<min(first + 500, count) {
                    try batch.set(path(document), fields(of: document, shape, 0))
                }
            }
        }
    }

    // MARK: Listening

    private static func listen(
        _ client: StorageClient,
        _ query: DocumentQuery,
        _ told: AsyncStream<News>.Continuation
    ) async {
        do {
            var isLoaded = false
            for try await snapshot in client.listen(to: query) {
                let time = ContinuousClock.now
                guard isLoaded else {
                    told.yield(.loaded)
                    isLoaded = true
                    continue
                }
                for change in snapshot.changes {
                    let document = change.document
                    told.yield(.changed(document.path, to: document["n"], at: time))
                }
            }
        } catch {
            told.yield(.failed("\(error)"))
        }
    }

    private func nextNews() async throws -> News {
        try await withThrowingTaskGroup(of: News?.self) { [news] group in
            group.addTask {
                var iterator = news.makeAsyncIterator()
                return await iterator.next()
            }
            group.addTask {
                try await Task.sleep(for: .seconds(120))
                throw Flaw("The listeners received nothing for 120 seconds.")
            }
            defer { group.cancelAll() }
            guard let next = try await group.next() ?? nil else {
                throw Flaw("The listeners have ended.")
            }
            return next
        }
    }
}

/// Counts the bytes of the bodies of all replies that pass.
private final class CountingTransport: HTTPTransport {
    private let upstream: any HTTPTransport
    private let received = Mutex(0)

    init(_ upstream: any HTTPTransport) { self.upstream = upstream }

    var features: HTTPTransportFeatures { upstream.features }
    var count: Int { received.withLock { $0 } }

    func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        var reply = try await upstream.send(call)
        reply.body = reply.body.mapReads { [self] read async throws(TransportError) in
            let chunk = try await read()
            if let chunk { received.withLock { $0 += chunk.count } }
            return chunk
        }
        return reply
    }

    func shutdown() async { await upstream.shutdown() }
}
