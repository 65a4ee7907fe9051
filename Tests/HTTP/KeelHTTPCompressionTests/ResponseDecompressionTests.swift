import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelHTTPCompression
import KeelTestKit
import KeelTestSupport
import Testing

private let get = HTTPRequest(method: .get, scheme: "https", authority: "example.org", path: "/")

private func reply(
    _ chunks: [[UInt8]],
    coding: String = "gzip",
    status: HTTPResponse.Status = .ok,
    method: HTTPRequest.Method = .get,
    limits: DecompressionLimits = DecompressionLimits()
) async throws -> HTTPReply {
    let length = chunks.reduce(0) { $0 + $1.count }
    let transport = ScriptedHTTPTransport([
        .chunks(
            chunks,
            status: status,
            headers: [.contentEncoding: coding, .contentLength: "\(length)"]
        )
    ])
    var head = get
    head.method = method
    let layer = ResponseDecompression(for: transport.features, limits: limits)
    return try await transport.chain([layer])(HTTPCall(head))
}

private func failure(_ reply: HTTPReply) async -> TransportError.Code? {
    do throws(TransportError) {
        _ = try await reply.body.collect(upTo: 64 * 1024 * 1024)
        return nil
    } catch { return error.code }
}

@Suite("Response decompression", .timeLimit(.minutes(2)))
struct ResponseDecompressionTests {
    typealias Vectors = CompressedVectors

    static let rows: [(String, String, [UInt8], [UInt8])] = [
        ("gzip", "gzip", Vectors.gzip, Vectors.text),
        ("gzip with a name", "x-gzip", Vectors.gzipWithName, Vectors.text),
        ("three gzip members", "GZIP", Vectors.gzipMembers, Vectors.text),
        ("padded gzip", "gzip", Vectors.gzip + [0, 0, 0], Vectors.text),
        ("zlib", "deflate", Vectors.zlib, Vectors.text),
        ("raw deflate", "deflate", Vectors.raw, Vectors.text),
        ("stored zlib", "deflate", Vectors.zlibStored, Array("stored".utf8)),
        ("empty gzip", "gzip", Vectors.gzipEmpty, []),
        ("no bytes at all", "gzip", [], []),
        ("gzip twice", "gzip, gzip", Vectors.gzipOfGzip, Vectors.text),
        ("identity", "identity", Vectors.text, Vectors.text),
    ]

    @Test("The text is decoded wherever the body is split", arguments: rows)
    func everySplit(name: String, coding: String, bytes: [UInt8], text: [UInt8]) async throws {
        for place in 0...bytes.count {
            let chunks = [Array(bytes[..<place]), Array(bytes[place...])]
            let reply = try await reply(chunks, coding: coding)
            #expect(try await reply.body.collect(upTo: 4096) == text, "\(name), \(place)")
            #expect(reply.head.headerFields[.contentEncoding] == nil)
        }
        let single = try await reply(bytes.map { [$0] }, coding: coding)
        #expect(try await single.body.collect(upTo: 4096) == text)
    }

    @Test("Fields of the compressed form are removed, and others are kept")
    func fields() async throws {
        let decoded = try await reply([Vectors.gzip])
        #expect(decoded.head.headerFields.isEmpty)
        let identical = try await reply([Vectors.text], coding: "identity")
        #expect(identical.announcedLength == Int64(Vectors.text.count))
    }

    @Test("Responses without a full body or with an unknown coding are left unchanged")
    func untouched() async throws {
        let rows: [(String, HTTPResponse.Status, HTTPRequest.Method)] = [
            ("gzip", .ok, .head), ("gzip", .noContent, .get), ("gzip", .notModified, .get),
            ("gzip", .partialContent, .get), ("br", .ok, .get), ("gzip, br", .ok, .get),
            ("gzip,gzip,gzip,gzip", .ok, .get),
        ]
        for (coding, status, method) in rows {
            let reply = try await reply(
                [Vectors.gzip],
                coding: coding,
                status: status,
                method: method
            )
            #expect(reply.head.headerFields[.contentEncoding] == coding)
            #expect(reply.announcedLength == Int64(Vectors.gzip.count))
            #expect(try await reply.body.collect(upTo: 4096) == Vectors.gzip)
        }
    }

