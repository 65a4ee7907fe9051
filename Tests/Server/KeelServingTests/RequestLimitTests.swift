import HTTPTypes
import KeelHTTP
import KeelServing
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Request timeouts")
struct RequestLimitTests {
    private static func stalled(_ begun: AsyncStream<Void>.Continuation) -> WatchedStore {
        WatchedStore(InMemoryStorageAdapter()) { _ async throws(StorageError) in
            begun.finish()
            let (never, keeper) = AsyncStream.makeStream(of: Void.self)
            for await _ in never {}
            keeper.finish()
            throw StorageError(.cancelled, "the read was cancelled")
        }
    }

    private static func fields(_ timeout: String?) throws -> HTTPFields {
        var fields: HTTPFields = [:]
        if let timeout { fields[try #require(HTTPField.Name("X-Server-Timeout"))] = timeout }
        return fields
    }

    @Test(
        "The timeout is the server's, or the client's if shorter",
        arguments: [(nil, 30.0), ("2.5", 2.5), ("3600", 30), ("1e300", 30)]
    )
    func ends(_ timeout: String?, _ seconds: Double) async throws {
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let served = Served(Self.stalled(beginning)) { $0.requestTimeout = .seconds(30) }
        let fields = try Self.fields(timeout)
        let answer = Task { try await served.send(.get, path: Served.root + "/a/1", nil, fields) }
        for await _ in begun {}
        await served.clock.advance(by: .seconds(seconds) - .milliseconds(1), onceAsleep: 1)
        #expect(served.clock.sleeperCount > 0)
        await served.clock.advance(by: .milliseconds(1))
        let reply = try await answer.value
        #expect(reply.error == "DEADLINE_EXCEEDED")
        #expect(reply.status == 504)
        #expect(reply.reason == "timeout")
    }

    @Test(
        "A timeout that is not a number of seconds is rejected",
        arguments: ["", "soon", "-1", "nan", "inf"]
    )
    func refuses(_ timeout: String) async throws {
        let fields = try Self.fields(timeout)
        let reply = try await Served().send(.get, path: Served.root + "/a/1", nil, fields)
        #expect(reply.status == 400)
    }

    @Test("The client's timeout ends the call and is sent to the server")
    func client() async throws {
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let served = Served(Self.stalled(beginning))
        let clock = TestClock()
        let server = try #require(URL(string: "http://127.0.0.1:8080"))
        let adapter = FirestoreStorageAdapter(
            .keel(server),
            transport: HandlerTransport(served.server)
        )
        var configuration = StorageClient.Configuration()
        configuration.clock = clock
        let storage = StorageClient(adapter, configuration: configuration).limited(to: .seconds(4))
        let task = Task {
            await #expect(throws: StorageError.self) { try await storage.getDocument("a/1") }
        }
        for await _ in begun {}
        await served.clock.waitForSleepers()
        // The server ends the work by its own clock.
        await served.clock.advance(by: .seconds(4))
        #expect(await task.value?.code == .timeout)
    }

    @Test("Deleting all documents ends with the timeout of a request")
    func clearing() async throws {
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let served = Served(Self.stalled(beginning)) { configuration in
            configuration.requestTimeout = .seconds(30)
            configuration.allowsClearing = true
        }
        let path = "/emulator/v1/\(Served.database)/documents"
        let answer = Task { try await served.send(.delete, path: path) }
        for await _ in begun {}
        await served.clock.advance(by: .seconds(30), onceAsleep: 1)
        let reply = try await answer.value
        #expect(reply.error == "DEADLINE_EXCEEDED")
        #expect(reply.status == 504)
    }

    @Test("Change streams have no request timeout")
    func streams() async throws {
        let served = Served { $0.requestTimeout = .seconds(1) }
        let head = HTTPRequest("http://127.0.0.1:8080/sync/all/events")
        let reply = await served.server.respond(to: HTTPCall(head))
        var body = reply.body.makeAsyncIterator()
        _ = try await body.next()
        await served.clock.advance(by: .seconds(10))
        let batch = WriteBatch([DocumentWrite("a/1", .set(DocumentBody(["n": 1])))])
        for result in try await served.adapter.commit([batch]) { _ = try result.get() }
        #expect(try await body.next() != nil)
    }
}
