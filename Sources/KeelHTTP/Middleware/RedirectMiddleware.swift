package import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Follows redirects (RFC 9110 section 15.4).
///
/// It never goes from https to http, finds circles, and leaves credentials out of requests to
/// another origin. Place it inside layers that add credentials: inside, they would be added again
/// for the new origin.
public struct RedirectMiddleware: HTTPMiddleware, DeadlineKeeping {
    private let policy: RedirectPolicy

    /// Creates the layer.
    public init(_ policy: RedirectPolicy = .safeMethods) {
        self.policy = policy
    }

    public func intercept(
        _ call: HTTPCall,
        next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        let first = try await next(call)
        // Nearly every call ends here, and pays for nothing that only a redirect needs.
        guard let target = try redirected(call, by: first.head) else { return first }
        return try await followed(first, of: call, to: target, next)
    }

    private func followed(
        _ redirect: HTTPReply,
        of call: HTTPCall,
        to target: HTTPCall,
        _ next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        var (current, reply, following) = (call, redirect, target)
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
            await reply.drain()
            call.record(
                .redirected(to: following.redactedURL, status: reply.head.status.code)
            )
            current = following
            reply = try await next(current)
            guard let target = try redirected(current, by: reply.head) else { return reply }
            following = target
        }
    }

    /// Where a call has been.
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

    /// Returns the call that a response asks for, or nil if the response is the final one.
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
        }
        return following
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

    /// Whether another request goes to the same scheme, host and port.
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
