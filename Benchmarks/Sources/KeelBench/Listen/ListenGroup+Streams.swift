import Foundation
import KeelStorage

/// Measures of streams that the benchmarks open without a client library.
extension ListenGroup {
    // MARK: Resumption

    /// Measures the bytes that a server sends to a client that resumes with nothing new.
    static func resumptionBytes(_ stage: Stage, _ options: Options) -> Measure {
        let listening = Listening.one(options)
        @Sendable @concurrent
        func bytes(isKeel: Bool) async throws -> Double {
            let server = try await listening.sides(stage).content(isKeel: isKeel).server
            @Sendable @concurrent
            func open(_ token: String?, _ count: Int?) async throws -> WebChannelStreams {
                try await WebChannelStreams(1, at: server, atOnce: 1) { _ in
                    let collection = ListeningClient.collection
                    return [WebChannelStreams.adding(2, collection, token: token, count: count)]
                }
            }
            let token = try await open(nil, nil).token
            let streams = try await open(token, listening.shape.documentsPerTarget)
            // Messages can follow the one by which the target becomes current.
            try await Task.sleep(for: .milliseconds(300))
            return Double(try await streams.bytes)
        }
        return Measure(
            name: "bytes to resume, nothing new / emulator",
            unit: "B",
            target: .keelAtMost(200),
            maximumRounds: 3,
            keel: { try await bytes(isKeel: true) },
            peer: { try await ifInstalled { try await bytes(isKeel: false) } }
        )
    }

    /// Measures the time until many clients, which resume at once, have all of their targets; the peer is one client.
    ///
    /// With `changes`, a document of each target has changed while the clients were away.
    static func resumption(changes: Bool, _ stage: Stage, _ options: Options) -> Measure {
        let count = options.scaled(1_000)
        @Sendable @concurrent
        func time(_ count: Int, of all: Int) async throws -> Double {
            let served = try await stage.content("rooms") {
                let folder = try WorkFolder("listen", in: options.folder)
                let server = try await FirestoreServer.keel("sqlite:\(folder.path("rooms.sqlite"))")
                return (rooms: try await Rooms(all, of: 100, at: server), folder: folder)
            }
            let token = try await served.rooms.token()
            if changes { try await served.rooms.change() }
            let start = ContinuousClock.now
            let streams = try await served.rooms.resumed(count, from: token)
            let time = start.duration(to: .now)
            // All documents of a target take ten times as much.
            guard try await streams.bytes < 2_000 else {
                throw Flaw("A stream that resumes has received all of its documents.")
            }
            return withExtendedLifetime(streams) { time.microseconds / 1_000 }
        }
        return Measure(
            name: "1,000 streams resume, \(changes ? "a change each" : "nothing new") / one",
            unit: "ms",
            target: .keelAtMost(2_000),
            // A server keeps the stream of a client that is gone for a minute, and has room for 10,000.
            maximumRounds: 3,
            keel: { try await time(count, of: count) },
            peer: { try await time(1, of: count) }
        )
    }

    // MARK: Memory

    /// Measures the memory of many streams that are told nothing; the peer's are connections that wait for a request.
    static func idleStreams(_ options: Options) -> Measure {
        let count = options.isQuick ? 200 : 10_000
        // A new server for each round, because freed memory stays resident.
        @Sendable @concurrent
        func growth<Held: Sendable>(
            _ open: @concurrent @Sendable (FirestoreServer, Int) async throws -> Held
        ) async throws -> Double {
            let files = OpenFiles.raise()
            guard files >= count + 200 else {
                throw NotRun("\(count) streams need more than the \(files) files of ulimit -n")
            }
            let server = try await FirestoreServer.keel("memory")
            _ = try await Rooms(1, of: 10, at: server)
            // The first ones also allocate memory that all of them share.
            let first = try await open(server, 10)
            let before = try server.residentMemory()
            let others = try await open(server, count - 10)
            let after = try server.residentMemory()
            return withExtendedLifetime((first, others)) { after - before }
        }
        return Measure(
            name: "10,000 idle streams, memory / connections",
            unit: "MiB",
            target: .keelAtMost(250),
            maximumRounds: 3,
            keel: {
                try await growth { server, count in
                    try await WebChannelStreams(count, at: server, atOnce: 64) { _ in
                        [WebChannelStreams.adding(2, Rooms.collection(0))]
                    }
                }
            },
            peer: {
                try await growth { server, count in
                    let documents = "/v1/\(WebChannelStreams.database)/documents"
                    let document = "\(documents)/\(Rooms.collection(0))/1"
                    return try await Listeners(count, at: server.port, target: document)
                }
            }
        )
    }

