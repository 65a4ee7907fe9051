#if TestServer
import Foundation
import HTTPTypes
import Keel
import KeelAnalytics
import KeelHTTPAuthentication
import KeelNetworkStatus
import KeelStorageAdapting
import KeelTestKit
import KeelTestServer
import KeelWebSocket
import Testing

/// Examples from the comments of KeelTestKit and KeelTestServer; compiled but not run, see ``CommentExamples``.
extension CommentExamples {
    static func analyticsServerDouble() async throws {
        let segment = AnalyticsServerDouble.segment(writeKey: "key")
        try await FaultServer.run(answering: segment.answer) { server in
            try await track(to: server)
        }
        #expect(segment.events.map(\.name) == ["Signed Up"])
        _ = segment
    }

    static func firebaseAuthenticationDouble() async throws {
        let firebase = FirebaseAuthenticationDouble()
        let server = FirebaseIdentityServer(apiKey: "any", transport: firebase)
        let credentials = try await server.signUp(email: "ada@example.org", password: "analytical")
        _ = credentials
    }

    static func recordedAnalyticsDestination(_ destination: ScriptedAnalyticsDestination)
        async throws
    {
        let flaky = destination.failing([.lostReply, nil, .unavailable()])
        _ = flaky
    }

    static func scriptedAnalyticsDestination() async throws {
        let vendor = ScriptedAnalyticsDestination(faults: [.lostReply, .unavailable()])
        var configuration = AnalyticsConfiguration()
        configuration.add(vendor)
        #expect(vendor.received.count == 100)
        _ = vendor
        _ = configuration
    }

    static func faultInjectingCacheTier() async throws {
        let full = InMemoryCacheTier().failing { $0.kind == .write ? .fail(.diskFull) : nil }
        let flaky = InMemoryCacheTier().failing([.loseReply(), nil, .delay(.seconds(2))])
        _ = full
        _ = flaky
    }

    static func recordedCacheTier() async throws {
        let recorded = InMemoryCacheTier().recorded()
        let cache = Cache(over: recorded, name: "notes", coding: CacheCoding<String, String>.string)
        await cache.set("Hello", for: "1")
        #expect(recorded.callCount(of: .write) == 1)
        _ = recorded
        _ = cache
    }

    static func faultInjectingFileStoreAdapter() async throws {
        let flaky = InMemoryFileStoreAdapter().failing([.loseReply(), nil, .breakOff(after: 1000)])
        _ = flaky
    }

    static func recordedFileStoreAdapter() async throws {
        let recorded = InMemoryFileStoreAdapter().recorded()
        try await FileStore(recorded).delete("a")
        #expect(recorded.callCount(of: .delete) == 1)
        _ = recorded
    }

    static func faultInjectingHTTPTransport(_ transport: ScriptedHTTPTransport) async throws {
        let offline = transport.failing { _ in .fail(.offline) }
        let flaky = transport.failing([.loseReply(), nil, .delay(.seconds(2))])
        _ = offline
        _ = flaky
    }

    static func hTTPTestAnswer() async throws {
        let slow = HTTPTestAnswer.text("Hello").delayed(by: .seconds(2))
        let broken = HTTPTestAnswer.json(#"{"id": 1}"#).interrupted(
            .insideBody(after: 4),
            by: .reset
        )
        _ = slow
        _ = broken
    }

    static func recordedHTTPTransport(_ transport: ScriptedHTTPTransport, _ address: URL)
        async throws
    {
        let recorded = transport.recorded()
        try await NetworkClient(baseURL: address, transport: recorded).delete("/notes/1")
        #expect(recorded.heads.map(\.method) == [.delete])
        _ = recorded
    }

    static func recordingHTTPTransport(_ transport: ScriptedHTTPTransport, _ file: URL) async throws
    {
        let recording = transport.recording()
        // … calls …
        try recording.archive.write(to: file)
        let replaying = ReplayingHTTPTransport(try HTTPArchive(contentsOf: file))
        _ = recording
        _ = replaying
    }

