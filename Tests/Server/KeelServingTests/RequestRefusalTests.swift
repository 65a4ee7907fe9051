import HTTPTypes
import KeelHTTP
import KeelServing
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import Testing

@Suite("Rejected requests")
struct RequestRefusalTests {
    private let served = Served()

    @Test(
        "Requests to local and allowed host names are answered",
        arguments: [
            "localhost", "localhost:8080", "LocalHost:1", "127.0.0.1", "127.8.9.10:80", "[::1]",
            "[::1]:8080", "keel.test:99", "10.0.0.5:80",
        ]
    )
    func ownNames(authority: String) async throws {
        let served = Served { $0.allowedAuthorities = ["Keel.test", "10.0.0.5:80"] }
        let path = "\(Served.root)/a/1"
        let answer = try await served.send(.get, path: path, authority: authority)
        #expect(answer.status == 404)
        let origin: HTTPFields = [.origin: "http://\(authority)"]
        let fromPage = try await served.send(.get, path: path, nil, origin)
        #expect(fromPage.status == 404)
    }

    @Test(
        "Other host names are rejected as authority and as origin",
        arguments: [
            "evil.test", "127.0.0.1.evil.test", "localhost.evil.test", "evil.test:8080",
            "128.0.0.1",
            "127.0.0.256", "127.0.0", "[::2]:80", "localhost@evil.test", "127.0.0.1:80:80", "",
            "10.0.0.5:81", "localhost:8x",
        ]
    )
    func otherNames(authority: String) async throws {
        let served = Served { $0.allowedAuthorities = ["10.0.0.5:80"] }
        let path = "\(Served.root)/a/1"
        let answer = try await served.send(.get, path: path, authority: authority)
        #expect(answer.status == 403)
        #expect(answer.error == "PERMISSION_DENIED")
        let origin: HTTPFields = [.origin: "https://\(authority)"]
        let fromPage = try await served.send(.get, path: path, nil, origin)
        #expect(fromPage.status == 403)
    }

    @Test("A page without a valid origin is rejected", arguments: ["null", "file://", "localhost"])
    func opaqueOrigin(origin: String) async throws {
        let path = "\(Served.root)/a/1"
        let answer = try await served.send(.get, path: path, nil, [.origin: origin])
        #expect(answer.status == 403)
    }