    @Test("Compression is requested only where decoding is allowed")
    func asking() async throws {
        func fields(
            _ fields: HTTPFields,
            _ features: HTTPTransportFeatures = .rawContentCoding
        ) async throws -> HTTPFields {
            let transport = ScriptedHTTPTransport([.status(.ok)], features: features)
            var head = get
            head.headerFields = fields
            _ = try await transport.chain([ResponseDecompression(for: features)])(HTTPCall(head))
            return transport.calls[0].head.headerFields
        }
        #expect(try await fields([:])[.acceptEncoding] == "gzip, deflate")
        #expect(try await fields([.acceptEncoding: "br"])[.acceptEncoding] == "br")
        #expect(try await fields([.range: "bytes=0-1"])[.acceptEncoding] == nil)
        #expect(try await fields([:], [])[.acceptEncoding] == nil)
        var head = get
        head.method = .head
        let transport = ScriptedHTTPTransport([.status(.ok), .status(.ok)])
        let chain = transport.chain([ResponseDecompression(for: transport.features)])
        _ = try await chain(HTTPCall(head))
        var watched = HTTPCall(get)
        watched.options.downloadObserver = .progress { _ in }
        _ = try await chain(watched)
        #expect(transport.calls.map { $0.head.headerFields[.acceptEncoding] } == [nil, nil])
    }

    @Test(
        "Every truncation is reported",
        arguments: [
            ("gzip", Vectors.gzip), ("deflate", Vectors.zlib), ("deflate", Vectors.raw),
            ("gzip", Vectors.gzipMembers),
        ]
    )
    func truncated(coding: String, bytes: [UInt8]) async throws {
        let members = [Vectors.gzipMembers.count]
        for length in 1..<bytes.count {
            let code = await failure(try await reply([Array(bytes[..<length])], coding: coding))
            // Between two members, the data so far is complete.
            if code == nil, bytes.count == members[0] {
                #expect(bytes[length...].starts(with: [0x1f, 0x8b]))
                continue
            }
            #expect(code == .decompressionFailed, "\(length)")
        }
    }

    @Test(
        "Uncompressed data and data after the end are reported",
        arguments: [
            ("gzip", Array("<html>".utf8)), ("deflate", [0xff, 0xff, 0xff]),
            ("gzip", Vectors.gzip + [1]), ("gzip", Vectors.gzip + [0, 0, 1]),
            ("deflate", Vectors.zlib + [0]), ("gzip", Vectors.zlib), ("gzip, gzip", Vectors.gzip),
        ] as [(String, [UInt8])]
    )
    func garbage(coding: String, bytes: [UInt8]) async throws {
        #expect(await failure(try await reply([bytes], coding: coding)) == .decompressionFailed)
    }

    @Test("Damaged bytes are never taken for the text", arguments: [UInt64(1), 2])
    func fuzz(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        for round in 0..<3_000 {
            var bytes =
                [Vectors.gzip, Vectors.zlib, Vectors.raw, Vectors.gzipMembers]
                .randomElement(using: &random) ?? []
            let isGzip = bytes.starts(with: [0x1f, 0x8b])
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: bytes.indices, using: &random)
                bytes[place] ^= UInt8.random(in: 1...255, using: &random)
            }
            let reply = try await reply([bytes], coding: isGzip ? "gzip" : "deflate")
            do throws(TransportError) {
                let text = try await reply.body.collect(upTo: 1 << 20)
                // Header bytes such as the time may change; raw deflate has no checksum.
                if isGzip { #expect(text == Vectors.text, "seed \(seed), round \(round)") }
            } catch {
                #expect(
                    [.decompressionFailed, .decompressionLimit].contains(error.code),
                    "seed \(seed), round \(round)"
                )
            }
        }
    }

    @Test("A failure of the exchange is passed on, and nothing follows it")
    func upstreamFailure() async throws {
        let transport = ScriptedHTTPTransport([
            .chunks(
                [Array(Vectors.gzip.prefix(20))],
                headers: [.contentEncoding: "gzip"],
                thenThrow: TransportError(.connectionLost)
            )
        ])
        let layer = ResponseDecompression(for: transport.features)
        let reply = try await transport.chain([layer])(HTTPCall(get))
        var iterator = reply.body.makeAsyncIterator()
        await expectError(TransportError.self, .connectionLost) {
            while try await iterator.next() != nil {}
        }
        #expect(try await iterator.next() == nil)
    }
}