    static func scriptedHTTPTransport(_ address: URL) async throws {
        let transport = ScriptedHTTPTransport([.json(#"{"id": "42"}"#), .status(.notFound)])
        let client = NetworkClient(baseURL: address, transport: transport)
        _ = transport
        _ = client
    }

    static func scriptedHTTPTransport2(_ transport: ScriptedHTTPTransport) async throws {
        transport.on(.get, "/v1/users/{id}") { match in .value(User(id: match["id"])) }
    }

    static func scriptedNetworkPathSource() async throws {
        let network = ScriptedNetworkPathSource(NetworkPath(.unsatisfied))
        let status = NetworkStatus(network)
        network.set(NetworkPath(.satisfied))
        _ = network
        _ = status
    }

    static func scriptedWebSocketTransport() async throws {
        let transport = ScriptedWebSocketTransport([
            .failure(WebSocketError(.notConnected)),
            .connection([.text("hello")], end: .close(WebSocketClose(.normal))),
        ])
        _ = transport
    }

    static func simulatedOrigin(_ clock: TestClock, _ configuration: NetworkClient.Configuration)
        async throws
    {
        let origin = SimulatedOrigin(FaultSchedule([.lostReply]), clock: clock)
        let client = NetworkClient(configuration, transport: origin)
        _ = await client.response(to: Pay(id: "7"))
        #expect(origin.work["POST /payments/7"] == 1)
        _ = origin
        _ = client
    }

    static func faultInjectingLocationAdapter(_ track: LocationTrack) async throws {
        let refused = ScriptedLocationAdapter().failing { _ in .fail(.permissionDenied) }
        let breaking = ScriptedLocationAdapter(track).failing([nil, .interrupt(after: 3)])
        _ = refused
        _ = breaking
    }

    static func recordedLocationAdapter(_ track: LocationTrack) async throws {
        let recorded = ScriptedLocationAdapter(track).recorded()
        let location = LocationService(recorded)
        _ = try await location.currentLocation()
        #expect(recorded.calls.map(\.kind) == [.permission, .monitor, .end])
        _ = recorded
        _ = location
    }

    static func faultInjectingSecretStoreAdapter() async throws {
        let locked = InMemorySecretStoreAdapter().failing { _ in .fail(.locked) }
        let flaky = InMemorySecretStoreAdapter().failing([.loseReply(), nil, .delay(.seconds(2))])
        _ = locked
        _ = flaky
    }

    static func recordedSecretStoreAdapter() async throws {
        let recorded = InMemorySecretStoreAdapter().recorded()
        let secrets = try SecretStore(recorded, service: "app")
        try await secrets.delete(forKey: "token")
        #expect(recorded.callCount(of: .replace) == 1)
        _ = recorded
        _ = secrets
    }

    static func faultInjectingStorageAdapter() async throws {
        let offline = InMemoryStorageAdapter().failing { _ in .fail(.unavailable) }
        let flaky = InMemoryStorageAdapter().failing([.loseReply(), nil, .delay(.seconds(2))])
        _ = offline
        _ = flaky
    }

    static func recordedStorageAdapter() async throws {
        let recorded = InMemoryStorageAdapter().recorded()
        try await StorageClient(recorded).deleteDocument("notes/1")
        #expect(recorded.writes == [.delete("notes/1")])
        _ = recorded
    }

    static func scriptedStorageAdapter() async throws {
        let storage = StorageClient(
            ScriptedStorageAdapter(reads: [
                .success(ReadResult(.documents([.stub("notes/1", ["text": "Hello"])]))),
                .failure(StorageError(.unavailable, "offline")),
            ])
        )
        _ = storage
    }

    static func unimplementedStorageAdapter() async throws {
        let storage = UnimplementedStorageAdapter("ProfileTests.storage") { error in
            Issue.record(error)
        }
        _ = storage
    }

    static func testClock() async throws {
        let clock = TestClock()
        let storage = InMemoryStorageAdapter().retrying(.attempts(3), clock: clock)
        async let note = StorageClient(storage).getDocument("notes/1")
        await clock.waitForSleepers()
        await clock.advance(by: .seconds(1))
        _ = clock
        _ = storage
        _ = try await note
    }
}

#if AsyncHTTPClient
// KeelTestServer
extension CommentExamples {
    static func testAuthority() async throws {
        let authority = try TestAuthority()
        let tls = FaultServer.TLS(try authority.identity(.expired))
        _ = authority
        _ = tls
    }

    static func faultServer(_ address: URL, _ transport: any HTTPTransport) async throws {
        try await FaultServer.run(answers: [.json(#"{"id": 1}"#), .status(.serviceUnavailable)]) {
            server in
            let client = NetworkClient(baseURL: address, transport: transport)
            _ = client
            let paths = try await server.waitForRequests(2).map(\.path)
            #expect(paths == ["/v1/a", "/v1/b"])
        }
    }

    static func testProxy() async throws {
        try await TestProxy.run { proxy in
            let transport = try MyTransport(proxyPort: proxy.port)
            _ = transport
            #expect(proxy.requests.map(\.method) == ["CONNECT"])
        }
    }
}
#endif
#endif
