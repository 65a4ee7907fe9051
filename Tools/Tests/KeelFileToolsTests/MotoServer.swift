#if os(Linux) || os(macOS)
import Foundation
import Testing

/// PyPI's moto on loopback, run by the interpreter in `KEEL_PYTHON` until this process ends.
final class MotoServer: Sendable {
    static let interpreter = ProcessInfo.processInfo.environment["KEEL_PYTHON"]
    static let isPresent = interpreter != nil
    static let absence: Comment =
        "SKIPPED: KEEL_PYTHON names no Python with moto and boto3; see Scripts/setup.sh"
    static let shared = Result { try MotoServer() }

    let endpoint: String
    // The pipe closes when this process ends, which stops the server.
    private let input = Pipe()

    private init() throws {
        let process = Process()
        process.executableURL = URL(filePath: try #require(Self.interpreter))
        process.arguments = [
            URL(filePath: #filePath).deletingLastPathComponent().appending(path: "moto-server.py")
                .path
        ]
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        let port = try #require(Int(line.trimmingCharacters(in: .whitespacesAndNewlines)))
        endpoint = "http://127.0.0.1:\(port)"
    }

    /// The environment of the command.
    func environment(_ cache: URL) -> [String: String] {
        [
            "AWS_ENDPOINT_URL": endpoint, "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
            "AWS_SECRET_ACCESS_KEY": "example", "AWS_REGION": "us-east-1",
            "XDG_CACHE_HOME": cache.path,
        ]
    }
}
#endif
