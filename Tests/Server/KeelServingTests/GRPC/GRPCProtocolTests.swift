import HTTPTypes
import KeelCore
import KeelHTTP
import KeelStorage
import KeelStorageFirestore
import KeelTestKit
import Testing

@testable import KeelServing

@Suite("The protocol of gRPC")
struct GRPCProtocolTests {
    private static let name = FirestoreJSON.string(Served.name("notes/1"))

    private static func request() throws -> [UInt8] {
        try FirestoreProtobuf.bytes(["name": name], of: "GetDocumentRequest")
    }

    @Test("an error has the details that it has over REST")
    func details() async throws {
        let answer = try await Served().call(.getDocument, ["name": Self.name])
        #expect(answer.status == 5)
        #expect(answer.message == "there is no document at %E2%80%9Cnotes/1%E2%80%9D")
        let text = try #require(answer.trailers[.grpcStatusDetails])
        #expect(!text.hasSuffix("="))
        let bytes = try #require(Base64.decode(text))
        let status = try FirestoreProtobuf.json(bytes[...], of: "google.rpc.Status")
        #expect(status["code"] == .integer(5))
        #expect(status["details"]?.elements?.first?["reason"] == "documentNotFound")
    }

    @Test("a message in pieces, one byte each, is read")
    func pieces() async throws {
        let served = Served()
        let frame = StorageServer.frame(try Self.request())
        let body = HTTPBody(length: nil, isReplayable: false) { .chunks(frame.map { [$0] }) }
        let reply = await served.server.respond(to: Served.call("GetDocument", body))
        #expect(try await GRPCAnswer(reply, of: "Document").status == 5)
    }

    @Test("a request without its one message is refused")
    func wrongMessages() async throws {
        let served = Served()
        let frame = StorageServer.frame(try Self.request())
        #expect(try await served.call("GetDocument", []).status == 3)
        #expect(try await served.call("GetDocument", frame + frame).status == 3)
        #expect(try await served.call("GetDocument", Array(frame.dropLast())).status == 1)
        let malformed = try await served.call("GetDocument", StorageServer.frame([0xFF]))
        #expect(malformed.status == 3)
        #expect(malformed.message?.contains("GetDocumentRequest") == true)
    }

    @Test("compressed messages are refused by the encodings that are accepted")
    func compression() async throws {
        var frame = StorageServer.frame(try Self.request())
        frame[0] = 1
        let answer = try await Served().call("GetDocument", frame)
        #expect(answer.status == 12)
        #expect(answer.head.headerFields[.grpcAcceptEncoding] == "identity")
    }

    @Test("a message above the limit is refused by its length alone")
    func tooLarge() async throws {
        let served = Served { $0.maximumBodyBytes = 1_000 }
        let prefix = [0] + withUnsafeBytes(of: UInt32(1_001).bigEndian) { Array($0) }
        #expect(try await served.call("GetDocument", prefix).status == 8)
    }

    @Test("unknown methods, services and forms are told apart")
    func unknownMethods() async throws {
        let served = Served()
        #expect(try await served.call("Nothing", []).status == 12)
        let form: HTTPFields = [.contentType: "application/grpc-web+proto"]
        let reply = await served.server.respond(to: Served.call("GetDocument", HTTPBody([]), form))
        #expect(reply.head.status == .notFound)
    }

    @Test("requests for other hosts are refused")
    func otherHosts() async throws {
        var call = Served.call("GetDocument", HTTPBody(StorageServer.frame(try Self.request())))
        call.head.authority = "example.com"
        let reply = await Served().server.respond(to: call)
        #expect(try await GRPCAnswer(reply, of: nil).status == 7)
    }

    @Test(
        "a time limit is read",
        arguments: [
            ("1H", .seconds(3_600)), ("2M", .seconds(120)), ("30S", .seconds(30)),
            ("500m", .milliseconds(500)), ("7u", .microseconds(7)),
            ("99999999n", .nanoseconds(99_999_999)),
            ("", nil), ("5", nil), ("S", nil), ("5s", nil), ("-5S", nil), ("123456789S", nil),
        ] as [(String, Duration?)]
    )
    func timeouts(text: String, duration: Duration?) {
        #expect(GRPCStatus.timeout(text) == duration)
    }

    @Test("a time limit that is over ends the call")
    func deadline() async throws {
        let served = Served()
        let fields: HTTPFields = [.grpcTimeout: "0m"]
        let answer = try await served.call(.getDocument, ["name": Self.name], fields)
        #expect(answer.status == 4)
        let malformed = try await served.call(
            .getDocument,
            ["name": Self.name],
            [.grpcTimeout: "x"]
        )
        #expect(malformed.status == 3)
    }

    @Test("a server that is shutting down says so")
    func shutdown() async throws {
        let served = Served()
        served.server.shutDown()
        #expect(try await served.call(.getDocument, ["name": Self.name]).status == 14)
    }

    @Test(
        "messages of errors are printable",
        arguments: [
            ("plain text", "plain text"), ("100 %", "100 %25"), ("é\n", "%C3%A9%0A"),
            ("~ \u{7F}", "~ %7F"),
        ]
    )
    func messages(text: String, encoded: String) { #expect(GRPCStatus.encoded(text) == encoded) }

    @Test("the objects of a list are found wherever the text is divided")
    func elements() {
        let objects = [#"{"a":"]}{[\"\\"}"#, "{}", #"{"b":[{"c":[1,2]}]}"#]
        let text = Array("[\(objects.joined(separator: ","))]".utf8)
        for size in 1...text.count {
            var elements = JSONElements()
            var found: [String] = []
            for start in stride(from: 0, to: text.count, by: size) {
                let piece = text[start..<min(start + size, text.count)]
                found += elements.append(piece).map { String(decoding: $0, as: UTF8.self) }
            }
            #expect(found == objects)
        }
    }

    @Test("mutated requests are answered with a status")
    func fuzz() async throws {
        let served = Served()
        var random = SeededRandom(seed: SeededRandom.printedSeed())
        let write = try FirestoreProtobuf.bytes(
            [
                "database": .string(Served.database),
                "writes": [
                    ["update": ["name": Self.name, "fields": ["n": ["integerValue": "1"]]]]
                ],
            ],
            of: "CommitRequest"
        )
        let methods = GRPCMethod.allCases.filter { $0.stream == nil }
        for round in 0..<2_000 {
            var body = StorageServer.frame(round % 2 == 0 ? write : try Self.request())
            for _ in 0...Int.random(in: 0..<3, using: &random) {
                let position = Int.random(in: body.indices, using: &random)
                body[position] = UInt8.random(in: 0...255, using: &random)
            }
            let method = methods[Int.random(in: methods.indices, using: &random)]
            let answer = try await served.call(method.rawValue, body)
            #expect((0...16).contains(answer.status ?? -1))
            #expect(answer.status != 13, "\(method) \(answer.message ?? "")")
        }
    }
}
