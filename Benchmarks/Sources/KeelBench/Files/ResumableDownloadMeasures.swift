import Foundation
import KeelHTTP
import KeelHTTPTransfers

/// Resumable downloads, compared with curl on the same server.
enum ResumableDownloadMeasures {
    /// Returns all measures of transfers.
    @concurrent
    static func measures(_ options: Options) async throws -> [Measure] {
        let pair = Lazily { try HTTPPair() }
        return [download(pair, options)]
    }

    /// Measures a download to a file that is synchronized at the end.
    ///
    /// curl does not synchronize, so `sync` of coreutils runs after it. Keel also synchronizes and records each
    /// checkpoint; curl has a process to start.
    private static func download(_ pair: Lazily<HTTPPair>, _ options: Options) -> Measure {
        let count = options.isQuick ? 1 << 20 : 256 << 20
        @Sendable @concurrent
        func time(
            _ name: String,
            _ download: (URL, URL) async throws -> Void
        ) async throws -> Double {
            let pair = try await pair.value()
            guard let address = URL(string: "\(pair.address)/bytes/\(count)") else {
                throw Flaw("No address.")
            }
            let file = options.folder
                .appending(path: "keel-bench-\(ProcessInfo.processInfo.processIdentifier)-\(name)")
            defer { try? FileManager.default.removeItem(at: file) }
            let start = ContinuousClock.now
            try await download(address, file)
            let time = start.duration(to: .now) / .milliseconds(1)
            let size = try file.resourceValues(forKeys: [.fileSizeKey]).fileSize
            guard size == count else { throw Flaw("The file of \(name) is not whole.") }
            return time
        }
        return Measure(
            name: "resumable download of 256 MiB / curl and sync",
            unit: "ms",
            target: .atLeast(0.9),
            keel: {
                let client = try await pair.value().client
                return try await time("keel") { address, file in
                    _ = try await ResumableDownload(from: address, to: file, through: client).run()
                }
            },
            peer: {
                try await time("curl") { address, file in
                    let script = #"curl -sS --fail -o "$1" "$2" && sync "$1""#
                    let run = try await ProgramRun(
                        "sh",
                        ["-c", script, "sh", file.path, address.absoluteString]
                    )
                    guard run.status == 0 else { throw NotRun("curl failed: \(run.lastLine)") }
                }
            }
        )
    }
}
