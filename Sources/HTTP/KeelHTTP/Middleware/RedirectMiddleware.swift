public import HTTPTypes
internal import KeelCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A layer that follows redirects (RFC 9110 section 15.4).
///
/// It detects loops, never goes from https to http, and removes credentials from requests to another origin. A call
/// fails with ``TransportError/Code/redirectLoop``, ``TransportError/Code/redirectLimit``,
/// ``TransportError/Code/redirectDowngrade`` or ``TransportError/Code/redirectInvalid`` if its redirect cannot be
/// followed.
///
/// A client has this layer according to ``NetworkClient/Configuration/redirects``. In a chain of your own, place it
/// below layers that add credentials to requests to any origin, which would otherwise add them again.
public struct RedirectMiddleware: HTTPMiddleware, DeadlineEnforcing {
    private let policy: RedirectPolicy
    private let timer: DeadlineTimer
    private let home: HTTPOrigin?
    /// The fields for requests to `home`, which may be credentials.
    private let homeFields: HTTPFields

    /// Creates the layer.
    public init(_ policy: RedirectPolicy = .safeMethods) {
        self.init(policy, DeadlineTimer.on(ContinuousClock()))
    }

    init(
        _ policy: RedirectPolicy,
        _ timer: DeadlineTimer,
        home: HTTPOrigin? = nil,
        homeFields: HTTPFields = [:]
    ) {
        self.policy = policy
        self.timer = timer
        self.home = home
        self.homeFields = HTTPFields(
            homeFields.filter { field in
                let name = field.name
                return name != .userAgent && !name.canonicalName.hasPrefix("accept")
                    && !Self.contentFields.contains(name)
            }
        )
    }

    public func intercept(
        _ call: HTTPCall,
        next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        switch try await hop(call, next) {
        // Nearly every call ends here, without the cost of the bookkeeping for redirects.
        case .final(let reply): return reply
        case .moved(let target, let status):
            return try await followed(call, to: target, status, next)
        }
    }

    private enum Hop: Sendable {
        case final(HTTPReply)
        case moved(HTTPCall, status: Int)
    }

    private func hop(_ call: HTTPCall, _ next: HTTPNext) async throws(TransportError) -> Hop {
        let reply = try await next(call)
        guard let target = try redirected(call, by: reply.head) else { return .final(reply) }
        await reply.drain(on: timer)
        return .moved(target, status: reply.head.status.code)
    }

    private func followed(
        _ call: HTTPCall,
        to target: HTTPCall,
        _ status: Int,
        _ next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        var (current, following, status) = (call, target, status)
        var visited: Set<Stop> = [Stop(call.head)]
        var count = 0
        while true {
            count += 1
            guard count <= policy.limit else {
                throw TransportError(.redirectLimit, url: current.redactedURL)
            }
            guard visited.insert(Stop(following.head)).inserted else {
                throw TransportError(.redirectLoop, url: following.redactedURL)
            }
            call.record(.redirected(to: following.redactedURL, status: status))
            current = following
            switch try await hop(current, next) {
            case .final(let reply): return reply
            case .moved(let target, let code): (following, status) = (target, code)
            }
        }
    }

    private struct Stop: Hashable {
        let method: HTTPRequest.Method
        let scheme: String?
        let authority: String?
        let path: String?

        init(_ head: HTTPRequest) {
            method = head.method
            scheme = head.scheme
            authority = head.authority
            path = head.path
        }
    }

    /// Returns the redirected call, or nil if the response is the final one.
    private func redirected(
        _ call: HTTPCall,
        by response: HTTPResponse
    ) throws(TransportError) -> HTTPCall? {
        let status = response.status.code
        guard policy.limit > 0, Self.isRedirect(status),
            policy.methods?.contains(call.head.method) ?? true
        else { return nil }
        var following = call
        let method = call.head.method
        let becomesGet =
            status == 303 ? method != .head : (status == 301 || status == 302) && method == .post
        if becomesGet {
            following.head.method = .get
            following.body = nil
            for name in Self.contentFields { following.head.headerFields[name] = nil }
        } else if !call.isReplayable {
            return nil
        }
        try following.head.move(to: response.headerFields[.location], from: call.head)
        if !following.head.hasSameOrigin(as: call.head) {
            for name in Self.credentialFields.union(policy.credentialFields) {
                following.head.headerFields[name] = nil
            }
            changeHomeFields(of: &following.head)
        }
        return following
    }

