import Foundation

extension ServerGroup {
    /// Measures a query without a limit against the peer's list of all rows.
    static func allDocuments(_ pair: Lazily<ServerPair>) -> Measure {
        @Sendable @concurrent
        func time(
            _ read: @concurrent @Sendable (ServerPair) async throws -> Void
        ) async throws -> Double {
            let pair = try await pair.value()
            let start = ContinuousClock.now
            try await read(pair)
            return start.duration(to: .now).microseconds / 1_000
        }
        return Measure(
            name: "a reply of 100,000 documents / Hummingbird",
            unit: "ms",
            target: .keelAtMost(3_000),
            keel: { try await time { try await $0.keelAll() } },
            peer: { try await time { try await $0.peerAll() } }
        )
    }

    /// Measures the memory for such a reply, in servers that have answered a small request.
    static func replyMemory(_ count: Int, in folder: URL) -> Measure {
        // New servers for each round, because freed memory stays resident.
        @Sendable @concurrent
        func growth(isKeel: Bool) async throws -> Double {
            let pair = try await ServerPair(count: count, in: folder)
            try await (isKeel ? pair.keelGet() : pair.peerGet())
            let server = isKeel ? pair.keel : pair.peer
            let before = try server.startMemory()
            try await (isKeel ? pair.keelAll() : pair.peerAll())
            return try server.peakMemory() - before
        }
        return Measure(
            name: "a reply of 100,000 documents, memory / Hummingbird",
            unit: "MiB",
            target: .keelAtMost(32),
            maximumRounds: 3,
            keel: { try await growth(isKeel: true) },
            peer: { try await growth(isKeel: false) }
        )
    }
}
