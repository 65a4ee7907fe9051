public import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A layer that keeps the cookies that servers set and sends them back (RFC 6265bis).
///
/// ```swift
/// let jar = CookieJar()
/// configuration.attemptMiddleware.append(jar)
/// ```
///
/// It belongs to the layers of the attempt: each redirect gets and sets its own cookies. A call
/// that has a `Cookie` field of its own keeps it, and its response still sets cookies.
///
/// It keeps to RFC 6265bis with these choices of its own:
///
/// - `Secure` cookies are set and sent over https, and over http to this device itself.
/// - An app's requests have no site that they come from, so `SameSite` is noted and never keeps a
///   cookie back; `HttpOnly` is noted too.
/// - A cookie for a public suffix, such as `co.uk`, is refused unless the suffix is the host itself
///   (section 5.5): the names below a public suffix belong to different owners.
///   ``isWellKnownSuffix(_:)`` says which suffixes are known. An app that talks to hosts that it does
///   not choose should pass a test over the whole public suffix list.
///
/// Cookies live in memory. ``cookies`` is `Codable`: save it where secrets are kept, and give it
/// to the next jar. No description of a jar or a cookie holds a value.
public final class CookieJar: HTTPMiddleware, DeadlineKeeping {
    /// How many cookies a jar keeps; those used longest ago go first.
    ///
    /// A jar beyond the limit of all domains loses at most a sixteenth of it at once.
    public struct Limits: Sendable, Hashable {
        /// The most cookies of one domain.
        public var perDomain: Int
        /// The most cookies of all domains.
        public var total: Int

        /// Creates limits; RFC 6265bis section 6.1 asks for these at the least.
        public init(perDomain: Int = 50, total: Int = 3000) {
            self.perDomain = perDomain
            self.total = total
        }
    }

    private let kept: Mutex<CookieTable>
    private let isPublicSuffix: @Sendable (String) -> Bool
    private let now: @Sendable () -> Date

    /// Creates a jar.
    ///
    /// - Parameters:
    ///   - cookies: The cookies that an earlier jar had.
    ///   - limits: How many cookies are kept.
    ///   - isPublicSuffix: Whether domains below this one, which is in small letters, belong to
    ///     different owners.
    ///   - now: Tells the time that expiry is compared with.
    public init(
        _ cookies: [Cookie] = [],
        limits: Limits = Limits(),
        isPublicSuffix: @escaping @Sendable (String) -> Bool = CookieJar.isWellKnownSuffix,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        // A jar with another test may have taken what this one refuses.
        let kept = cookies.filter { $0.isHostOnly || !isPublicSuffix($0.domain) }
        self.kept = Mutex(CookieTable(kept, limits: limits))
        self.isPublicSuffix = isPublicSuffix
        self.now = now
    }

    /// Whether a domain is one of the public suffixes that a jar knows without a list.
    ///
    /// Known are all domains without a dot, such as `com`; those by which the registries of countries
    /// divide their names, such as `co.uk`, `com.au` and `ne.jp`; and those of services whose
    /// customers have the names below, such as `github.io`.
    ///
    /// - Parameter domain: A domain in small letters.
    /// - Returns: Whether names below it belong to different owners, as far as is known here.
    public static func isWellKnownSuffix(_ domain: String) -> Bool {
        PublicSuffixes.contains(domain)
    }

    /// The cookies that have not expired, the oldest first.
    public var cookies: [Cookie] {
        let now = now()
        return kept.withLock { kept in
            kept.all.filter { !$0.isExpired(at: now) }.sorted { $0.createdAt < $1.createdAt }
        }
    }

    /// Forgets the cookies for which `condition` holds.
    public func remove(where condition: (Cookie) -> Bool = { _ in true }) {
        kept.withLock { $0.remove(where: condition) }
    }

    public func intercept(
        _ call: HTTPCall,
        next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        var sent = call
        if call.head.headerFields[.cookie] == nil {
            sent.head.headerFields[.cookie] = cookieField(for: call.head)
        }
        let reply = try await next(sent)
        store(reply.head.headerFields[values: .setCookie], from: call.head)
        return reply
    }

    // MARK: Sending

    /// The value of the `Cookie` field for a request; nil if there is no cookie for it.
    ///
    /// Cookies with longer paths come first, among equals those set earlier.
    public func cookieField(for head: HTTPRequest) -> String? {
        guard let origin = HTTPOrigin(head) else { return nil }
        let path = head.cookiePath
        let isSecure = origin.isTrustworthy
        let now = now()
        let found = kept.withLock { kept -> [Cookie] in
            let found = kept.cookies(for: origin.host).filter { cookie in
                !cookie.isExpired(at: now) && (isSecure || !cookie.isSecure)
                    && (cookie.isHostOnly
                        ? cookie.domain == origin.host
                        : CookieRules.domain(cookie.domain, matches: origin.host))
                    && CookieRules.path(cookie.path, matches: path)
            }
            for var cookie in found {
                cookie.usedAt = now
                kept.put(cookie)
            }
            return found
        }
        guard !found.isEmpty else { return nil }
        return found.sorted { one, other in
            one.path.utf8.count == other.path.utf8.count
                ? (one.createdAt, one.name) < (other.createdAt, other.name)
                : one.path.utf8.count > other.path.utf8.count
        }
        .map { $0.name.isEmpty ? $0.value : "\($0.name)=\($0.value)" }
        .joined(separator: "; ")
    }

