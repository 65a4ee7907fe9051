#if TestServer
import KeelTestSupport
import Foundation

/// The installed curl, as an independent client.
enum Curl {
    static let path = ["/usr/bin/curl", "/usr/local/bin/curl", "/opt/homebrew/bin/curl"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    static var isMissing: Bool { path == nil }

    /// Runs curl without its configuration file and without proxies of the environment.
    static func run(_ arguments: String..., input: [UInt8] = []) async throws -> ProgramRun {
        try await run(arguments, input: input)
    }

    static func run(_ arguments: [String], input: [UInt8] = []) async throws -> ProgramRun {
        try await ProgramRun(
            URL(fileURLWithPath: path ?? "/usr/bin/curl"),
            ["--disable", "--silent"] + arguments,
            input: input,
            // No proxies or other settings of the environment.
            environment: [:]
        )
    }
}
#endif
