import Foundation
import HTTPTypes
import KeelHTTP
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Multipart forms")
struct MultipartTests {
    private struct AddAlbum: Endpoint {
        typealias Response = EmptyResponse
        var path: EndpointPath { "/albums" }
    }

    private struct Sent {
        var call: ScriptedHTTPTransport.Call
        var boundary: String
        var parts: [MultipartReader.Part]
    }

    private func send(_ form: MultipartForm) async throws -> Sent {
        let transport = ScriptedHTTPTransport([.status(.ok)])
        let client = try makeClient(transport) { $0.json = .snakeCase }
        _ = try await client.upload(.multipart(form), to: AddAlbum())
        let call = try #require(transport.calls.first)
        let type = try #require(call.head.headerFields[.contentType])
        let boundary = try #require(type.split(separator: "boundary=").last)
            .trimmingCharacters(in: ["\""])
        #expect(type.hasPrefix("multipart/form-data; boundary="))
        let parts = try #require(MultipartReader.parts(of: call.body, boundary: boundary))
        return Sent(call: call, boundary: boundary, parts: parts)
    }

    @Test("Values, JSON, bytes, files and streams arrive unchanged")
    func sendsParts() async throws {
        let folder = try TemporaryFolder()
        let content = TemporaryFolder.bytes(200_000)
        let file = try folder.file("photo of us.jpg", content)
        let stream = HTTPBody(length: nil, isReplayable: false) { () async throws(TransportError) in
            .chunks([[1], [], [2, 3]])
        }
        let sent = try await send(
            MultipartForm([
                .text("title", "Holidays\nby the sea"), .text("count", 3),
                .json("tags", Credentials(userName: "ann")), .bytes("raw", [0, 13, 10, 255]),
                .file("photo", at: file, contentType: "image/jpeg"),
                .stream("live", stream, filename: "live.bin"), .text("title", ""),
            ])
        )
        #expect(sent.call.head.method == .post)
        #expect(
            sent.parts.map { $0.headers["content-disposition"] } == [
                #"form-data; name="title""#, #"form-data; name="count""#,
                #"form-data; name="tags""#, #"form-data; name="raw""#,
                #"form-data; name="photo"; filename="photo of us.jpg""#,
                #"form-data; name="live"; filename="live.bin""#, #"form-data; name="title""#,
            ]
        )
        #expect(
            sent.parts.map { $0.headers["content-type"] } == [
                nil, nil, "application/json", "application/octet-stream", "image/jpeg",
                "application/octet-stream", nil,
            ]
        )
        #expect(sent.parts[0].text == "Holidays\nby the sea")
        #expect(sent.parts[1].text == "3")
        #expect(sent.parts[2].text == #"{"user_name":"ann"}"#)
        #expect(sent.parts[3].body == [0, 13, 10, 255])
        #expect(sent.parts[4].body == content)
        #expect(sent.parts[5].body == [1, 2, 3])
        #expect(sent.parts[6].body.isEmpty)
    }

    @Test("An empty form contains only the closing boundary")
    func sendsNothing() async throws {
        let transport = ScriptedHTTPTransport([.status(.ok)])
        _ = try await makeClient(transport)
            .upload(.multipart(MultipartForm([], boundary: "b")), to: AddAlbum())
        #expect(transport.calls.first?.text == "--b--\r\n")
    }

    @Test(
        "Names are escaped as in browsers",
        arguments: [
            (#"a"b"#, "a%22b", "a%22b"), ("a\nb", "a%0D%0Ab", "a%0Ab"),
            ("a\rb", "a%0D%0Ab", "a%0Db"),
            ("a\r\nb", "a%0D%0Ab", "a%0D%0Ab"), ("\r", "%0D%0A", "%0D"),
            ("ä'\\;=%22", "ä'\\;=%22", "ä'\\;=%22"),
            ("😀 é", "😀 é", "😀 é"),
        ]
    )
    func escapesNames(name: String, field: String, filename: String) async throws {
        let sent = try await send(MultipartForm([.bytes(name, [1], filename: name)]))
        let disposition = sent.parts.first?.headers["content-disposition"]
        #expect(disposition == "form-data; name=\"\(field)\"; filename=\"\(filename)\"")
    }

    @Test("A form's length is known and its body replayable only if this holds for every part")
    func knowsLength() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("a", TemporaryFolder.bytes(70_000))
        let capture = BodyCapture()
        let client = NetworkClient(
            baseURL: try #require(URL(string: "https://api.example.com")),
            transport: capture
        )
        let unknown = HTTPBody(length: nil, isReplayable: false) {
            () async throws(TransportError) in
            .chunks([[1]])
        }
        for (parts, isKnown) in [
            ([MultipartForm.Part.text("a", "b"), .file("f", at: file)], true),
            ([.text("a", "b"), .stream("s", unknown)], false),
            ([.bytes("big", TemporaryFolder.bytes(2 << 20))], true),
        ] {
            _ = try await client.upload(.multipart(MultipartForm(parts)), to: AddAlbum())
            let body = try #require(capture.last)
            let first = try await body.open().collect(upTo: .max)
            #expect(body.isReplayable == isKnown)
            #expect(body.length == (isKnown ? Int64(first.count) : nil))
            if isKnown { #expect(try await body.open().collect(upTo: .max) == first) }
        }
    }

    @Test("Arbitrary parts arrive unchanged when read in small chunks")
    func survivesAnything() async throws {
        var generator = SeededRandom(seed: 2046)
        let fragments: [[UInt8]] = [
            [13, 10], [45, 45], [13], [10], Array("--KeelFormBoundary".utf8), [0], [255],
            Array("\r\n\r\n".utf8), TemporaryFolder.bytes(70_000),
        ]
        for _ in 1...60 {
            let bodies = (0..<Int.random(in: 1...4, using: &generator)).map { _ in
                (0..<Int.random(in: 0...5, using: &generator)).flatMap { _ in
                    fragments.randomElement(using: &generator) ?? []
                }
            }
            let folder = try TemporaryFolder()
            let parts = try bodies.enumerated().map { index, bytes in
                Bool.random(using: &generator)
                    ? MultipartForm.Part.bytes("p\(index)", bytes)
                    : .file("p\(index)", at: try folder.file("f\(index)", bytes))
            }
            let form = MultipartForm(parts, using: &generator)
            let capture = BodyCapture()
            let client = NetworkClient(
                baseURL: try #require(URL(string: "https://api.example.com")),
                transport: capture
            )
            _ = try await client.upload(.multipart(form), to: AddAlbum())
            var sent: [UInt8] = []
            let body = try #require(capture.last)
            for try await piece in try await body.open() {
                #expect(body.length ?? 0 <= 1 << 20 || piece.count <= 64 * 1024)
                sent += piece
            }
            #expect(Int64(sent.count) == body.length)
            let read = MultipartReader.parts(of: sent, boundary: form.boundary)
            #expect(read?.map(\.body) == bodies, "seed 2046")
        }
    }

    @Test("A part with a length other than announced fails the exchange")
    func checksLengths() async throws {
        for given in [2, 4] {
            let body = HTTPBody(length: 3, isReplayable: true) { () async throws(TransportError) in
                .chunks([[UInt8](repeating: 0, count: given)])
            }
            let transport = ScriptedHTTPTransport([.status(.ok)])
            let error = await #expect(throws: NetworkError.self) {
                try await makeClient(transport)
                    .upload(.multipart(MultipartForm([.stream("s", body)])), to: AddAlbum())
            }
            #expect(error?.transportError?.code == .bodyProducerFailed)
        }
    }

    @Test("A random boundary does not occur in the parts in memory")
    func avoidsBoundary() {
        var first = SeededRandom(seed: 7578)
        let taken = MultipartForm([], using: &first).boundary
        let text = "x--\(taken)x"
        let parts: [MultipartForm.Part] = [
            .text("a", text), .stream("a", HTTPBody(Array(text.utf8))),
        ]
        for part in parts {
            var second = SeededRandom(seed: 7578)
            let form = MultipartForm([part], using: &second)
            #expect(form.boundary != taken)
            #expect(form.boundary.count == taken.count)
        }
        var third = SeededRandom(seed: 7578)
        #expect(MultipartForm([.text("a", taken)], using: &third).boundary == taken)
    }

    @Test(
        "A custom boundary must be valid and must not occur in the parts",
        arguments: [
            "", "ü", "a ", "a\r\nb", String(repeating: "b", count: 71), "inside", "json", "memory",
        ]
    )
    func refusesBoundaries(boundary: String) async throws {
        let form = MultipartForm(
            [
                .text("a", "text --inside"), .json("b", ["--json"]),
                .stream("c", HTTPBody(Array("--memory".utf8))),
            ],
            boundary: boundary
        )
        let error = await expectError(NetworkError.self, .encoding) {
            try await makeClient(ScriptedHTTPTransport()).upload(.multipart(form), to: AddAlbum())
        }
        #expect(error?.cause is MultipartFormError)
    }

    @Test("A boundary that is not a token is quoted")
    func quotesBoundaries() async throws {
        let sent = try await send(MultipartForm([.text("a", "b")], boundary: "a:b c"))
        #expect(
            sent.call.head.headerFields[.contentType] == #"multipart/form-data; boundary="a:b c""#
        )
        #expect(sent.parts.count == 1)
    }

    @Test("A media type cannot inject header lines, and a missing file is reported")
    func refusesParts() async throws {
        let client = try makeClient(ScriptedHTTPTransport())
        let injected = MultipartForm([.bytes("a", [1], contentType: "text/plain\r\nX-Evil: 1")])
        await expectError(NetworkError.self, .encoding) {
            try await client.upload(.multipart(injected), to: AddAlbum())
        }
        let missing = MultipartForm([.file("a", at: URL(fileURLWithPath: "/nowhere/at/all"))])
        let other = await expectError(NetworkError.self, .file) {
            try await client.upload(.multipart(missing), to: AddAlbum())
        }
        #expect((other?.cause as? HTTPFileError)?.reason == .open)
    }
}

/// A transport that keeps the body of the last call unread.
final class BodyCapture: HTTPTransportDouble {
    private let body = Mutex<HTTPBody?>(nil)

    var features: HTTPTransportFeatures { [.streamingUpload] }
    var last: HTTPBody? { body.withLock { $0 } }

    func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        body.withLock { $0 = call.body }
        return HTTPReply(head: HTTPResponse(status: .ok))
    }
}
