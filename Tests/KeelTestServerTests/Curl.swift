#if TestServer
import Foundation
import KeelTestServer

/// The installed curl, as an independent client.
enum Curl {
    struct Result: Sendable {
        var exitCode: Int32
        var output: [UInt8]

        var text: String { String(decoding: output, as: UTF8.self) }
    }

    static let path = ["/usr/bin/curl", "/usr/local/bin/curl", "/opt/homebrew/bin/curl"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    static var isMissing: Bool { path == nil }

    /// Runs curl without its configuration file and without proxies of the environment.
    static func run(_ arguments: String..., input: [UInt8] = []) async throws -> Result {
        try await run(arguments, input: input)
    }

    static func run(_ arguments: [String], input: [UInt8] = []) async throws -> Result {
        // Files, because a process started concurrently would inherit the end of a pipe.
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("keel-curl-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (source, target) = (folder.appending(path: "in"), folder.appending(path: "out"))
        try Data(input).write(to: source)
        try Data().write(to: target)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path ?? "/usr/bin/curl")
        process.arguments = ["--disable", "--silent"] + arguments
        // No proxies or other settings of the environment.
        process.environment = [:]
        process.standardInput = try FileHandle(forReadingFrom: source)
        process.standardOutput = try FileHandle(forWritingTo: target)
        process.standardError = FileHandle.nullDevice
        let exitCode = try await withCheckedThrowingContinuation {
            (continuation: CheckedContinuation<Int32, any Error>) in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do {
                try process.run()
            } catch {
                continuation.resume(throwing: error)
            }
        }
        return Result(exitCode: exitCode, output: Array(try Data(contentsOf: target)))
    }
}
#endif
