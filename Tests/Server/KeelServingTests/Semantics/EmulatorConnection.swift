#if os(Linux) || os(macOS)
import HTTPTypes
import KeelAsyncHTTPClient
import KeelHTTP
import KeelTestKit
import KeelTestSupport
import Testing

/// Google's Firestore emulator, and the connections to it.
struct EmulatorConnection: Sendable {
    private let emulator: FirestoreEmulator
    private let transport = AsyncHTTPClientTransport()

    /// Starts an emulator with an empty store.
    init() async throws { emulator = try await FirestoreEmulator() }

    /// Ends the process.
    func stop() async {
        await transport.shutdown()
        await emulator.stop()
    }

    func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: [UInt8]?
    ) async throws -> Served.Answer {
        // The owner of the emulator bypasses all rules.
        var fields: HTTPFields = [.authorization: "Bearer owner"]
        if body != nil { fields[.contentType] = "application/json" }
        let head = HTTPRequest("http://\(emulator.host)\(path)", method, fields)
        let call = HTTPCall(head, body: body.map { HTTPBody($0) })
        return try await Served.Answer(try await transport.send(call))
    }
}
#endif
