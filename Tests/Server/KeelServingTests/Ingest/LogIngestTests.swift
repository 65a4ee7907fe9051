import HTTPTypes
import KeelCore
import KeelHTTP
import KeelServing
import KeelStorage
import KeelStorageFirestore
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("OpenTelemetry log ingestion")
struct LogIngestTests {
    private let store: WatchedStore
    private let served: Served

    init() {
        store = WatchedStore(InMemoryStorageAdapter())
        served = Served(store) { $0.ingest = Ingest() }
    }

    private var client: StorageClient { StorageClient(served.adapter) }

    private static let json = #"""
        {"resourceLogs":[{
          "resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},
          "scopeLogs":[{"scope":{"name":"orders"},"logRecords":[{
            "timeUnixNano":"1795341600123456789","severityNumber":17,"severityText":"ERROR",
            "body":{"stringValue":"order refused"},
            "traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174",
            "attributes":[
              {"key":"log.record.uid","value":{"stringValue":"uid-1"}},
              {"key":"count","value":{"intValue":"3"}},
              {"key":"ratio","value":{"doubleValue":0.5}},
              {"key":"list","value":{"arrayValue":{"values":[{"boolValue":true},{}]}}},
              {"key":"map","value":{"kvlistValue":{"values":[
                {"key":"a","value":{"bytesValue":"AQI="}}]}}}
            ]}]}]}]}
        """#

    /// The same request in the binary form.
    private static func protobuf() -> [UInt8] {
        func pair(_ key: String, _ value: @escaping (inout ProtobufWriter) -> Void)
            -> (inout ProtobufWriter) -> Void
        {
            { writer in
                writer.string(1, key)
                writer.message(2, value)
            }
        }
        var request = ProtobufWriter()
        request.message(1) { resourceLogs in
            resourceLogs.message(1) { $0.message(1, pair("service.name") { $0.string(1, "shop") }) }
            resourceLogs.message(2) { scopeLogs in
                scopeLogs.message(1) { $0.string(1, "orders") }
                scopeLogs.message(2) { record in
                    record.fixed64(1, 1_795_341_600_123_456_789)
                    record.varint(2, 17)
                    record.string(3, "ERROR")
                    record.message(5) { $0.string(1, "order refused") }
                    record.message(6, pair("log.record.uid") { $0.string(1, "uid-1") })
                    record.message(6, pair("count") { $0.varint(3, 3) })
                    record.message(6, pair("ratio") { $0.fixed64(4, (0.5).bitPattern) })
                    record.message(
                        6,
                        pair("list") { list in
                            list.message(5) { values in
                                values.message(1) { $0.present(2, 1) }
                                values.message(1) { _ in }
                            }
                        }
                    )
                    record.message(
                        6,
                        pair("map") { map in
                            map.message(6) { $0.message(1, pair("a") { $0.data(7, [1, 2]) }) }
                        }
                    )
                    record.data(9, hexadecimal("5b8efff798038103d269b633813fc60c"))
                    record.data(10, hexadecimal("eee19b7ec3c1b174"))
                }
            }
        }
        return request.bytes
    }

    private static func hexadecimal(_ text: String) -> [UInt8] {
        let digits = Array(text)
        return stride(from: 0, to: digits.count, by: 2).compactMap { place in
            UInt8(String(digits[place...(place + 1)]), radix: 16)
        }
    }

    private func send(
        _ bytes: [UInt8],
        isBinary: Bool,
        to server: StorageServer? = nil
    ) async throws -> HTTPReplyBytes {
        var fields = HTTPFields()
        fields[.contentType] = isBinary ? "application/x-protobuf" : "application/json"
        var head = HTTPRequest("http://127.0.0.1:8080/v1/logs", .post)
        head.headerFields = fields
        let server = server ?? served.server
        let reply = await server.respond(to: HTTPCall(head, body: HTTPBody(bytes)))
        return HTTPReplyBytes(
            status: reply.head.status.code,
            type: reply.head.headerFields[.contentType] ?? "",
            bytes: try await reply.body.collect(upTo: 1 << 20)
        )
    }

    private struct HTTPReplyBytes {
        let status: Int
        let type: String
        let bytes: [UInt8]
    }

    private func expectStored() async throws {
        let stored = try #require(try await client.findDocument("logs/uid-1"))
        #expect(stored["body"] == .string("order refused"))
        #expect(stored["severity"] == .integer(17))
        #expect(stored["severityText"] == .string("ERROR"))
        #expect(stored["time"] == .timestamp(Timestamp(microseconds: 1_795_341_600_123_456)))
        #expect(stored["traceId"] == .string("5b8efff798038103d269b633813fc60c"))
        #expect(stored["spanId"] == .string("eee19b7ec3c1b174"))
        #expect(stored["scope"] == .string("orders"))
        guard case .map(let resource)? = stored["resource"],
            case .map(let attributes)? = stored["attributes"]
        else { return fail("there are no attributes") }
        #expect(resource["service.name"] == .string("shop"))
        #expect(attributes["count"] == .integer(3))
        #expect(attributes["ratio"] == .double(0.5))
        #expect(attributes["list"] == .array([.boolean(true), .null]))
        #expect(attributes["map"] == .map(["a": .bytes([1, 2])]))
    }

    @Test("JSON records become documents, and repeated records are kept once")
    func json() async throws {
        for _ in 0..<2 {
            let reply = try await send(Array(Self.json.utf8), isBinary: false)
            #expect(reply.status == 200)
            #expect(reply.bytes == Array("{}".utf8))
        }
        try await expectStored()
        #expect(try await client.queryDocuments(DocumentQuery("logs")).count == 1)
    }

    @Test("Binary records become the same documents")
    func binary() async throws {
        let reply = try await send(Self.protobuf(), isBinary: true)
        #expect(reply.status == 200)
        #expect(reply.type == "application/x-protobuf")
        #expect(reply.bytes.isEmpty)
        try await expectStored()
    }

    @Test("An unacceptable record is counted, and the others are kept")
    func partialSuccess() async throws {
        let text = Self.json.replacing("uid-1", with: "a/b")
        let reply = try await send(Array(text.utf8), isBinary: false)
        #expect(reply.status == 200)
        let json = try FirestoreJSON(parsing: reply.bytes)
        #expect(json["partialSuccess"]?["rejectedLogRecords"] == "1")
        #expect(json["partialSuccess"]?["errorMessage"]?.text?.isEmpty == false)
    }

    @Test("Each record without an id gets a new one")
    func withoutIDs() async throws {
        let text = Self.json.replacing("log.record.uid", with: "other")
        for _ in 0..<2 { _ = try await send(Array(text.utf8), isBinary: false) }
        #expect(try await client.queryDocuments(DocumentQuery("logs")).count == 2)
    }

    @Test("A malformed message is rejected", arguments: [true, false])
    func refused(isBinary: Bool) async throws {
        let bytes =
            isBinary ? Array(Self.protobuf().dropLast(5)) : Array(#"{"resourceLogs":3}"#.utf8)
        #expect(try await send(bytes, isBinary: isBinary).status == 400)
    }

    /// Returns a request with empty records that share an attribute or a scope's name.
    private static func amplified(_ count: Int, sharing bytes: Int, inScope: Bool) -> [UInt8] {
        let long = String(repeating: "x", count: bytes)
        var request = ProtobufWriter()
        request.message(1) { resourceLogs in
            resourceLogs.message(1) { resource in
                resource.message(1) { pair in
                    pair.string(1, "process.command_args")
                    pair.message(2) { $0.string(1, inScope ? "" : long) }
                }
            }
            resourceLogs.message(2) { scopeLogs in
                scopeLogs.message(1) { $0.string(1, inScope ? long : "") }
                for _ in 0..<count { scopeLogs.message(2) { $0.varint(2, 9) } }
            }
        }
        return request.bytes
    }

    @Test("A request that would expand to gigabytes is rejected before anything is stored")
    func amplification() async throws {
        for inScope in [true, false] {
            let bytes = Self.amplified(1_000, sharing: 900_000, inScope: inScope)
            #expect(try await send(bytes, isBinary: true).status == 413)
        }
        let long = String(repeating: "x", count: 900_000)
        let records = Array(repeating: "{}", count: 1_000).joined(separator: ",")
        let json = #"""
            {"resourceLogs":[{"resource":{"attributes":[{"key":"a","value":{"stringValue":"\#(long)"}}]},
            "scopeLogs":[{"logRecords":[\#(records)]}]}]}
            """#
        #expect(try await send(Array(json.utf8), isBinary: false).status == 413)
        #expect(store.commits.isEmpty)
    }

    @Test("A request is accepted up to the record limit and rejected above it")
    func mostRecords() async throws {
        let tooMany = Self.amplified(10_001, sharing: 1, inScope: false)
        #expect(try await send(tooMany, isBinary: true).status == 413)
        #expect(store.commits.isEmpty)
        let most = Self.amplified(10_000, sharing: 1, inScope: false)
        #expect(try await send(most, isBinary: true).status == 200)
        #expect(store.commits.reduce(0) { $0 + $1.count } == 10_000)
        #expect(store.commits.allSatisfy { $0.count <= 500 })
    }

    @Test("Values in protobuf are limited in number as those in JSON")
    func mostValues() async throws {
        for (most, status) in [(16, 413), (17, 200)] {
            let limited = Served(store) { configuration in
                configuration.ingest = Ingest()
                configuration.maximumJSONValues = most
            }
            let reply = try await send(Self.protobuf(), isBinary: true, to: limited.server)
            #expect(reply.status == status)
        }
    }

    @Test("Large records are committed in small batches")
    func parts() async throws {
        let bytes = Self.amplified(60, sharing: 900_000, inScope: false)
        #expect(try await send(bytes, isBinary: true).status == 200)
        #expect(store.commits.reduce(0) { $0 + $1.count } == 60)
        #expect(store.commits.allSatisfy { $0.count <= 5 })
    }
}
