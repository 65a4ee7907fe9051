#if os(Linux) || os(macOS)
import Foundation
import KeelToolsTestSupport
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

/// A folder of the server's bucket that no other test uses, and a folder of the machine.
struct MotoFolder {
    let scratch: Scratch
    let server: MotoServer
    let root = "s3://first/" + UUID().uuidString

    init() throws {
        scratch = try Scratch()
        server = try MotoServer.shared.get()
    }
}

/// Tests of the command in a folder of their own.
protocol MotoTests { var moto: MotoFolder { get } }

extension MotoTests {
    var scratch: Scratch { moto.scratch }
    var server: MotoServer { moto.server }
    var root: String { moto.root }

    func keel(
        _ arguments: String...,
        input: String? = nil,
        environment: [String: String] = [:]
    ) throws -> (code: Int32, output: String, errors: String) {
        try KeelProcess(
            ["files"] + arguments,
            input: input,
            environment: server.environment(scratch.file("cache")).merging(environment) { $1 }
        ).wait()
    }

    /// Kills a command once it has recorded a part among its notes, or after a minute, so that there is something to
    /// resume.
    ///
    /// - Returns: The exit code or the number of the signal.
    func killed(_ process: KeelProcess, notes: String) async -> Int32 {
        let end = ContinuousClock.now + .seconds(60)
        while process.isRunning, ContinuousClock.now < end {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: notes)) ?? []
            let text = names.first.flatMap {
                try? String(contentsOfFile: notes + "/" + $0, encoding: .utf8)
            }
            if text?.contains("\"number\":1") == true { break }
            await Task.yield()
        }
        process.kill()
        return process.wait().code
    }

    /// Returns bytes that differ in each part, a multiple of four.
    func largeContent(_ count: Int) -> Data {
        var bytes = Data(capacity: count)
        for number in 0..<UInt32(count / 4) {
            withUnsafeBytes(of: number &* 2_654_435_761) { bytes.append(contentsOf: $0) }
        }
        return bytes
    }
}
#endif
