import Foundation
import Keel
import KeelCache
import KeelConformance
import KeelTestKit
import Testing

#if AsyncHTTPClient && Crypto
/// Examples from the pages about stores, caches and servers; compiled but not run, see
/// ``ArticleExamples``.
enum PageServerExamples {
    static func keel(_ address: URL, _ token: String) -> StorageClient {
        let transport = AsyncHTTPClientTransport()
        let server = FirestoreStorageAdapter.Configuration.keel(
            address,
            authentication: .token(token)
        )
        let storage = StorageClient(
            FirestoreStorageAdapter(server, transport: transport).retrying(.attempts(3))
        )
        return storage
    }

    static func google(
        _ keyFile: Data,
        _ session: some TokenSource
    ) throws -> FirestoreStorageAdapter.Configuration? {
        var server: FirestoreStorageAdapter.Configuration?
        // Google's, for a service account or for the user who signed in.
        server = .google(project: "my-project", authentication: try .serviceAccount(json: keyFile))
        server = .google(project: "my-project", authentication: .idToken(session))
        // An emulator on 127.0.0.1:8080, or where FIRESTORE_EMULATOR_HOST says; nil without that.
        server = .emulator(project: "demo")
        server = .emulatorFromEnvironment(project: "demo")
        return server
    }
}
#endif

/// Examples from the pages about the architecture and the cache; compiled but not run.
enum PageStorageExamples {
    struct Menu: Codable, Sendable {
        var id: Int
    }

    struct Restaurant: Codable, Sendable {
        var id: String
    }

    struct API {
        func menu(_ id: Int) async throws -> Menu { Menu(id: id) }
    }

    #if SQLite
    static func past(_ location: SQLiteStorageLocation) async throws -> Document {
        var configuration = SQLiteStorageAdapter.Configuration()
        configuration.history = .seconds(3600)
        let adapter = try SQLiteStorageAdapter(at: location, configuration: configuration)
        let store = StorageClient(adapter)

        let receipt = try await store.setDocument("notes/1", ["text": "Hello"])
        try await store.deleteDocument("notes/1")
        let before = try store.asOf(receipt.commitTime)
        let deleted = try await before.getDocument("notes/1")
        return deleted
    }
    #endif

    static func replaced(_ url: URL, _ menu: String) -> [Any] {
        // Instead of a file; the same with faults where you want them; answers as values.
        let storage = StorageClient(InMemoryStorageAdapter())
        let failing = StorageClient(InMemoryStorageAdapter().failing([.fail(.unavailable)]))
        let network = NetworkClient(baseURL: url, transport: ScriptedHTTPTransport([.json(menu)]))
        return [storage, failing, network]
    }

    static func memory(_ menu: Menu, _ api: API) async throws -> [Menu?] {
        func overview() async throws -> [Menu?] {
            let menus = Cache<Int, Menu>(
                CacheConfiguration(limits: .count(500), expiry: .minutes(10))
            )

            await menus.set(menu, for: 7)
            let now = menus.peek(7)  // synchronous, memory alone
            let menu = try await menus.value(for: 7) { try await api.menu(7) }
            try await menus.remove(7)
            return [now, menu]
        }
        return try await overview()
    }

    static func tiers(_ tier: any CacheTier, _ luigi: Restaurant) async throws {
        let store = CacheStore(CacheConfiguration(limits: .bytes(64 << 20)), over: tier)
        let restaurants = store.cache("restaurants", key: String.self, value: Restaurant.self)
        await restaurants.set(luigi, for: luigi.id, expiry: .hours(1), tags: ["city:rome"])
        try await store.removeAll(tagged: "city:rome")
    }
}

#if SQLite
@Suite("Page: an adapter of one's own", .timeLimit(.minutes(10)))
struct PageAdapterExamples {
    typealias RealmStorageAdapter = SQLiteStorageAdapter

    @Test(arguments: StorageAdapterCheck.applicable(to: RealmStorageAdapter.claimed))
    func keepsThePromise(_ check: StorageAdapterCheck) async throws {
        try await check.run(on: try RealmStorageAdapter(at: .temporary()))
    }
}

extension SQLiteStorageAdapter {
    fileprivate static let claimed = InMemoryStorageAdapter().capabilities
}
#endif
