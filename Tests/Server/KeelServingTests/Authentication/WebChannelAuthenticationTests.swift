import HTTPTypes
import KeelHTTP
import KeelStorage
import KeelStorageFirestore
import KeelTestKit
import Testing

@testable import KeelServing

@Suite("Authentication of WebChannels", .timeLimit(.minutes(1)))
struct WebChannelAuthenticationTests {
    private typealias Client = WebChannelClient

    private let store = PrincipalStore()
    private let served: Served

    init() { served = Served(store) { $0.authenticate = TestUsers.authenticate } }

    private static let database = #"{"database":"projects/p/databases/(default)"}"#

    /// Opens a session for writing, and returns the token of its stream.
    private static func token(_ client: Client) async throws -> String {
        try await client.open(database)
        let greeting = try await client.receive(from: await client.wait()) { _ in true }
        return try #require(greeting.first?["streamToken"]?.text)
    }

    private static func batch(_ token: String) -> String {
        #"{"streamToken":"\#(token)","writes":[\#(Served.write("notes/1", n: 7))]}"#
    }

    @Test("Without a known token, no session is opened")
    func refused() async throws {
        for (fields, headers) in [
            (HTTPFields(), ""), (TestUsers.stranger, ""),
            (HTTPFields(), "Authorization:Bearer token-x\r\n"),
            (TestUsers.stranger, "Authorization:Bearer token-a\r\n"),
        ] {
            let client = Client(served, "Write", fields, headers: headers)
            #expect(try await client.openingAnswer([Self.database]).status == 401)
        }
        #expect(served.server.channels.count == 0)
        #expect(store.ids.isEmpty)
    }

    @Test("Of a body, only 1 MiB is read before the caller is known")
    func unknownCaller() async throws {
        let form = "headers=&count=0&ofs=0&padding=" + String(repeating: "x", count: 1 << 20)
        let opening = "RID=1&CVER=22&t=1"
        let unknown = Client(served, "Write", headers: "")
        #expect(try await unknown.post(opening, Array(form.utf8)).status == 413)
        let known = Client(served, "Write", TestUsers.ann)
        #expect(try await known.post(opening, Array(form.utf8)).status == 200)
        // Without an authenticator, the limit is that of every body.
        let anonymous = Client(Served(store), "Write")
        #expect(try await anonymous.post(opening, Array(form.utf8)).status == 200)
    }

    @Test("A session writes on behalf of its principal, and each of its requests needs the token")
    func fields() async throws {
        let client = Client(served, "Write", TestUsers.ann)
        let token = try await Self.token(client)
        let missing = client.copy([:])
        #expect(try await missing.send(Self.batch(token)).status == 401)
        #expect(await missing.wait().head.status == .unauthorized)
        #expect(try await client.send(Self.batch(token)).status == 200)
        let results = try await client.receive(from: await client.wait()) { _ in true }
        #expect(results.first?["writeResults"]?.elements?.count == 1)
        #expect(Set(store.ids) == ["ann"])
    }

    @Test("The token in the form of the first request is that of the whole session")
    func form() async throws {
        let headers = "Authorization:Bearer token-a\r\n"
        let client = Client(served, "Write", headers: headers)
        let token = try await Self.token(client)
        #expect(try await client.send(Self.batch(token)).status == 200)
        let results = try await client.receive(from: await client.wait()) { _ in true }
        #expect(results.first?["writeResults"]?.elements?.count == 1)
        #expect(Set(store.ids) == ["ann"])
        #expect(try await client.copy(TestUsers.stranger).send(Self.batch(token)).status == 401)
    }

    @Test(
        "Nobody else can send into a session, read it, or end it",
        arguments: ["", "Authorization:Bearer token-a\r\n"]
    )
    func others(headers: String) async throws {
        let fields = headers.isEmpty ? TestUsers.ann : HTTPFields()
        let client = Client(served, "Write", fields, headers: headers)
        let token = try await Self.token(client)
        for user in [TestUsers.bob, TestUsers.guest] {
            let other = client.copy(user)
            #expect(try await other.send(Self.batch(token)).status == 403)
            #expect(await other.wait().head.status == .forbidden)
            let end = try await other.post("\(other.items)&RID=9&TYPE=terminate", [])
            #expect(end.status == 403)
        }
        #expect(store.ids.isEmpty)
        #expect(try await client.send(Self.batch(token)).status == 200)
        _ = try await client.receive(from: await client.wait()) { _ in true }
        #expect(Set(store.ids) == ["ann"])
    }

    @Test("A guest's session is that of guests")
    func guests() async throws {
        let client = Client(served, "Write", TestUsers.guest)
        let token = try await Self.token(client)
        #expect(try await client.copy(TestUsers.ann).send(Self.batch(token)).status == 403)
        #expect(try await client.send(Self.batch(token)).status == 200)
    }
}
