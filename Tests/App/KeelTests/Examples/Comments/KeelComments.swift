import Foundation
import HTTPTypes
import Keel
import KeelCache
import KeelCore
import KeelDependencies
import KeelLocation
import KeelTestKit
import Testing

/// Examples from the comments of Keel, KeelCache, KeelCore and KeelLocation; compiled but not run, see
/// ``CommentExamples``.
extension CommentExamples {
    static func filesDependency() async throws {
        let files = FileStore(try LocalFileStoreAdapter(folder: "/var/lib/notes/files"))
        try await withDependencies {
            $0.files = files
        } operation: {
            try await run()
        }
        _ = files
    }

    static func locationDependency(_ harbour: LocationFix, _ island: LocationFix) async throws {
        let location = LocationService(ScriptedLocationAdapter(.fixes([harbour, island])))
        try await withDependencies {
            $0.location = location
        } operation: {
            try await run()
        }
        _ = location
    }

    static func secretsDependency(_ file: EncryptedFileSecretStoreAdapter) async throws {
        let secrets = try await SecretStore.platformDefault(
            service: "com.example.notes",
            fallback: file
        )
        try await withDependencies {
            $0.secrets = secrets
        } operation: {
            try await run()
        }
        _ = secrets
    }

    static func storageDependency(_ schema: StorageSchema) async throws {
        let storage = try KeelConfiguration.production("Notes", schema: schema).makeStorage()
        try await withDependencies {
            $0.storage = storage
        } operation: {
            try await run()
        }
        _ = storage
    }

    static func users(
        _ session: AuthSession<BearerCredentials>,
        _ outbox: Outbox,
        _ caches: CacheStore,
        _ memory: ResourceMemory,
        _ loader: ResourceLoader,
        _ analytics: AnalyticsService
    ) async throws {
        session.clearAtSignOut(outbox: outbox, caches: caches, memory: memory, analytics: analytics)
        try await session.restore()
        var work = BackgroundWork()
        work.add(session, notifying: loader, retrying: outbox)
        _ = work
    }
}

// KeelCache
extension CommentExamples {
    static func cacheClock() async throws {
        let clock = TestClock()
        let cache = Cache<String, Int>(clock: .following(clock))
        _ = clock
        _ = cache
    }

    static func observedCacheTier(_ disk: DiskCacheTier) async throws {
        let tier = disk.observed { call in
            timer("cache.\(call.operation)").record(call.duration)
        }
        _ = tier
    }

    static func cacheCompression() async throws {
        var configuration = DiskCacheTier.Configuration(byteLimit: 1 << 20)
        configuration.compression = CacheCompression(identifier: 1) {
            try? deflated($0)
        } expand: {
            try inflated($0, upTo: $1)
        }
        _ = configuration
    }

    static func diskCacheTier(_ cachesFolder: URL) async throws {
        let tier = try DiskCacheTier(at: cachesFolder.appending(path: "Images"))
        _ = tier
    }

    static func cache3(_ api: API) async throws {
        let menus = Cache<Int, Menu>(CacheConfiguration(limits: .count(500), expiry: .minutes(10)))
        let menu = try await menus.value(for: 7) { try await api.menu(7) }
        _ = menus
        _ = menu
    }

    static func cachePolicy(_ cache: Cache<Int, Menu>, _ id: Int, _ api: API) async throws {
        let menu = try await cache.value(for: id, policy: .staleWhileRevalidate) {
            try await api.menu(id)
        }
        _ = menu
    }

    static func cacheStore(_ tier: any CacheTier) async throws {
        let store = CacheStore(CacheConfiguration(limits: .bytes(64 << 20)), over: tier)
        let restaurants = store.cache("restaurants", key: String.self, value: Restaurant.self)
        let ratings = store.cache("ratings", key: Int.self, value: Double.self)
        _ = store
        _ = restaurants
        _ = ratings
    }
}

// KeelCore
extension CommentExamples {
    static func concurrentMap(_ ids: [String]) async throws {
        let restaurants = try await ids.concurrentMap(limit: 4) { id in try await fetch(id) }
        _ = restaurants
    }

    static func redactor() async throws {
        let redactor = Redactor.standard
        print(redactor.redact("login of ada@example.org, token=4f2a"))
        // login of <redacted>, token=<redacted>
        print(redactor.redact("Bearer 4f2a", named: "Authorization"))
        // <redacted>
        print(redactor.redactURL("https://example.org/a?page=2&key=1"))
        // https://example.org/a?page=redacted&key=redacted
        _ = redactor
    }

    static func singleFlight(_ url: URL) async throws {
        let flights = SingleFlight<URL, Image>()
        let image = try await flights.run(url) { try await load(url) }
        _ = flights
        _ = image
    }
}

// KeelLocation
extension CommentExamples {
    static func observedLocationAdapter() async throws {
        let adapter = GPSDLocationAdapter().observed { use in
            if let code = use.failure { counter("location.failures", code.name).increment() }
        }
        _ = adapter
    }

    static func locationService(_ map: Map) async throws {
        let location = LocationService.platformDefault()
        guard try await location.requestPermission().isGranted else { return }
        let here = try await location.currentLocation(accuracy: 50, timeout: .seconds(10))
        for try await fix in location.fixes(minimumDistance: 10) { map.move(to: fix.coordinate) }
        _ = location
        _ = here
    }

    static func scriptedLocationAdapter(_ harbour: LocationFix, _ island: LocationFix) async throws
    {
        let adapter = ScriptedLocationAdapter(.fixes([harbour, island], every: .seconds(5)))
        let location = LocationService(adapter)
        _ = adapter
        _ = location
    }
}
