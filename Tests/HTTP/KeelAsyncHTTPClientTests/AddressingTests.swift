#if AsyncHTTPClient && TestServer
import HTTPTypes
import KeelAsyncHTTPClient
import KeelHTTP
import KeelTestKit
import Synchronization
import Testing

@Suite("Request targets over AsyncHTTPClient")
struct AddressingTests {
    @Test(
        "An encoded path arrives byte for byte",
        arguments: [
            "/", "/item", "/a%2Fb;v=1/c", "//double//slash/", "/x?", "/x?q=a+b&r=%20?/@:!$'()*,",
            "/~user/-._", "/%7euser",
        ]
    )
    func exact(path: String) async throws {
        #expect(try await line(for: path) == "GET \(path) HTTP/1.1")
    }

    @Test(
        "Invalid characters in a target are encoded and never end the request line",
        arguments: [
            ("/with space", "/with%20space"), ("/caf\u{e9}", "/caf%C3%A9"),
            ("/a|b?c=\"d\"", "/a%7Cb?c=%22d%22"), ("/item#part", "/item"),
        ]
    )
    func encoded(path: String, sent: String) async throws {
        #expect(try await line(for: path) == "GET \(sent) HTTP/1.1")
    }

    @Test(
        "A line break in a path adds no header field",
        arguments: ["/a\r\nX-Added: 1", "/a\nX-Added: 1"]
    )
    func lineBreaks(path: String) async throws {
        let requests = try await requests(for: [path])
        #expect(requests.allSatisfy { $0["x-added"] == nil })
        #expect(requests.count <= 1)
    }

    @Test("Calls to one origin keep their own paths and methods")
    func severalTargets() async throws {
        let requests = try await requests(for: ["/one", "/two?a=1", "/one"], .head)
        #expect(
            requests.map(\.line) == [
                "HEAD /one HTTP/1.1", "HEAD /two?a=1 HTTP/1.1", "HEAD /one HTTP/1.1",
            ]
        )
        #expect(requests.allSatisfy { $0["keel-exchange"] == nil })
    }

    private func line(for path: String) async throws -> String? {
        try await requests(for: [path]).first?.line
    }

    /// Returns the requests that a server receives for these targets.
    private func requests(
        for paths: [String],
        _ method: HTTPRequest.Method = .get
    ) async throws -> [HTTPTestRequest] {
        let seen = Mutex<[HTTPTestRequest]>([])
        try await AnsweringServer.run { request, write in
            seen.withLock { $0.append(request) }
            try await write("HTTP/1.1 204 No Content\r\n\r\n")
            return .keepOpen
        } while: { port in
            let transport = AsyncHTTPClientTransport()
            for path in paths {
                let head = HTTPRequest("http://127.0.0.1:\(port)\(path)", method)
                _ = try? await transport.send(HTTPCall(head))
            }
            await transport.shutdown()
        }
        return seen.withLock { $0 }
    }
}
#endif
