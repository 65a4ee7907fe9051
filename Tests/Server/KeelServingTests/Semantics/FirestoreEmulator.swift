#if os(Linux) || os(macOS)
import KeelTestSupport
import Foundation
import HTTPTypes
import KeelAsyncHTTPClient
import KeelHTTP
import Testing

/// Google's Firestore emulator, in a separate process on a port of 127.0.0.1.
struct FirestoreEmulator: Sendable {
    private static let archive = [
        "/usr/lib/google-cloud-sdk", "/opt/google-cloud-sdk",
        "/opt/homebrew/share/google-cloud-sdk",
    ]
    .map { "\($0)/platform/cloud-firestore-emulator/cloud-firestore-emulator.jar" }
    .first { FileManager.default.fileExists(atPath: $0) }

    private static let java = ["/usr/bin/java", "/usr/local/bin/java", "/opt/homebrew/bin/java"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    static var isInstalled: Bool { archive != nil && java != nil }

    static let absence: Comment = """
        NOT RUN: Google\u{2019}s Firestore emulator (google-cloud-cli-firestore-emulator) or java \
        is not installed
        """

    private let process: PeerProcess
    private let transport = AsyncHTTPClientTransport()
    private let authority: String

    /// Starts the emulator with an empty store.
    init() async throws {
        let port = try PeerProcess.freePort()
        authority = "127.0.0.1:\(port)"
        let archive = try #require(Self.archive)
        process = try await PeerProcess(
            try #require(Self.java),
            [
                // Its error messages exist in English only.
                "-Duser.language=en", "-cp", archive,
                "com.google.cloud.datastore.emulator.firestore.CloudFirestore",
                "--host=127.0.0.1", "--port=\(port)",
            ],
            port: port
        )
    }

    /// Ends the process.
    func stop() async {
        await transport.shutdown()
        await process.kill()
    }

    func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: [UInt8]?
    ) async throws -> Served.Answer {
        // The owner of the emulator bypasses all rules.
        var fields: HTTPFields = [.authorization: "Bearer owner"]
        if body != nil { fields[.contentType] = "application/json" }
        let head = HTTPRequest(
            method: method,
            scheme: "http",
            authority: authority,
            path: path,
            headerFields: fields
        )
        let call = HTTPCall(head, body: body.map { HTTPBody($0) })
        return try await Served.Answer(try await transport.send(call))
    }
}
#endif
