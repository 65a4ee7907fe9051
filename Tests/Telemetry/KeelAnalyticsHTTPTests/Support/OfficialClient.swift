#if TestServer
import KeelTestSupport
import Foundation
import KeelTestKit
import KeelTestServer
import Testing

/// A vendor's own Python client, run by the interpreter in `KEEL_PYTHON`.
enum OfficialClient {
    static let interpreter = ProcessInfo.processInfo.environment["KEEL_PYTHON"]

    static let isPresent = interpreter != nil

    /// The reason for skipping the tests.
    static let absence: Comment = """
        SKIPPED: KEEL_PYTHON names no Python with the vendors' packages; see Scripts/setup.sh
        """

    /// Makes a vendor's client, by its name in the script, send all that it can to a server, over a real socket.
    static func send(
        _ vendor: String,
        key: String,
        to server: AnalyticsServerDouble
    ) async throws -> (exitCode: Int32, output: String) {
        try await FaultServer.run(answering: server.answer) { listener in
            let script = URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "official-clients.py")
            let run = try await ProgramRun(
                URL(filePath: try #require(interpreter)),
                [script.path, vendor, "http://\(listener.authority)", key]
            )
            return (run.exitCode, run.text + run.errors)
        }
    }
}
#endif