    /// Removes the fields for the home origin, or adds them on the way back.
    private func changeHomeFields(of head: inout HTTPRequest) {
        let isHome = HTTPOrigin(head) == home
        for name in Set(homeFields.map(\.name)) {
            if !isHome {
                head.headerFields[name] = nil
            } else if head.headerFields[name] == nil {
                head.headerFields[fields: name] = homeFields[fields: name]
            }
        }
    }

    private static func isRedirect(_ status: Int) -> Bool {
        switch status {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }

    private static let credentialFields: Set<HTTPField.Name> = [
        .authorization, .cookie, .proxyAuthorization,
    ]

    private static let contentFields: [HTTPField.Name] = [
        .contentType, .contentLength, .contentEncoding, .contentLanguage, .contentLocation,
        .transferEncoding,
    ]
}

extension HTTPRequest {
    /// Points the request at a `Location`, which may be relative (RFC 9110 section 10.2.2).
    ///
    /// - Throws: ``TransportError`` with the code `redirectInvalid` or `redirectDowngrade`.
    package mutating func move(
        to location: String?,
        from origin: HTTPRequest
    ) throws(TransportError) {
        let invalid = TransportError(.redirectInvalid, url: origin.redactedURL)
        guard let location, !location.isEmpty,
            let base = URL(
                string:
                    "\(origin.scheme ?? "http")://\(origin.authority ?? "")\(origin.path ?? "/")"
            ),
            let target = URL(string: location, relativeTo: base)?.absoluteURL,
            target.user() == nil
        else { throw invalid }
        let address: BaseAddress
        do throws(NetworkError) {
            address = try BaseAddress(target.withoutQueryAndFragment)
        } catch {
            throw invalid
        }
        guard !(origin.scheme?.lowercased() == "https" && address.scheme == "http") else {
            throw TransportError(.redirectDowngrade, url: origin.redactedURL)
        }
        scheme = address.scheme
        authority = address.authority
        let newPath = target.path(percentEncoded: true)
        path =
            (newPath.isEmpty ? "/" : newPath)
            + (target.query(percentEncoded: true).map { "?\($0)" } ?? "")
    }

    package func hasSameOrigin(as other: HTTPRequest) -> Bool {
        func origin(_ request: HTTPRequest) -> String {
            let scheme = (request.scheme ?? "http").lowercased()
            let place = (request.authority ?? "").lowercased()
            let standardPort = scheme == "https" ? ":443" : ":80"
            let host =
                place.hasSuffix(standardPort) ? place.dropLast(standardPort.count) : place[...]
            return "\(scheme)://\(host)"
        }
        return origin(self) == origin(other)
    }
}

extension URL {
    fileprivate var withoutQueryAndFragment: URL {
        var text = absoluteString[...]
        if let end = text.firstIndex(where: { $0 == "?" || $0 == "#" }) { text = text[..<end] }
        return URL(string: String(text)) ?? self
    }
}

/// The redirects that a client follows.
public struct RedirectPolicy: Sendable, Hashable {
    /// The methods of calls whose redirects are followed; nil means all methods.
    public var methods: Set<HTTPRequest.Method>?

    /// The maximum number of redirects per call; 0 follows none.
    public var limit: Int

    /// Fields to remove when a redirect leads to another origin, such as those with API keys, in addition to
    /// `Authorization`, `Cookie` and `Proxy-Authorization`.
    public var credentialFields: Set<HTTPField.Name>

    /// Creates a policy.
    public init(
        methods: Set<HTTPRequest.Method>?,
        limit: Int = 20,
        credentialFields: Set<HTTPField.Name> = []
    ) {
        self.methods = methods
        self.limit = limit
        self.credentialFields = credentialFields
    }

    /// A policy that follows up to 20 redirects of `GET` and `HEAD`.
    public static let safeMethods = RedirectPolicy(methods: [.get, .head])

    /// A policy that follows up to 20 redirects of all methods.
    ///
    /// A `POST` after status 301 and 302, and any method but `HEAD` after 303, continues as a `GET` without its body
    /// (RFC 9110 section 15.4). Otherwise the same request is sent again; if its body is not replayable, the
    /// redirecting response is returned.
    public static let all = RedirectPolicy(methods: nil)

    /// A policy that follows no redirect: the redirecting response is returned.
    public static let never = RedirectPolicy(methods: [], limit: 0)
}
