import Crypto
import Foundation

extension HTTPGroup {
    /// Measures a download to a file with a checksum; the target is 0.9 times the peer's throughput.
    static func file(_ pair: Lazily<HTTPPair>, _ options: Options, syncs: Bool) -> Measure {
        let count = options.isQuick ? 1 << 20 : 64 << 20
        let expectedDigest = Lazily { digest(ofDownloaded: count) }
        @Sendable @concurrent
        func time(
            _ name: String,
            _ download: (URL) async throws -> SHA256.Digest
        ) async throws -> Double {
            let file = options.folder
                .appending(path: "keel-bench-\(ProcessInfo.processInfo.processIdentifier)-\(name)")
            defer { try? FileManager.default.removeItem(at: file) }
            let start = ContinuousClock.now
            let found = try await download(file)
            let time = start.duration(to: .now) / .milliseconds(1)
            let size = try file.resourceValues(forKeys: [.fileSizeKey]).fileSize
            let expected = try await expectedDigest.value()
            guard found == expected, size == count else {
                throw Flaw("The file of \(name) differs.")
            }
            return time
        }
        return Measure(
            name: "64 MiB to a file, SHA-256 / " + (syncs ? "the same, synced" : "without a sync"),
            unit: "ms",
            target: syncs ? .atLeast(0.9) : .info,
            keel: {
                let pair = try await pair.value()
                return try await time("keel") { try await pair.keelFile(count, $0) }
            },
            peer: {
                let pair = try await pair.value()
                return try await time("peer") {
                    try await pair.peerFile(count, $0, syncs: syncs)
                }
            }
        )
    }

    private static func digest(ofDownloaded count: Int) -> SHA256.Digest {
        var hash = SHA256()
        hash.update(data: [UInt8](repeating: 0x78, count: count))
        return hash.finalize()
    }

    /// Measures the growth of resident memory during a long transfer, each in a new process.
    static func memory(
        _ pair: Lazily<HTTPPair>,
        _ options: Options,
        _ kind: ChildWork.Kind
    ) -> Measure {
        let count = options.isQuick ? 8 << 20 : 1 << 30
        @Sendable @concurrent
        func growth(isKeel: Bool) async throws -> Double {
            let port = try await pair.value().port
            let call = ChildWork.call(kind, isKeel: isKeel, count, port)
            return try await ProgramRun(call.program, call.arguments).number()
        }
        return Measure(
            name: "1 GiB \(kind.rawValue), growth of memory / AsyncHTTPClient",
            unit: "MiB",
            target: .keelAtMost(16),
            keel: { try await growth(isKeel: true) },
            peer: { try await growth(isKeel: false) }
        )
    }
}