    @Test("Pages of allowed origins may use the server and read its replies")
    func allowedOrigins() async throws {
        let origin = "https://app.example.org"
        let served = Served { $0.allowedOrigins = [origin] }
        let path = "\(Served.root)/a/1"
        for page in [origin, "http://localhost:5173"] {
            let head = try await served.send(.get, path: path, nil, [.origin: page]).head
            #expect(head.status == .notFound)
            #expect(head.headerFields[.accessControlAllowOrigin] == page)
            #expect(head.headerFields[.accessControlAllowCredentials] == "true")
            #expect(head.headerFields[.vary] == "Origin")
        }
        let question: HTTPFields = [
            .origin: origin, .accessControlRequestMethod: "POST",
            .accessControlRequestHeaders: "authorization, x-firebase-gmpid",
        ]
        let answer = try await served.send(
            .options,
            path: "\(Served.root):commit",
            nil,
            question
        ).head
        #expect(answer.status == .noContent)
        #expect(
            answer.headerFields[.accessControlAllowHeaders] == "authorization, x-firebase-gmpid"
        )
        #expect(answer.headerFields[.accessControlAllowMethods] == "POST, OPTIONS")
        for page in ["http://app.example.org", "https://app.example.org:8443", "null"] {
            let head = try await served.send(.get, path: path, nil, [.origin: page]).head
            #expect(head.status == .forbidden)
            #expect(head.headerFields[.accessControlAllowOrigin] == nil)
        }
        let plain = try await served.send(.get, path: path).head
        #expect(plain.headerFields[.accessControlAllowOrigin] == nil)
    }

    @Test(
        "Bodies that are not declared as JSON are rejected",
        arguments: [
            ("text/plain", 415), ("application/x-www-form-urlencoded", 415), ("text/html", 415),
            ("multipart/form-data; boundary=x", 415), ("application/json; charset=utf-8", 200),
            ("application/vnd.api+json", 200), ("Application/JSON", 200),
        ]
    )
    func types(type: String, status: Int) async throws {
        let body = Array(Served.commit("a/1", n: 1).utf8)
        let path = "\(Served.root):commit"
        let answer = try await served.send(.post, path: path, body, [.contentType: type])
        #expect(answer.status == status)
    }

    @Test("A body that is too large is rejected before it is read completely")
    func tooLarge() async throws {
        let served = Served { $0.maximumBodyBytes = 1000 }
        let long = #"{"writes":[]}"# + String(repeating: " ", count: 1000)
        let announced = try await served.send(.post, ":commit", long)
        #expect(announced.status == 413)
        // The body is endless, so a handler that reads it to the end never responds.
        let body = HTTPBody(length: nil, isReplayable: false) {
            () async throws(TransportError) in
            HTTPByteStream { () async throws(TransportError) in
                Array(repeating: 32, count: 600)[...]
            }
        }
        let head = HTTPRequest("http://localhost\(Served.root):commit", .post)
        let reply = await served.server.respond(to: HTTPCall(head, body: body))
        #expect(reply.head.status.code == 413)
    }

    @Test(
        "Invalid JSON is rejected with its position",
        arguments: [
            "{", "[1", #"{"a":}"#, "nul", "{}{}", #"{"a":1e999}"#, #"{"a":01}"#, #"{"a":"\ud800"}"#,
            String(repeating: "[", count: 200), String(repeating: "{\"a\":", count: 129) + "1",
        ]
    )
    func notJSON(body: String) async throws {
        let answer = try await served.send(.post, ":commit", body)
        #expect(answer.status == 400)
        #expect(answer.json["error"]?["message"]?.text?.contains("at byte") == true)
    }

    @Test("Text that is not UTF-8 is rejected in bodies and targets")
    func notUTF8() async throws {
        let body: [UInt8] = Array(#"{"database":""#.utf8) + [0xC3, 0x28] + Array(#""}"#.utf8)
        let answer = try await served.send(.post, path: "\(Served.root):commit", body)
        #expect(answer.status == 400)
        for path in ["/a/%C3%28", "/a/%", "/a/%zz", "/a/1?x=%FF", "/a/1?mask.fieldPaths=%E"] {
            let refused = try await served.send(.get, path)
            #expect(refused.status == 400)
        }
    }

    @Test(
        "Other paths are not found",
        arguments: [
            "/", "/v1", "/v2/projects/p/databases/d/documents/a/1", "/v1/projects/p/databases/d",
            "/v1/projects/p/databases/d/documents", "/v1/projects//databases/d/documents/a/1",
            "/keel/v1", "/keel/v1/schema/x", "/sync/all", "/health/x", "//", "/%2Fhealth",
        ]
    )
    func noSuchPath(path: String) async throws {
        let answer = try await served.send(.get, path: path)
        #expect(answer.status == 404)
        #expect(answer.error == "NOT_FOUND")
    }

    @Test("An unsupported method is rejected with a list of the supported ones")
    func methods() async throws {
        for (method, place, allowed) in [
            (.post, "/a/1", "GET, PATCH, DELETE, HEAD, OPTIONS"),
            (.put, "/a/1", "GET, PATCH, DELETE, HEAD, OPTIONS"),
            (.delete, "/a", "GET, POST, HEAD, OPTIONS"), (.get, ":commit", "POST, OPTIONS"),
        ] as [(HTTPRequest.Method, String, String)] {
            let answer = try await served.send(method, place)
            #expect(answer.status == 405)
            #expect(answer.head.headerFields[.allow] == allowed)
            let options = try await served.send(.options, place)
            #expect(options.status == 204)
            #expect(options.head.headerFields[.allow] == allowed)
        }
        let unknown = try await served.send(.post, ":unknown", "{}")
        #expect(unknown.status == 404)
    }

    @Test("HEAD returns the same head as GET without a body")
    func head() async throws {
        try await served.set("a/1", n: 1)
        let get = try await served.send(.get, "/a/1")
        let head = try await served.send(.head, "/a/1")
        #expect(head.head == get.head)
        #expect(head.bytes.isEmpty)
    }

    @Test("An unknown parameter is rejected")
    func parameters() async throws {
        let answer = try await served.send(.patch, "/a/1?updateMask.fieldPath=a", "{}")
        #expect(answer.error == "INVALID_ARGUMENT")
        let usual = "alt=json&key=1&prettyPrint=false&%24alt=json;enum-encoding=int"
        let known = try await served.send(.patch, "/a/1?\(usual)", "{}")
        #expect(known.status == 200)
        let proto = try await served.send(.get, "/a/1?alt=proto")
        #expect(proto.error == "INVALID_ARGUMENT")
    }

    @Test(
        "Keel's own documents can neither be read nor written",
        arguments: ["__own__/1", "a/__own__", "__own__/1/a/1", "a/1/__own__/1"]
    )
    func reserved(path: String) async throws {
        let get = try await served.send(.get, "/\(path)")
        #expect(get.error == "INVALID_ARGUMENT")
        let patch = try await served.set(path, n: 1)
        #expect(patch.error == "INVALID_ARGUMENT")
        let commit = try await served.commit(path, n: 1)
        #expect(commit.error == "INVALID_ARGUMENT")
        let batch = #"{"documents":["\#(Served.name(path))"]}"#
        let read = try await served.send(.post, ":batchGet", batch)
        #expect(read.error == "INVALID_ARGUMENT")
        let below = #"{"structuredQuery":{"from":[{"collectionId":"x"}]}}"#
        let query = try await served.send(.post, "/\(path):runQuery", below)
        #expect(query.error == "INVALID_ARGUMENT")
    }

    @Test("The health check reports the state of the store")
    func health() async throws {
        let answer = try await served.send(.get, path: "/health")
        #expect(answer.status == 200)
        #expect(answer.json == ["status": "ok"])
        let broken = Served(UnavailableStorage())
        let ill = try await broken.send(.get, path: "/health")
        #expect(ill.status == 503)
        #expect(ill.head.headerFields[.retryAfter] != nil)
    }

    @Test("Metrics are served to those who may ask, if there are any")
    func metrics() async throws {
        #expect(try await served.send(.get, path: "/metrics").status == 404)
        let measured = Served { $0.metrics = { "[1]" } }
        let answer = try await measured.send(.get, path: "/metrics")
        #expect(answer.status == 200)
        #expect(answer.json.elements?.count == 1)
        #expect(
            answer.head.headerFields[.contentType]?.hasPrefix("text/plain; version=0.0.4") == true
        )
        #expect(try await measured.send(.post, path: "/metrics").status == 405)
        let foreign = try await measured.send(.get, path: "/metrics", authority: "evil.test")
        #expect(foreign.status == 403)
    }

    @Test("Every request after shutdown is answered as unavailable")
    func shutDown() async throws {
        served.server.shutDown()
        let answer = try await served.send(.get, path: "/health")
        #expect(answer.status == 503)
        #expect(answer.error == "UNAVAILABLE")
    }

    /// A store that is unavailable.
    private struct UnavailableStorage: StorageAdapter {
        let capabilities: StorageCapabilities = []
        private let error = StorageError(.unavailable, "gone")

        func prepare(_ schema: StorageSchema) async throws(StorageError) { throw error }
        func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult { throw error }
        func commit(
            _ batches: [WriteBatch]
        ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] { throw error }
        func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
            throw error
        }
    }

    @Test(
        "An unknown member is rejected at any position",
        arguments: [
            (":commit", #"{"write":[]}"#, #"Unknown name "write": Cannot find field."#),
            (
                ":commit", #"{"writes":[{"updateMsk":{}}]}"#,
                #"Unknown name "updateMsk" at "writes""#
            ),
            (
                ":commit", #"{"writes":[{"update":{"name":"x","field":{}}}]}"#,
                #"Unknown name "field" at "writes.update""#
            ),
            (
                ":batchWrite", #"{"writes":[{"current_document":{"exist":true}}]}"#,
                #"Unknown name "exist" at "writes.currentDocument""#
            ),
            (
                ":runQuery", #"{"structuredQuery":{"form":[]}}"#,
                #"Unknown name "form" at "structuredQuery""#
            ),
            (
                ":runQuery",
                #"{"structuredQuery":{"where":{"compositeFilter":{"op":"AND","filters":[{"x":1}]}}}}"#,
                #"Unknown name "x" at "structuredQuery.where.compositeFilter.filters""#
            ),
            (":batchGet", #"{"masks":{}}"#, #"Unknown name "masks""#),
            (":beginTransaction", #"{"options":{"readonly":{}}}"#, #"Unknown name "readonly""#),
            ("/a", #"{"feilds":{}}"#, #"Unknown name "feilds": Cannot find field."#),
        ]
    )
    func unknownNames(place: String, body: String, message: String) async throws {
        let answer = try await served.send(.post, place, body)
        #expect(answer.status == 400)
        #expect(answer.error == "INVALID_ARGUMENT")
        #expect(answer.json["error"]?["message"]?.text?.contains(message) == true)
    }

    @Test("Names in snake_case and Keel's extensions are accepted")
    func knownNames() async throws {
        let body = #"""
            {"structured_query":{"from":[{"collection_id":"a","all_descendants":true}],
            "order_by":[{"field":{"field_path":"n"}}]},"keel":{"position":true}}
            """#
        #expect(try await served.send(.post, ":runQuery", body).status == 200)
    }

    @Test("A body with too many values is rejected regardless of its size")
    func tooManyValues() async throws {
        let served = Served { $0.maximumJSONValues = 1_000 }
        let zeros = { (count: Int) in Array(repeating: "0", count: count).joined(separator: ",") }
        let most = try await served.send(.post, ":batchWrite", #"{"labels":[\#(zeros(998))]}"#)
        #expect(most.status == 200)
        let more = try await served.send(.post, ":batchWrite", #"{"labels":[\#(zeros(999))]}"#)
        #expect(more.status == 413)
    }
}
