import Foundation

/// Work in a separate process, whose cost is counted.
///
/// `keel-bench __child get|down|up keel|peer COUNT PORT` makes COUNT requests one by one, or transfers COUNT bytes to
/// or from the server. Transfers print the peak growth of resident memory in MiB.
struct ChildWork: Sendable {
    static let command = "__child"

    enum Kind: String, Sendable {
        case get
        case down
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
        guard kind != .get else {
            for _ in 0..<count {
                if isKeel { try await pair.keelGet() } else { try await pair.peerGet() }
            }
            return
        }
        // Connections, thread stacks and the allocator's arenas are created once.
        try await transfer(8 << 20, pair)
        let before = try ResidentMemory.start()
        try await transfer(count, pair)
        print(try ResidentMemory.peak() - before)
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
