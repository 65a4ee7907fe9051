import Foundation

/// Work in a separate process, whose cost is counted.
///
/// `keel-bench __child KIND keel|peer COUNT PORT` makes COUNT calls after a warm-up and prints the microseconds of one,
/// or transfers COUNT bytes to or from the server and prints the peak growth of resident memory in MiB.
struct ChildWork: Sendable {
    static let command = "__child"

    enum Kind: String, Sendable {
        /// Small requests, one by one.
        case get
        /// Requests with the header fields of an app, 64 at once.
        case typical
        /// Requests for JSON, decoded, one by one.
        case json
        /// Small requests through a layer of an app; the peer is Keel without one.
        case layered
        /// Calls answered by a cache, one by one.
        case cached
        /// Messages of a WebSocket, one by one.
        case echo
        /// Messages of a WebSocket, 64 of them on their way.
        case echoes
        /// A download of so many bytes.
        case down
        /// An upload of so many bytes.
        case up
    }

    private let kind: Kind
    private let isKeel: Bool
    private let count: Int
    private let port: Int

    init(_ arguments: ArraySlice<String>) throws {
        let words = Array(arguments)
        guard words.count == 4, let kind = Kind(rawValue: words[0]), let count = Int(words[2]),
            let port = Int(words[3])
        else { throw UsageError(message: "not the work of a child: \(words)") }
        (self.kind, isKeel, self.count, self.port) = (kind, words[1] == "keel", count, port)
    }

    /// The program and its arguments.
    static func call(
        _ kind: Kind,
        isKeel: Bool,
        _ count: Int,
        _ port: Int
    ) -> (program: String, arguments: [String]) {
        (
            URL(filePath: CommandLine.arguments[0]).path,
            [command, kind.rawValue, isKeel ? "keel" : "peer", "\(count)", "\(port)"]
        )
    }

    @concurrent
    func run() async throws {
        let pair = try HTTPPair(port: port)
        guard kind == .down || kind == .up else {
            _ = try await calls(128, pair)
            print(try await calls(count, pair))
            return
        }
        // Connections, thread stacks and the allocator's arenas are created once.
        try await transfer(8 << 20, pair)
        let before = try ResidentMemory.start()
        try await transfer(count, pair)
        print(try ResidentMemory.peak() - before)
    }

    /// Returns the microseconds of one of `count` calls.
    private func calls(_ count: Int, _ pair: HTTPPair) async throws -> Double {
        switch (kind, isKeel) {
        case (.typical, true):
            try await HTTPGroup.time(count, at: 64) { try await pair.keelGetTypical() }
        case (.typical, false):
            try await HTTPGroup.time(count, at: 64) { try await pair.peerGetTypical() }
        case (.json, true): try await HTTPGroup.time(count, at: 1) { try await pair.keelGetJSON() }
        case (.json, false): try await HTTPGroup.time(count, at: 1) { try await pair.peerGetJSON() }
        case (.layered, true):
            try await HTTPGroup.time(count, at: 1) { try await pair.keelGetLayered() }
        case (.cached, true): try await HTTPGroup.keelHit(count, pair)
        case (.cached, false): try await HTTPGroup.peerHit(count, pair)
        case (.echo, true): try await HTTPGroup.keelEcho(count, inFlight: 1, port)
        case (.echo, false): try await HTTPGroup.peerEcho(count, inFlight: 1, port)
        case (.echoes, true): try await HTTPGroup.keelEcho(count, inFlight: 64, port)
        case (.echoes, false): try await HTTPGroup.peerEcho(count, inFlight: 64, port)
        case (.get, false): try await HTTPGroup.time(count, at: 1) { try await pair.peerGet() }
        default: try await HTTPGroup.time(count, at: 1) { try await pair.keelGet() }
        }
    }

    private func transfer(_ bytes: Int, _ pair: HTTPPair) async throws {
        switch (kind, isKeel) {
        case (.up, true): try await pair.keelUpload(bytes)
        case (.up, false): try await pair.peerUpload(bytes)
        case (_, true): try await pair.keelDownload(bytes)
        case (_, false): try await pair.peerDownload(bytes)
        }
    }
}
