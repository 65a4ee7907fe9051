#if TestServer
import Foundation
import KeelTestServer

/// The curl of this machine, as a client that nobody here has written.
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

    /// Runs curl without its configuration file and any proxy of the environment.
    static func run(_ arguments: String..., input: [UInt8]? = nil) async throws -> Result {
        try await run(arguments, input: input)
    }

    static func run(_ arguments: [String], input: [UInt8]? = nil) async throws -> Result {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path ?? "/usr/bin/curl")
        process.arguments = ["--disable", "--silent", "--noproxy", "*"] + arguments
        let output = Pipe()
        let standardInput = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = standardInput
        return try await withCheckedThrowingContinuation { continuation in
            // Reading and waiting block a thread, so it is not one of the tasks' own.
            Thread.detachNewThread {
                do {
                    try process.run()
                    if let input {
                        try standardInput.fileHandleForWriting.write(contentsOf: Data(input))
                    }
                    try standardInput.fileHandleForWriting.close()
                    let data = try output.fileHandleForReading.readToEnd() ?? Data()
                    process.waitUntilExit()
                    continuation.resume(
                        returning: Result(
                            exitCode: process.terminationStatus,
                            output: Array(data)
                        )
                    )
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }
}
#endif
