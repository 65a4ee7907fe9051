import Foundation
import HTTPTypes
import Keel
import KeelDependencies
import KeelDependenciesTesting
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

#if Logging
import Logging
#endif
#if TestServer && AsyncHTTPClient
import KeelTestServer
#endif

@Suite("Presets and dependency keys")
struct PresetTests {
    struct Ping: Endpoint {
        struct Response: Decodable, Sendable {}
        var path: EndpointPath { "/ping" }
    }

    @Test("The test preset refuses queries without an index and all requests")
    func testPreset() async throws {
        let keel = KeelConfiguration.test()
        let storage = try keel.makeStorage()
        let query = DocumentQuery("notes").where(.equal("text", "Hello"))
        let refused = await expectError(StorageError.self, .indexRequired) {
            try await storage.queryDocuments(query)
        }
        #expect(
            refused?.message.contains("IndexDefinition(\"notes\", [.ascending(\"text\")])") == true
        )
        await #expect(throws: NetworkError.self) { try await keel.makeNetwork().request(Ping()) }
    }

    @Test("Without a web service, each call says what to set")
    func noService() async {
        let keel = KeelConfiguration(environment: .production, storage: .memory)
        let clients = [
            (keel.makeNetwork(), "set its api"),
            (KeelConfiguration.preview().makeNetwork(), "does not allow network access"),
            (NetworkDependency.liveValue, "$0.network = …"),
            (NetworkDependency.previewValue, "$0.network = …"),
        ]
        for (network, advice) in clients {
            let error = await #expect(throws: NetworkError.self) {
                try await network.request(Ping())
            }
            #expect(error?.message.contains(advice) == true, "\(advice)")
        }
    }

    @Test("A declared index allows the query that the test preset otherwise refuses")
    func declaredIndex() async throws {
        let schema = StorageSchema(indexes: [IndexDefinition("notes", [.ascending("text")])])
        let storage = try KeelConfiguration.test(schema: schema).makeStorage()
        try await storage.setDocument("notes/1", ["text": "Hello"])
        let query = DocumentQuery("notes").where(.equal("text", "Hello"))
        #expect(try await storage.queryDocuments(query).map(\.id) == ["1"])
    }

    @Test("A file keeps documents across clients")
    func file() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "keel-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let keel = KeelConfiguration(
            environment: .production,
            storage: .file(folder.appending(path: "Store.sqlite"))
        )
        try await keel.makeStorage().setDocument("notes/1", ["text": "Hello"])
        let text = try await keel.makeStorage().getDocument("notes/1")["text"]
        #expect(text == "Hello")
    }

    #if TestServer && AsyncHTTPClient
    @Test("A server of documents receives the token", .timeLimit(.minutes(1)))
    func serverToken() async throws {
        try await FaultServer.run(answers: [.status(.notFound)]) { server in
            let address = try #require(URL(string: server.address("")))
            var keel = KeelConfiguration(environment: .production, storage: .server(address))
            keel.storageTokens = StaticToken("secret")
            _ = try? await keel.makeStorage().findDocument("notes/1")
            let request = try #require(try await server.waitForRequests(1).first)
            let sent = request.fields.filter { $0.name.lowercased() == "authorization" }
            #expect(sent.map(\.value) == ["Bearer secret"])
        }
    }

    @Test("Calls to a server of documents are retried", .timeLimit(.minutes(1)))
    func retriesServer() async throws {
        let answers: [FaultServer.Answer] = [.status(.serviceUnavailable), .status(.notFound)]
        try await FaultServer.run(answers: answers) { server in
            let address = try #require(URL(string: server.address("")))
            let keel = KeelConfiguration(environment: .production, storage: .server(address))
            _ = try? await keel.makeStorage().findDocument("notes/1")
            #expect(try await server.waitForRequests(2).count == 2)
        }
    }
    #endif

    @Test("Files persist across stores, and a preview keeps them in memory")
    func files() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "keel-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let keel = KeelConfiguration(
            environment: .production,
            storage: .memory,
            files: .folder(folder)
        )
        try await keel.makeFiles().write(Data("x".utf8), to: "a")
        #expect(try await keel.makeFiles().read("a") == Data("x".utf8))
        let preview = try KeelConfiguration.preview().makeFiles()
        #expect(try await preview.exists("a") == false)
        try await withDependencies {
            $0.files = preview
        } operation: {
            @Dependency(\.files) var files
            try await files.write(Data("y".utf8), to: "b")
        }
        #expect(try await preview.exists("b"))
    }

    @Test(
        "Caches keep values across stores, and a second program has its own in memory",
        .timeLimit(.minutes(1))
    )
    func caches() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "keel-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let heard = Mutex([KeelObservation]())
        var keel = KeelConfiguration(
            environment: .production,
            storage: .memory,
            caches: .folder(folder)
        )
        keel.observer = KeelObserver { call in heard.withLock { $0.append(call) } }
        do {
            let store = try keel.makeCaches()
            let names = store.cache("names", key: Int.self, value: String.self)
            await names.set("Ada", for: 1)
            try await store.flush()
            #expect(heard.withLock { $0.allSatisfy { $0.failure == nil } })
            let other = try keel.makeCaches()
            #expect(try await other.tierUsage() == nil)
            #expect(heard.withLock { $0.last?.failure } == "folderInUse")
        }
        // The first store's queue may hold the folder slightly longer than the store exists.
        var next: CacheStore?
        try await waitUntil {
            next = try keel.makeCaches()
            return try await next?.tierUsage() != nil
        }
        let store = try #require(next)
        let names = store.cache("names", key: Int.self, value: String.self)
        #expect(await names.get(1) == "Ada")
        #expect(try await KeelConfiguration.test().makeCaches().tierUsage() == nil)
    }

    @Test("By default caches share 64 MiB of memory, counted in bytes")
    func cacheBudget() async throws {
        let budget = CacheLimits.bytes(64 << 20)
        let store = try KeelConfiguration.test().makeCaches()
        #expect(store.configuration.limits == budget)
        let other = try KeelConfiguration.preview().makeCaches(.init(limits: .count(2)))
        #expect(other.configuration.limits == .count(2))
        for key in [CachesDependency.testValue, CachesDependency.previewValue] {
            #expect(key.configuration.limits == budget)
        }
        // Two caches share it by size, not by number of entries.
        let pictures = store.cache("pictures", key: Int.self, value: Data.self)
        let sounds = store.cache("sounds", key: Int.self, value: Data.self)
        let megabyte = Data(repeating: 7, count: 1 << 20)
        for key in 0..<60 {
            await pictures.set(megabyte, for: key)
            await sounds.set(megabyte, for: key)
            #expect(store.cost <= 64 << 20)
        }
        #expect(store.cost >= 32 << 20)
        try await pictures.removeAll()
        try await sounds.removeAll()
        let names = store.cache("names", key: Int.self, value: String.self)
        for key in 0..<20_000 { await names.set("x", for: key) }
        #expect(store.count == 20_000)
    }

    @Test("Secrets are in memory in tests, and in a file if configured")
    func secrets() async throws {
        let memory = try KeelConfiguration.test().makeSecrets()
        try await memory.save("1", forKey: "token")
        #expect(await memory.capabilities().kind == .memory)
        #expect(try await KeelConfiguration.test().makeSecrets().list().isEmpty)
        var keel = KeelConfiguration.production("Notes")
        guard case .platform("Notes") = keel.secrets
        else { return fail("production keeps secrets in \(keel.secrets)") }
        #if Crypto
        let folder = FileManager.default.temporaryDirectory.appending(path: "keel-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let key = KeyFileSource(path: folder.appending(path: "key").path)
        let place = folder.appending(path: "secrets")
        keel.secrets = .file(place, .source(key), service: "Notes")
        try await keel.makeSecrets().save("s3cret", forKey: "token")
        #expect(try await keel.makeSecrets().loadString(forKey: "token") == "s3cret")
        #endif
    }

    @Test("Unset secrets fail the test by name")
    func unsetSecrets() async throws {
        await withKnownIssue {
            @Dependency(\.secrets) var secrets
            await expectError(SecretError.self, .unavailable) { try await secrets.list() }
        } matching: { issue in
            "\(issue)".contains("SecretsDependency")
        }
    }

    @Test("Locations come from a track in tests and previews, and from the platform in production")
    func location() async throws {
        let test = KeelConfiguration.test().makeLocation()
        #expect(await test.capabilities().kind == .scripted)
        await expectError(LocationError.self, .timedOut) {
            try await test.currentLocation(timeout: .milliseconds(1))
        }
        let preview = try await KeelConfiguration.preview().makeLocation().currentLocation()
        #expect(preview.coordinate.latitude > 51)
        var keel = KeelConfiguration.production("Notes")
        #if os(Linux)
        #expect(await keel.makeLocation().capabilities().kind == .gpsd)
        #expect(await LocationDependency.liveValue.capabilities().kind == .gpsd)
        #endif
        keel.location = .gpsd(host: "receiver.example", port: 2_947)
        #expect(await keel.makeLocation().capabilities().kind == .gpsd)
        keel.allowsNetwork = false
        let refused = await keel.makeLocation().capabilities()
        #expect(refused.kind == .none && refused.problem == .unsupported)
        #expect(try await LocationDependency.previewValue.currentLocation() == preview)
    }

    @Test("An unset location fails the test by name")
    func unsetLocation() async throws {
        await withKnownIssue {
            @Dependency(\.location) var location
            await expectError(LocationError.self, .unsupported) {
                try await location.currentLocation()
            }
        } matching: { issue in
            "\(issue)".contains("LocationDependency")
        }
    }

    #if Crypto
    @Test("Security encrypts in tests and previews, with separate keys")
    func security() throws {
        @Dependency(\.security) var security
        #expect(security.hash(Data()).hasPrefix("e3b0c44298fc1c14"))
        try withDependencies {
            $0.security = KeelConfiguration.test().makeSecurity()
        } operation: {
            let sealed = try security.encrypt(Data([1]))
            #expect(try security.decrypt(sealed) == Data([1]))
            let preview = SecurityDependency.previewValue
            #expect(try preview.decrypt(preview.encrypt(Data([1]))) == Data([1]))
            let error = #expect(throws: SecurityError.self) { try preview.decrypt(sealed) }
            #expect(error?.code == .decryptionFailed)
        }
    }

    @Test("A keyset under the platform's secrets is created once and survives a restart")
    func keptSecurity() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "keel-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        var keel = KeelConfiguration.production("Notes")
        keel.keys = .folder(folder.appending(path: "keys"))
        let settings = folder.appending(path: "settings")
        #if os(Linux)
        // Without a Secret Service, the key is in an encrypted file whose own key is elsewhere.
        let sealed = try keel.makeSecurity(keyFiles: settings).encrypt(Data("note".utf8))
        let later = keel.makeSecurity(keyFiles: settings)
        try await later.prepare()
        #expect(try later.decrypt(sealed) == Data("note".utf8))
        #endif
        let key = KeyFileSource(path: folder.appending(path: "key").path)
        keel.secrets = .file(folder.appending(path: "secrets"), .source(key), service: "Notes")
        keel.keys = .folder(folder.appending(path: "other"))
        let other = try keel.makeSecurity().encrypt(Data("note".utf8))
        #expect(try keel.makeSecurity().decrypt(other) == Data("note".utf8))
        #expect(try await keel.makeSecrets().list() == ["keyset-key"])
    }
    #endif

    @Test("Events are in memory in tests and persist across services in a folder")
    func analytics() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "keel-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        var keel = KeelConfiguration.test()
        try keel.makeAnalytics().setUserID("u-17")
        #expect(try keel.makeAnalytics().userID == nil)
        keel.analytics = .folder(folder)
        try keel.makeAnalytics().setUserID("u-17")
        #expect(try keel.makeAnalytics().userID == "u-17")
    }

    @Test("Analytics and caches of a test are in memory and its own")
    func ownValues() async throws {
        @Dependency(\.analytics) var analytics
        @Dependency(\.caches) var caches
        let ids = await withDependencies { _ in
        } operation: { () async -> [String] in
            #expect(analytics.trackEvent("a") != nil)
            await caches.cache("names", key: Int.self, value: String.self).set("Ada", for: 1)
            return [analytics.anonymousID, analytics.anonymousID]
        }
        #expect(Set(ids).count == 1)
        await withDependencies { _ in
        } operation: {
            #expect(analytics.anonymousID != ids[0])
            let names = caches.cache("names", key: Int.self, value: String.self)
            #expect(await names.get(1) == nil)
        }
        let set = try KeelConfiguration.test().makeAnalytics()
        withDependencies {
            $0.analytics = set
        } operation: {
            #expect(analytics.anonymousID == set.anonymousID)
        }
    }

    #if Logging
    @Test("Logs go to a file in production and nowhere in tests, and levels have symbols")
    func logging() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "keel-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        var keel = KeelConfiguration.production("Notes")
        #expect(keel.logs == .applicationSupport("Notes"))
        #expect(KeelConfiguration.development("Notes").logs == .console)
        keel.logs = .file(folder.appending(path: "app.log"))
        Logger(label: "app", factory: try keel.makeLogging()).logInfo("opened")
        let text = try String(contentsOf: folder.appending(path: "app.log"), encoding: .utf8)
        #expect(text.contains("opened"))
        #expect(try KeelConfiguration.test().makeLogging()("a") is SwiftLogNoOpLogHandler)
        let shipped = ShippedMessages()
        let all: [KeelConfiguration] = [keel, .development("Notes"), .test(), .preview()]
        for (number, keel) in all.enumerated() {
            let factory = try keel.makeLogging(shipping: shipped)
            Logger(label: "app", factory: factory).logInfo("\(number)")
        }
        #expect(shipped.messages == ["0", "1"])
        @Dependency(\.logger) var logger
        logger.info("nobody hears this")
        #expect(Logger.Level.error.symbol == "❌" && Logger.Level.critical.title == "FATAL")
    }
    #endif

    @Test("A development store reports the index that a query needs")
    func reports() async throws {
        let reports = Reports()
        var keel = KeelConfiguration.preview()
        keel.undeclaredQueries = .report { _, plan in reports.add(plan) }
        let storage = try keel.makeStorage()
        _ = try await storage.queryDocuments(DocumentQuery("notes").where(.equal("text", "Hello")))
        #expect(reports.plans.map(\.suggestion) == [IndexDefinition("notes", [.ascending("text")])])
    }

    @Test("Unset storage fails the test by name and changes nothing")
    func unsetStorage() async throws {
        await withKnownIssue {
            @Dependency(\.storage) var storage
            await expectError(StorageError.self, .unavailable) {
                try await storage.setDocument("notes/1", [:])
            }
        } matching: { issue in
            "\(issue)".contains("StorageDependency")
        }
    }

    @Test(
        "Storage and network have the values that the test sets",
        .dependencies {
            $0.storage = StorageClient(InMemoryStorageAdapter())
            $0.network = KeelConfiguration.preview().makeNetwork()
        }
    )
    func setDependencies() async throws {
        @Dependency(\.storage) var storage
        @Dependency(\.network) var network
        try await storage.setDocument("notes/1", ["text": "Hello"])
        #expect(try await storage.count(DocumentQuery("notes")) == 1)
        await #expect(throws: NetworkError.self) { try await network.request(Ping()) }
    }
}

private final class Reports: Sendable {
    private let stored = Mutex<[QueryPlan]>([])
    var plans: [QueryPlan] { stored.withLock { $0 } }
    func add(_ plan: QueryPlan) { stored.withLock { $0.append(plan) } }
}

#if Logging
/// An output that stores the messages.
private final class ShippedMessages: LogOutput {
    private let list = Mutex<[String]>([])

    var messages: [String] { list.withLock { $0 } }

    func write(_ record: LogRecord) { list.withLock { $0.append(record.message) } }

    func synchronize() {}
}
#endif
