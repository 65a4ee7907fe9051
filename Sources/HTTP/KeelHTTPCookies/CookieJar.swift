public import HTTPTypes
public import KeelHTTP
internal import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A layer that stores the cookies that servers set and sends them back (RFC 6265bis).
///
/// ```swift
/// let jar = CookieJar()
/// configuration.attemptMiddleware.append(jar)
/// ```
///
/// It belongs to the layers of the attempt: each redirect sends and sets its own cookies. A call with its own `Cookie`
/// field keeps it, and its response still sets cookies.
///
/// The jar follows RFC 6265bis with these choices:
///
/// - `Secure` cookies are set and sent over https, and over http to the local device.
/// - `SameSite` and `HttpOnly` are recorded but never withhold a cookie, because an app's requests have no originating
///   site.
/// - A cookie for a public suffix, such as `co.uk`, is refused unless the suffix is the host itself (section 5.5).
///   ``isKnownPublicSuffix(_:)`` knows the most common suffixes. An app that talks to hosts that it does not choose
///   should pass a test that uses the whole public suffix list.
///
/// A jar has one user at a time: call ``remove()`` when the user signs out. A call that began before neither sets
/// cookies afterward nor is sent with those of the next user, and the next user shares no response with it.
///
/// Cookies are stored in memory. ``cookies`` is `Codable`: save it where secrets are stored, and pass it to the next
/// jar. Descriptions of jars and cookies contain no value.
public final class CookieJar: HTTPAuthorizing, DeadlineEnforcing {
    /// The maximum number of cookies in a jar.
    ///
    /// Expired cookies are evicted first; then, within a domain, insecure ones; then the least recently used. A jar
    /// that exceeds the total limit evicts a sixteenth of it at once.
    public struct Limits: Sendable, Hashable {
        /// The maximum number of cookies per domain.
        public var perDomain: Int
        /// The maximum number of cookies of all domains.
        public var total: Int

        /// Creates limits; the defaults are the minimum of RFC 6265bis section 6.1.
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
    ///   - cookies: The cookies of an earlier jar.
    ///   - identity: The ``identity`` of the jar, which it then keeps; nil takes that of the earlier jar, or creates a
    ///     random one. Pass a constant only if the cookies identify no user, such as those of a load balancer.
    ///   - limits: The maximum number of cookies.
    ///   - isPublicSuffix: Whether the domains below this one, given in lowercase, belong to different owners.
    ///   - now: Returns the time that expiry is compared with.
    public init(
        _ cookies: [Cookie] = [],
        identity: String? = nil,
        limits: Limits = Limits(),
        isPublicSuffix: @escaping @Sendable (String) -> Bool = CookieJar.isKnownPublicSuffix,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        // A jar with another suffix test may have accepted cookies that this one refuses.
        let kept = cookies.filter { $0.isHostOnly || !isPublicSuffix($0.domain) }
        let name = identity ?? cookies.lazy.compactMap(\.owner).first ?? UUID().uuidString
        self.kept = Mutex(
            CookieTable(kept, of: name, isConstant: identity != nil, limits: limits, at: now())
        )
        self.isPublicSuffix = isPublicSuffix
        self.now = now
    }

    /// Whether a domain, given in lowercase, is one of the public suffixes that a jar knows without a list.
    ///
    /// These are all domains without a dot, such as `com`; those under which country registries assign names, such as
    /// `co.uk`, `com.au` and `ne.jp`; and those of services that give subdomains to their customers, such as
    /// `github.io`.
    public static func isKnownPublicSuffix(_ domain: String) -> Bool {
        PublicSuffixes.contains(domain)
    }

    /// The unexpired cookies, oldest first.
    public var cookies: [Cookie] {
        let now = now()
        return kept.withLock { kept in
            kept.all.filter { !$0.isExpired(at: now) }.sorted { $0.createdAt < $1.createdAt }
                .map { cookie in
                    var cookie = cookie
                    cookie.owner = kept.identity
                    return cookie
                }
        }
    }

    /// A random name of the user whose cookies the jar has, or the constant of the initializer; it is not a secret.
    ///
    /// A random one changes with each ``remove()``, and saved ``cookies`` carry it to the next jar. An HTTP cache and
    /// `CoalescingMiddleware` use it to keep users apart.
    public var identity: String? { kept.withLock { $0.identity } }

    /// Always false: a jar adds `Cookie` fields only.
    public var addsAuthorization: Bool { false }

    /// Removes all cookies, and prepares the jar for another user.
    ///
    /// A response to a call that has begun sets no cookies. A repetition of such a call fails with
    /// `TransportError.Code.credentialsUnavailable`.
    public func remove() { kept.withLock { $0.changeUser() } }

    /// Removes the cookies that satisfy `condition`; the others remain the same user's.
    public func remove(where condition: (Cookie) -> Bool) {
        kept.withLock { $0.remove(where: condition) }
    }