@Suite("Compression of large bodies", .timeLimit(.minutes(10)))
struct LargeBodyTests {
    /// Returns zeros compressed by `RequestCompression`.
    private func zeros(_ megabytes: Int) async throws -> [UInt8] {
        let body = HTTPBody(length: nil, isReplayable: true) { () async throws(TransportError) in
            .chunks(Array(repeating: [UInt8](repeating: 0, count: 1 << 20), count: megabytes))
        }
        return try await compressed(body)
    }

    private func compressed(_ body: HTTPBody) async throws -> [UInt8] {
        let transport = ScriptedHTTPTransport([.status(.ok)])
        var head = get
        head.method = .post
        _ = try await transport.chain([RequestCompression()])(HTTPCall(head, body: body))
        return transport.calls[0].body
    }

    @Test("A bomb is rejected at the ratio, before it has expanded")
    func ratio() async throws {
        let bomb = try await zeros(40)
        #expect(bomb.count < 50_000)
        let reply = try await reply([bomb])
        var size = 0
        await expectError(TransportError.self, .decompressionLimit) {
            for try await piece in reply.body { size += piece.count }
        }
        #expect(size <= max(1 << 20, bomb.count * 200) + (64 << 10))
    }

    @Test("Two codings do not multiply the ratio")
    func ratioOfCodings() async throws {
        let bomb = try await compressed(HTTPBody(zeros(40)))
        #expect(bomb.count < 5_000)
        let reply = try await reply([bomb], coding: "gzip, gzip")
        var size = 0
        await expectError(TransportError.self, .decompressionLimit) {
            for try await piece in reply.body { size += piece.count }
        }
        #expect(size <= (1 << 20) + (64 << 10))
    }

    @Test("A body is rejected at the total, and passes if the limits allow it")
    func total() async throws {
        let zeros = try await zeros(3)
        let stopped = try await reply(
            [zeros],
            limits: DecompressionLimits(ratio: 2000, total: 2 << 20)
        )
        #expect(await failure(stopped) == .decompressionLimit)
        let passed = try await reply([zeros], limits: DecompressionLimits(ratio: 2000))
        #expect(try await passed.body.collect(upTo: 4 << 20).count == 3 << 20)
    }
}

@Suite("Request compression", .timeLimit(.minutes(1)))
struct RequestCompressionTests {
    private func sent(
        _ body: HTTPBody,
        _ fields: HTTPFields = [:],
        _ layer: RequestCompression = RequestCompression(minimumSize: 100)
    ) async throws -> ScriptedHTTPTransport.Call {
        let transport = ScriptedHTTPTransport([.status(.ok)])
        var head = get
        head.method = .post
        head.headerFields = fields
        _ = try await transport.chain([layer])(HTTPCall(head, body: body))
        return transport.calls[0]
    }

    private func inflated(_ bytes: [UInt8]) async throws -> [UInt8] {
        try await reply([bytes]).body.collect(upTo: 1 << 20)
    }

    @Test("A body in memory is sent as gzip and can be resent")
    func bytes() async throws {
        let call = try await sent(
            HTTPBody(CompressedVectors.text),
            [.contentLength: "\(CompressedVectors.text.count)"]
        )
        #expect(call.head.headerFields[.contentEncoding] == "gzip")
        #expect(call.head.headerFields[.contentLength] == nil)
        #expect(call.body.count < CompressedVectors.text.count)
        #expect(try await inflated(call.body) == CompressedVectors.text)
    }