    // MARK: The index of targets

    /// Measures what many targets with other values cost a commit that concerns one target; the peer is that target
    /// alone, on another server.
    static func equalityTargets(_ stage: Stage, _ options: Options) -> Measure {
        let (streams, targets) = options.isQuick ? (2, 20) : (100, 1_000)
        let commits = options.isQuick ? 5 : 500
        @Sendable @concurrent
        func crowd() async throws -> Crowd {
            try await stage.content("crowd") {
                try await Crowd(streams: streams, targets: targets)
            }
        }
        return Measure(
            name: "100,000 equality targets, extra / one alone",
            target: .keelAtMost(50),
            maximumRounds: 5,
            keel: {
                let times = try await crowd().times(of: commits)
                return times.among - times.alone
            },
            peer: { try await crowd().times(of: commits).alone }
        )
    }
}

/// A client with one target on a server that follows many targets, and another one on a server without others.
private final class Crowd: Sendable {
    private let among: ListeningClient
    private let alone: ListeningClient
    private let others: WebChannelStreams

    init(streams: Int, targets: Int) async throws {
        // No other target has this value.
        let shape = ListeningClient.Shape(
            targets: 1,
            documentsPerTarget: 100,
            firstGroup: streams * targets
        )
        let server = try await FirestoreServer.keel("memory")
        alone = try await ListeningClient(try await .keel("memory"), shape)
        among = try await ListeningClient(server, shape)
        others = try await WebChannelStreams(streams, at: server, atOnce: 8) { stream in
            (0..<targets).map { target in
                let collection = ListeningClient.collection
                let group = stream * targets + target
                return WebChannelStreams.adding(target + 1, collection, group: group)
            }
        }
    }

    /// Returns the median microseconds until a commit is heard, with and without the other targets.
    func times(of commits: Int) async throws -> (among: Double, alone: Double) {
        var (first, second): ([Double], [Double]) = ([], [])
        for _ in 0..<commits {
            first.append(try await among.commit())
            second.append(try await alone.commit())
        }
        return (first.median, second.median)
    }
}

/// Collections with documents, of which each stream follows its own.
private final class Rooms: Sendable {
    let server: FirestoreServer
    private let count: Int
    private let size: Int
    private let writer: StorageClient

    @concurrent
    init(_ count: Int, of size: Int, at server: FirestoreServer) async throws {
        (self.server, self.count, self.size) = (server, count, size)
        writer = ListeningClient.client(of: server)
        let all = (0..<count).flatMap { room in (0..<size).map { (room, $0) } }
        try await write(all)
    }

    static func collection(_ room: Int) -> String { "rooms/\(room)/notes" }

    /// Changes a document of each collection.
    func change() async throws {
        try await write((0..<count).map { ($0, Int.random(in: 0..<size)) })
    }

    private func write(_ documents: [(room: Int, document: Int)]) async throws {
        let number = DocumentValue.integer(Int64.random(in: 0..<1_000_000))
        for first in stride(from: 0, to: documents.count, by: 500) {
            try await writer.commit { batch in
                for (room, document) in documents[first..<min(first + 500, documents.count)] {
                    let path = "\(Self.collection(room))/\(document)"
                    try batch.set(DocumentPath(path), ["n": number])
                }
            }
        }
    }

    /// Returns a token of the present state.
    func token() async throws -> String {
        try await WebChannelStreams(1, at: server, atOnce: 1) { _ in
            [WebChannelStreams.adding(2, Self.collection(0))]
        }
        .token
    }

    /// Opens streams at once, each for its own collection, whose client has the documents as of a token.
    func resumed(_ streams: Int, from token: String) async throws -> WebChannelStreams {
        try await WebChannelStreams(streams, at: server, atOnce: streams) { [size] room in
            [WebChannelStreams.adding(2, Self.collection(room), token: token, count: size)]
        }
    }
}

/// The number of files and connections that this process may have open.
enum OpenFiles {
    /// Raises the limit as far as the system lets a process do so itself, and returns it.
    static func raise() -> Int {
        #if canImport(Darwin)
        let (files, most) = (RLIMIT_NOFILE, rlim_t(OPEN_MAX))
        #else
        let (files, most) = (__rlimit_resource_t(RLIMIT_NOFILE.rawValue), rlim_t.max)
        #endif
        var limit = rlimit()
        guard getrlimit(files, &limit) == 0 else { return 0 }
        var raised = limit
        raised.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, most))
        if setrlimit(files, &raised) == 0 { limit = raised }
        return Int(clamping: limit.rlim_cur)
    }
}