    // MARK: Keeping

    /// Keeps the cookies that `Set-Cookie` fields of a response set, as far as they may.
    public func store(_ fields: [String], from head: HTTPRequest) {
        guard !fields.isEmpty, let origin = HTTPOrigin(head) else { return }
        let now = now()
        let path = head.cookiePath
        let cookies = fields.compactMap { field in
            SetCookie(field).flatMap { cookie($0, from: origin, path: path, at: now) }
        }
        kept.withLock { kept in
            for var cookie in cookies {
                guard origin.isTrustworthy || !isShadowed(cookie, by: kept.all, at: now)
                else { continue }
                guard !cookie.isExpired(at: now) else {
                    kept.remove(cookie.key)
                    continue
                }
                if let old = kept[cookie.key], !old.isExpired(at: now) {
                    cookie.createdAt = old.createdAt
                }
                kept.put(cookie)
            }
            for domain in Set(cookies.map(\.domain)) { kept.evict(from: domain, at: now) }
        }
    }

    /// Returns the cookie to keep, or nil if the server may not set it.
    private func cookie(
        _ set: SetCookie,
        from origin: HTTPOrigin,
        path: String,
        at now: Date
    ) -> Cookie? {
        var domain = set.domain
        if let wanted = domain, isPublicSuffix(wanted) || CookieRules.isAddress(wanted) {
            // A server may name itself; it gets a cookie for itself alone.
            guard wanted == origin.host else { return nil }
            domain = nil
        }
        if let wanted = domain, !CookieRules.domain(wanted, matches: origin.host) { return nil }
        let cookie = Cookie(
            name: set.name,
            value: set.value,
            domain: domain ?? origin.host,
            isHostOnly: domain == nil,
            path: set.path ?? CookieRules.defaultPath(of: path),
            expiresAt: expiry(set, at: now),
            isSecure: set.isSecure,
            isHTTPOnly: set.isHTTPOnly,
            sameSite: set.sameSite,
            createdAt: now,
            usedAt: now
        )
        guard origin.isTrustworthy || !cookie.isSecure else { return nil }
        if cookie.sameSite == Cookie.SameSite.none, !cookie.isSecure { return nil }
        return obeysPrefix(cookie, pathWasNamed: set.path != nil) ? cookie : nil
    }

    /// Names that begin like this promise something to whoever reads them (section 4.1.3).
    private func obeysPrefix(_ cookie: Cookie, pathWasNamed: Bool) -> Bool {
        // A nameless cookie whose value begins so would look like one with such a name.
        let name = (cookie.name.isEmpty ? cookie.value : cookie.name).lowercased()
        if cookie.name.isEmpty { return !name.hasPrefix("__secure-") && !name.hasPrefix("__host-") }
        if name.hasPrefix("__secure-") { return cookie.isSecure }
        if name.hasPrefix("__host-") {
            return cookie.isSecure && cookie.isHostOnly && cookie.path == "/" && pathWasNamed
        }
        return true
    }

    private func expiry(_ set: SetCookie, at now: Date) -> Date? {
        // No cookie outlives 400 days (section 5.5).
        let limit: TimeInterval = 400 * 24 * 3600
        if let age = set.maxAge {
            return age <= 0 ? .distantPast : now.addingTimeInterval(min(TimeInterval(age), limit))
        }
        return set.expires.map { min($0, now.addingTimeInterval(limit)) }
    }

    /// Whether an insecure server would cover a secure cookie of the same name (section 5.7).
    private func isShadowed(
        _ cookie: Cookie,
        by others: some Sequence<Cookie>,
        at now: Date
    ) -> Bool {
        others.contains { other in
            other.isSecure && other.name == cookie.name && !other.isExpired(at: now)
                && (CookieRules.domain(other.domain, matches: cookie.domain)
                    || CookieRules.domain(cookie.domain, matches: other.domain))
                && CookieRules.path(other.path, matches: cookie.path)
        }
    }
}

extension CookieJar: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "CookieJar(\(kept.withLock { $0.count }) cookies)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["cookies": cookies.count]) }
}

extension HTTPOrigin {
    /// Whether nobody can read along on the way there.
    fileprivate var isTrustworthy: Bool { scheme == "https" || CookieRules.isLoopback(host) }
}

extension HTTPRequest {
    /// The path of the target as cookies see it: without the query, at least a slash.
    fileprivate var cookiePath: String {
        let path = (path ?? "").prefix { $0 != "?" && $0 != "#" }
        return path.hasPrefix("/") ? String(path) : "/"
    }
}
