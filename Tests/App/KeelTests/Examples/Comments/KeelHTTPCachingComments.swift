import Foundation
import HTTPTypes
import Keel
import KeelHTTPCaching
import KeelTestKit
import Testing

/// Examples from the comments of KeelHTTPCaching; compiled but not run, see ``CommentExamples``.
extension CommentExamples {
    static func cachedThenFresh(_ client: NetworkClient) async throws {
        for try await menu in client.cachedThenFresh(GetMenu()) {
            show(menu.value, isOld: menu.source != .network)
        }
    }

    static func hTTPCache(_ client: NetworkClient) async throws {
        var configuration = client.configuration
        let cache = HTTPCache(tier: InMemoryCacheTier())
        configuration.cacheResponses(in: cache)
        _ = configuration
    }

    static func hTTPCachePolicy(_ client: NetworkClient) async throws {
        var options = HTTPCallOptions()
        options.cachePolicy = .cacheElseNetwork
        let menu = try await client.request(GetMenu(), options: options)
        _ = options
        _ = menu
    }

    static func hTTPCachingMiddleware(_ client: NetworkClient, _ cache: HTTPCache) async throws {
        var configuration = client.configuration
        configuration.hopMiddleware = [HTTPCachingMiddleware(cache)]
        _ = configuration
    }
}
