import Foundation
import HTTPTypes
import Keel
import KeelCache
import KeelTestKit
import Testing

/// Examples from the comments of KeelCache; compiled but not run, see ``CommentExamples``.
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
