#if Crypto
import Foundation
import HTTPTypes
import KeelCore
import KeelFiles
import KeelHTTP
import KeelTestKit
import KeelTestSupport
import Testing

@testable import KeelFilesS3

@Suite("Server time of S3")
struct ServerTimeTests {
    private typealias Answer = ScriptedHTTPTransport.Answer

    private static func adapter(
        _ transport: ScriptedHTTPTransport,
        endpoint: String = "http://127.0.0.1:9000"
    ) throws -> S3FileStoreAdapter {
        try s3Adapter(transport, endpoint: endpoint) { $0.retry = RetryPolicy(attempts: 2) }
    }

    /// Returns a refusal because of the time, by a server with another clock.
    private static func skewed(_ date: String) -> Answer {
        let text = "<?xml version=\"1.0\"?><Error><Code>RequestTimeTooSkewed</Code></Error>"
        return .status(.forbidden, headers: [.date: date], body: Array(text.utf8))
    }

    private static let object = Answer.status(
        .ok,
        headers: [
            .contentLength: "1", .eTag: "\"e1\"", .lastModified: "Fri, 15 Jan 2027 08:00:00 GMT",
        ],
        body: Array("x".utf8)
    )

    @Test("A wrong clock is corrected once from the server's time, and stays corrected")
    func skew() async throws {
        let date = "Fri, 15 Jan 2027 10:00:00 GMT"
        let transport = ScriptedHTTPTransport([
            Self.skewed(date), Self.object,
            Self.object,
        ])
        let files = FileStore(try Self.adapter(transport))
        _ = try await files.metadata(of: "a")
        _ = try await files.metadata(of: "a")
        let name = try #require(HTTPField.Name("x-amz-date"))
        #expect(
            transport.calls.map { $0.head.headerFields[name] } == [
                "20270115T080000Z", "20270115T100000Z", "20270115T100000Z",
            ]
        )
    }

    @Test("Requests that are refused at the same time are all signed again, with the same time")
    func concurrentSkew() async throws {
        let gate = Gate()
        let text = "<?xml version=\"1.0\"?><Error><Code>RequestTimeTooSkewed</Code></Error>"
        let refused = HTTPResponse(
            status: .forbidden,
            headerFields: [.date: "Fri, 15 Jan 2027 10:00:00 GMT"]
        )
        let held = Answer { _ async throws(TransportError) in
            do { try await gate.pass() } catch { throw TransportError(.cancelled) }
            return HTTPReply(head: refused, body: .chunks([Array(text.utf8)]))
        }
        let transport = ScriptedHTTPTransport([held, held, Self.object, Self.object])
        let files = FileStore(try Self.adapter(transport))
        async let first = files.metadata(of: "a")
        async let second = files.metadata(of: "b")
        try await waitUntil { gate.begunCount == 2 }
        gate.open()
        _ = try await (first, second)
        let name = try #require(HTTPField.Name("x-amz-date"))
        #expect(
            transport.calls.map { $0.head.headerFields[name] } == [
                "20270115T080000Z", "20270115T080000Z", "20270115T100000Z", "20270115T100000Z",
            ]
        )
    }

    @Test("A server that rejects every timestamp is asked twice at most")
    func hopelessSkew() async throws {
        let date = "Fri, 15 Jan 2027 10:00:00 GMT"
        let transport = ScriptedHTTPTransport(then: Self.skewed(date))
        await expectError(FileStoreError.self, .credentialsRefused) {
            try await FileStore(try Self.adapter(transport)).read("a")
        }
        #expect(transport.calls.count == 2)
    }

    @Test(
        "A reply sets the clock over TLS or on this machine, by a day at most",
        arguments: [
            ("https://files.example", "Sat, 16 Jan 2027 07:00:00 GMT", true),
            ("http://127.0.0.1:9000", "Sat, 16 Jan 2027 07:00:00 GMT", true),
            ("http://[::1]:9000", "Thu, 14 Jan 2027 09:00:00 GMT", true),
            ("http://files.localhost", "Fri, 15 Jan 2027 10:00:00 GMT", true),
            ("https://files.example", "Sat, 16 Jan 2027 09:00:00 GMT", false),
            ("http://127.0.0.1:9000", "Thu, 14 Jan 2027 07:00:00 GMT", false),
            ("http://files.example", "Fri, 15 Jan 2027 10:00:00 GMT", false),
            ("http://127.0.0.1.example", "Fri, 15 Jan 2027 10:00:00 GMT", false),
            ("http://192.168.1.5:9000", "Fri, 15 Jan 2027 10:00:00 GMT", false),
        ]
    )
    func foreignClock(endpoint: String, date: String, isTaken: Bool) async throws {
        let transport = ScriptedHTTPTransport(then: Self.skewed(date))
        let error = await #expect(throws: FileStoreError.self) {
            try await FileStore(try Self.adapter(transport, endpoint: endpoint)).read("a")
        }
        #expect(transport.calls.count == (isTaken ? 2 : 1))
        #expect(error?.message.contains("set this machine's clock") == true)
    }

    @Test("Replies set the clock by a day at most in total")
    func wanderingClock() async throws {
        let (first, second) = ("Sat, 16 Jan 2027 04:00:00 GMT", "Sun, 17 Jan 2027 00:00:00 GMT")
        let transport = ScriptedHTTPTransport([
            Self.skewed(first),
            Self.object,
            Self.skewed(second),
        ])
        let files = FileStore(try Self.adapter(transport))
        _ = try await files.metadata(of: "a")
        await #expect(throws: FileStoreError.self) { try await files.metadata(of: "a") }
        #expect(transport.calls.count == 3)
    }
}
#endif