    @Test("A streamed body is compressed while it is sent, even repeatedly")
    func streams() async throws {
        let body = HTTPBody(length: nil, isReplayable: true) { () async throws(TransportError) in
            .chunks(CompressedVectors.text.map { [$0] })
        }
        for _ in 0..<2 {
            let call = try await sent(body)
            #expect(try await inflated(call.body) == CompressedVectors.text)
        }
    }

    @Test(
        "A body whose bytes the request counts or digests is sent unchanged",
        arguments: ["Content-Range", "Upload-Offset", "Content-Digest", "Content-MD5"]
    )
    func exactBodies(field: String) async throws {
        let name = try #require(HTTPField.Name(field))
        let call = try await sent(HTTPBody(CompressedVectors.text), [name: "0"])
        #expect(call.body == CompressedVectors.text)
        #expect(call.head.headerFields == [name: "0"])
    }

    @Test("Small, compressed and excluded bodies are sent unchanged")
    func untouched() async throws {
        let text = CompressedVectors.text
        let rows: [(HTTPBody, HTTPFields, RequestCompression)] = [
            (HTTPBody(Array(text.prefix(99))), [:], RequestCompression(minimumSize: 100)),
            (HTTPBody(text), [.contentEncoding: "br"], RequestCompression(minimumSize: 1)),
            (HTTPBody(text), [.contentType: "image/png"], RequestCompression(minimumSize: 1)),
            (HTTPBody(text), [:], RequestCompression(minimumSize: 1) { _ in false }),
            // Its compressed form would be longer.
            (HTTPBody([1, 2, 3]), [:], RequestCompression(minimumSize: 1)),
        ]
        for (body, fields, layer) in rows {
            let call = try await sent(body, fields, layer)
            #expect(
                call.body == body.length.map { Array(text.prefix(Int($0))) }
                    || call.body == [1, 2, 3]
            )
            #expect(call.head.headerFields == fields)
        }
    }
}

/// Compressed texts, made with Python's modules gzip and zlib, in base64.
enum CompressedVectors {
    /// The text of all vectors but ``zlibStored`` and ``gzipEmpty``.
    static let text =
        Array(String(repeating: "Fish & Chips, ", count: 20).utf8) + Array("the end.".utf8)

    static let gzip = bytes("H4sIAAAAAAACA3PLLM5QUFNwzsgsKNZRcBvlQXklGakKqXkpegBkxnRpIAEAAA==")
    static let gzipWithName = bytes(
        "H4sICAEAAAAC/21lbnUudHh0AHPLLM5QUFNwzsgsKNZRcBvlQXklGakKqXkpegBkxnRpIAEAAA=="
    )
    static let gzipMembers = bytes(
        "H4sIAAAAAAACA3PLLM5QUFNwzsgsKNZRcKMJDwBMOpIEZAAAAB+LCAAAAAAAAgMDAAAAAAAAAAAAH4sIAAAA"
            + "AAACAyvOUFBTcM7ILCjWUXDLLB4SvJKMVIXUvBQ9ACzV8C68AAAA"
    )
    static let zlib = bytes("eJxzyyzOUFBTcM7ILCjWUXAb5UF5JRmpCql5KXoA3N5Www==")
    static let raw = bytes("c8sszlBQU3DOyCwo1lFwG+VBeSUZqQqpeSl6AA==")
    static let zlibStored = bytes("eAEBBgD5/3N0b3JlZAk8ApI=")
    static let gzipEmpty = bytes("H4sIAAAAAAACAwMAAAAAAAAAAAA=")
    static let gzipOfGzip = bytes(
        "H4sIAAAAAAACA5Pv5mAAASbm4tM65wICggvOndDRuBZYIP3UsVJVciXXykrNKoaUYyWZCowMDACxIbBWLgAA"
            + "AA=="
    )

    private static func bytes(_ base64: String) -> [UInt8] {
        Data(base64Encoded: base64).map { [UInt8]($0) } ?? []
    }
}
