#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct CookieTable: Sendable {
    private var domains: [String: [Cookie.Key: Cookie]] = [:]
    private(set) var count = 0
    private(set) var generation = 0
    private(set) var identity: String
    /// Whether the cookies identify no user.
    private let isConstant: Bool
    private let limits: CookieJar.Limits

    init(
        _ cookies: [Cookie],
        of identity: String,
        isConstant: Bool,
        limits: CookieJar.Limits,
        at now: Date
    ) {
        self.identity = identity
        self.isConstant = isConstant
        self.limits = limits
        for cookie in cookies { put(cookie) }
        evict(from: Set(cookies.map(\.domain)), at: now)
    }

    var all: some Sequence<Cookie> { domains.values.lazy.flatMap(\.values) }

    /// Returns the cookies whose domain is the host or above it: the candidates for a request.
    func cookies(for host: String) -> [Cookie] {
        var found: [Cookie] = []
        var domain = host[...]
        while true {
            if let here = domains[String(domain)] { found += here.values }
            guard let dot = domain.firstIndex(of: ".") else { return found }
            domain = domain[domain.index(after: dot)...]
        }
    }

    subscript(key: Cookie.Key) -> Cookie? { domains[key.domain]?[key] }

    mutating func put(_ cookie: Cookie) {
        if domains[cookie.domain, default: [:]].updateValue(cookie, forKey: cookie.key) == nil {
            count += 1
        }
    }

    mutating func remove(_ key: Cookie.Key) {
        guard domains[key.domain]?.removeValue(forKey: key) != nil else { return }
        count -= 1
        if domains[key.domain]?.isEmpty == true { domains[key.domain] = nil }
    }

    /// Removes all cookies: those that follow may be another user's.
    mutating func changeUser() {
        generation += 1
        if !isConstant { identity = UUID().uuidString }
        domains = [:]
        count = 0
    }

    mutating func remove(where condition: (Cookie) -> Bool) {
        for cookie in Array(all) where condition(cookie) { remove(cookie.key) }
    }

    /// Enforces the limits after cookies were put into these domains.
    ///
    /// Only a full domain or table is searched. A full table loses a sixteenth, so that not every further cookie costs
    /// a pass over it.
    mutating func evict(from changed: Set<String>, at now: Date) {
        for domain in changed {
            guard let here = domains[domain], here.count > limits.perDomain else { continue }
            removeExpired(among: here.values, at: now)
            // Within a domain, insecure cookies are evicted before secure ones.
            let first = (domains[domain] ?? [:]).values
                .sorted { ($0.isSecure ? 1 : 0, $0.usedAt) < ($1.isSecure ? 1 : 0, $1.usedAt) }
            for cookie in first.dropLast(max(0, limits.perDomain)) { remove(cookie.key) }
        }
        guard count > limits.total else { return }
        removeExpired(among: Array(all), at: now)
        guard count > limits.total else { return }
        let oldest = all.sorted { $0.usedAt < $1.usedAt }
        for cookie in oldest.dropLast(max(0, limits.total - limits.total / 16)) {
            remove(cookie.key)
        }
    }

    private mutating func removeExpired(among cookies: some Sequence<Cookie>, at now: Date) {
        for cookie in cookies where cookie.isExpired(at: now) { remove(cookie.key) }
    }
}