    public func intercept(
        _ call: HTTPCall,
        next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        var sent = call
        let (field, generation) = self.field(for: call.head)
        if call.head.headerFields[.cookie] == nil {
            let key = ObjectIdentifier(self)
            let pin = call.options.pin
            guard pin?.admits("\(generation)", at: key, isIdentity: false) ?? true else {
                throw TransportError(
                    .credentialsUnavailable,
                    url: call.redactedURL,
                    cause: AuthenticationError(.superseded, "The call's cookies were removed.")
                )
            }
            sent.head.headerFields[.cookie] = field
        }
        let reply = try await next(sent)
        store(reply.head.headerFields[values: .setCookie], from: call.head, during: generation)
        return reply
    }

    // MARK: Sending

    /// Returns the `Cookie` field for a request; nil if no cookie matches.
    ///
    /// Cookies with longer paths come first, and older ones first among equals.
    public func cookieField(for head: HTTPRequest) -> String? { field(for: head).text }

    private func field(for head: HTTPRequest) -> (text: String?, generation: Int) {
        guard let origin = HTTPOrigin(head) else {
            return (nil, kept.withLock { $0.generation })
        }
        let path = head.cookiePath
        let isSecure = origin.isTrustworthy
        let now = now()
        let (found, generation) = kept.withLock { kept -> ([Cookie], Int) in
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
            return (found, kept.generation)
        }
        guard !found.isEmpty else { return (nil, generation) }
        let text = found.sorted { one, other in
            one.path.utf8.count == other.path.utf8.count
                ? (one.createdAt, one.name) < (other.createdAt, other.name)
                : one.path.utf8.count > other.path.utf8.count
        }
        .map { $0.name.isEmpty ? $0.value : "\($0.name)=\($0.value)" }
        .joined(separator: "; ")
        return (text, generation)
    }

    // MARK: Storing

    /// Stores the cookies of a response's `Set-Cookie` fields that the server may set.
    public func store(_ fields: [String], from head: HTTPRequest) {
        store(fields, from: head, during: nil)
    }

    private func store(_ fields: [String], from head: HTTPRequest, during generation: Int?) {
        guard !fields.isEmpty, let origin = HTTPOrigin(head) else { return }
        let now = now()
        let path = head.cookiePath
        let cookies = fields.compactMap { field in
            SetCookie(field).flatMap { cookie($0, from: origin, path: path, at: now) }
        }
        kept.withLock { kept in
            guard generation == nil || generation == kept.generation else { return }
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
            kept.evict(from: Set(cookies.map(\.domain)), at: now)
        }
    }

    private func cookie(
        _ set: SetCookie,
        from origin: HTTPOrigin,
        path: String,
        at now: Date
    ) -> Cookie? {
        var domain = set.domain
        if let wanted = domain, isPublicSuffix(wanted) || CookieRules.isAddress(wanted) {
            // A server may name itself and gets a host-only cookie.
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

    /// Whether the cookie meets the guarantee that its name prefix gives to readers (section 4.1.3).
    private func obeysPrefix(_ cookie: Cookie, pathWasNamed: Bool) -> Bool {
        // A nameless cookie whose value begins this way would look like one with such a name.
        let name = (cookie.name.isEmpty ? cookie.value : cookie.name).lowercased().utf8
        let (isSecure, isHost) = (
            name.starts(with: "__secure-".utf8), name.starts(with: "__host-".utf8)
        )
        if cookie.name.isEmpty { return !isSecure && !isHost }
        if isSecure { return cookie.isSecure }
        if isHost {
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

    /// Whether an insecure server would shadow a secure cookie of the same name (section 5.7).
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
    /// Whether the connection to the origin is protected from eavesdroppers.
    fileprivate var isTrustworthy: Bool { scheme == "https" || CookieRules.isLoopback(host) }
}

extension HTTPRequest {
    /// The path of the target for cookies: without the query, and at least a slash.
    fileprivate var cookiePath: String {
        let path = (path ?? "").prefix { $0 != "?" && $0 != "#" }
        return path.hasPrefix("/") ? String(path) : "/"
    }
}

/// The comparison of hosts, domains and paths of cookies (RFC 6265bis section 5.1).
enum CookieRules {
    static func domain(_ domain: String, matches host: String) -> Bool {
        if host == domain { return true }
        return host.hasSuffix(".\(domain)") && !isAddress(host)
    }

    static func path(_ path: String, matches target: String) -> Bool {
        if target == path { return true }
        guard target.hasPrefix(path) else { return false }
        return path.hasSuffix("/") || target.dropFirst(path.count).first == "/"
    }

    static func defaultPath(of target: String) -> String {
        guard target.hasPrefix("/"), let slash = target.lastIndex(of: "/"),
            slash != target.startIndex
        else { return "/" }
        return String(target[..<slash])
    }

    /// Whether a host is an IP address, which has no domain above it.
    static func isAddress(_ host: String) -> Bool {
        if host.hasPrefix("[") || host.contains(":") { return true }
        // The last label of a name is never a number (WHATWG URL, section 3.5).
        guard let last = host.split(separator: ".").last else { return false }
        return last.utf8.allSatisfy { (0x30...0x39).contains($0) }
            || last.lowercased().hasPrefix("0x")
    }

    static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || host.hasSuffix(".localhost") || host == "[::1]"
            || (isAddress(host) && host.hasPrefix("127."))
    }
}
