import Foundation
import HTTPTypes
import Keel
import KeelConformance
import KeelDependencies
import KeelDependenciesTesting
import KeelTestKit
import Testing

#if TestServer && AsyncHTTPClient
import KeelTestServer
#endif

@Suite("Guide: testing", .timeLimit(.minutes(1)))
struct GuideTestingExamples {
    struct Note: Codable, Identifiable, Equatable, Sendable {
        var id: String
        var text: String
    }

    struct Notes {
        @Dependency(\.storage) private var storage

        func add(_ text: String) async throws {
            let notes = storage.collection("notes", as: Note.self)
            try await notes.save(Note(id: "1", text: text))
        }
    }

    struct Pay: Endpoint {
        typealias Response = EmptyResponse
        let id: String
        var method: HTTPRequest.Method { .post }
        var path: EndpointPath { "/payments/\(id)" }
    }

    struct GetGreeting: ServiceEndpoint {
        var path: EndpointPath { "/greeting" }
    }

    private let api = URL(string: "https://api.example") ?? URL(filePath: "/")

    @Test("A note is kept", .dependencies { $0.storage = StorageClient(InMemoryStorageAdapter()) })
    func keepsNotes() async throws {
        try await Notes().add("Milk")
        @Dependency(\.storage) var storage
        #expect(try await storage.getDocument("notes/1")["text"] == "Milk")
    }

    @Test("A full disk")
    func fullDisk() async throws {
        let adapter = InMemoryStorageAdapter().failing([.fail(.diskFull)]).recorded()
        let storage = StorageClient(adapter)
        let error = await #expect(throws: StorageError.self) {
            try await storage.setDocument("notes/1", ["text": "Milk"])
        }
        #expect(error?.code == .diskFull)
        #expect(adapter.calls.count == 1)
    }

    @Test("A write whose reply was lost is not made twice")
    func lostReply() async throws {
        let adapter = InMemoryStorageAdapter().failing([.loseReply()])
        let storage = StorageClient(adapter.retrying(RetryPolicy(attempts: 3, baseDelay: .zero)))
        try await storage.setDocument("counters/1", ["visits": 1])
        try await storage.updateDocument("counters/1", [.increment("visits", by: 1)])
        #expect(try await storage.getDocument("counters/1")["visits"] == 2)
    }

    @Test("Answers as values")
    func scripted() async throws {
        let transport = ScriptedHTTPTransport([
            .status(503), .json(#"{"id":"1","text":"Milk"}"#),
        ])
        let clock = ImmediateClock()
        var configuration = NetworkClient.Configuration(baseURL: api)
        configuration.clock = clock
        configuration.timeout = nil
        let client = NetworkClient(configuration, transport: transport)
        #expect(try await client.get("/notes/1", as: Note.self).text == "Milk")
        #expect(transport.calls.count == 2 && clock.elapsed > .zero)
    }

    @Test("A payment whose reply was lost is not made again")
    func paysOnce() async throws {
        let clock = ImmediateClock()
        let origin = SimulatedOrigin(FaultSchedule([.lostReply]), clock: clock)
        var configuration = NetworkClient.Configuration(baseURL: api)
        configuration.clock = clock
        configuration.timeout = nil
        let client = NetworkClient(configuration, transport: origin)
        _ = await client.response(to: Pay(id: "7"))
        #expect(origin.work["POST /payments/7"] == 1)
        #expect(origin.requests.count == 1)
    }

    @Test("A pause takes no time")
    func pauses() async throws {
        let clock = TestClock()
        let pause = Task { try await clock.sleep(for: .seconds(3600)) }
        await clock.waitForSleepers()
        await clock.advance(by: .seconds(3600))
        try await pause.value
        #expect(clock.elapsed == .seconds(3600))
    }

    #if TestServer && AsyncHTTPClient
    @Test("A connection that breaks in the middle of a body")
    func brokenBody() async throws {
        try await FaultServer.run(answers: [
            .text("hello").interrupted(.insideBody(after: 2), by: .reset), .text("hello"),
        ]) { server in
            let address = try #require(URL(string: server.address()))
            let transport = AsyncHTTPClientTransport()
            let client = NetworkClient(baseURL: address, transport: transport)
            #expect(try await client.download(from: GetGreeting()) == Data("hello".utf8))
            #expect(server.requests.count == 2)
            await transport.shutdown()
        }
    }
    #endif

    @Test(
        "An adapter keeps its promises",
        arguments: StorageAdapterCheck.applicable(to: InMemoryStorageAdapter().capabilities)
    )
    func keepsPromises(_ check: StorageAdapterCheck) async throws {
        try await check.run(on: InMemoryStorageAdapter().recorded())
    }
}
