import Foundation
import HTTPTypes
import KeelHTTP
import KeelTestKit
import Testing

@Suite("NetworkClientProvider")
struct NetworkClientProviderTests {
    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    @Test("Each service has its own base URL and settings, and all share a transport")
    func separates() async throws {
        let transport = ScriptedHTTPTransport(then: .json(#"{"accessToken":"t"}"#))
        let network = NetworkClientProvider(
            [
                "auth": try url("https://auth.example.com"),
                "diary": try url("https://d.example.com/v2"),
            ],
            transport: transport
        ) { service, configuration in
            configuration.defaultHeaders[.userAgent] = "\(service)/1"
        }
        #expect(network.services == ["auth", "diary"])
        let auth = network.client(for: "auth", operations: AuthEndpoint.self)
        let login = AuthEndpoint.login(Credentials(userName: "ann"))
        #expect(try await auth.request(login, as: Token.self).accessToken == "t")
        try await network.client(for: "diary").post("/entries")
        let heads = transport.calls.map(\.head)
        #expect(heads.map(\.authority) == ["auth.example.com", "d.example.com"])
        #expect(heads.map(\.path) == ["/auth/login", "/v2/entries"])
        #expect(heads.map { $0.headerFields[.userAgent] } == ["auth/1", "diary/1"])
        await network.shutdown()
        let result = await network.client(for: "diary").response(to: GetRestaurant(id: "1"))
        #expect(throws: TransportError.self) { try result.get() }
    }

    @Test("Each call to an unknown service fails with an error that names it")
    func refuses() async throws {
        let network = NetworkClientProvider([:], transport: ScriptedHTTPTransport())
        let result = await network.client(for: "diary").response(to: GetRestaurant(id: "1"))
        let error = try #require(result.failure)
        #expect(error.code == .invalidConfiguration)
        #expect(error.message.contains("'diary'"))
    }

    @Test("Verbs without a result check only the status")
    func returnsNothing() async throws {
        let transport = ScriptedHTTPTransport(
            Array(repeating: .status(.ok, body: Array("<html>".utf8)), count: 7)
                + [.status(.conflict)]
        )
        let client = try makeClient(transport)
        let body = Credentials(userName: "ann")
        try await client.post("/x", body: body)
        try await client.put("/x", body: body)
        try await client.patch("/x", body: body)
        try await client.delete("/x")
        try await client.post("/x", body: .form(["a": "b"]))
        try await client.post("/x")
        try await client.put("/x", query: ["a": "b"])
        let methods = transport.calls.map(\.head.method)
        #expect(methods == [.post, .put, .patch, .delete, .post, .post, .put])
        #expect(transport.calls[0].text == #"{"userName":"ann"}"#)
        #expect(transport.calls[4].text == "a=b")
        #expect(transport.calls[5].body == [])
        #expect(transport.calls[5].head.headerFields[.contentType] == nil)
        let error = await #expect(throws: NetworkError.self) {
            try await client.patch("/x", body: body)
        }
        #expect(error?.status == .conflict)
    }
}
