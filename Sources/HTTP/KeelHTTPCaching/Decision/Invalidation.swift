import HTTPTypes
import KeelHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The address under which responses are stored: the normalized target of a request.
struct ResourceAddress: Hashable, Sendable {
    let origin: HTTPOrigin
    /// Origin, path and query, without a fragment.
    let text: String

    init?(_ request: HTTPRequest) {
        guard let origin = HTTPOrigin(request) else { return nil }
        self.init(origin, request.path ?? "/")
    }

    /// Reads the address of a URL; nil if it is not HTTP.
    init?(_ url: URL) {
        guard let scheme = url.scheme, let host = url.host(percentEncoded: true) else { return nil }
        let bracketed = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        let request = HTTPRequest(
            method: .get,
            scheme: scheme,
            authority: url.port.map { "\(bracketed):\($0)" } ?? bracketed,
            path: url.path(percentEncoded: true)
                + (url.query(percentEncoded: true).map { "?\($0)" } ?? "")
        )
        self.init(request)
    }

    /// Reads a reference in a response, which may be relative; nil if it cannot be resolved.
    init?(_ reference: String, from request: HTTPRequest) {
        guard let here = ResourceAddress(request), let base = URL(string: here.text),
            let target = URL(string: reference, relativeTo: base)?.absoluteURL
        else { return nil }
        self.init(target)
    }

    private init(_ origin: HTTPOrigin, _ path: String) {
        self.origin = origin
        let end = path.utf8.firstIndex(of: UInt8(ascii: "#")) ?? path.endIndex
        let target = path[..<end]
        text = origin.description + (target.hasPrefix("/") ? "" : "/") + target
    }
}

/// The addresses that a request invalidates (RFC 9111 section 4.4).
enum Invalidation {
    /// Methods that change nothing; every other method may.
    static let safeMethods: Set<String> = [
        "GET", "HEAD", "OPTIONS", "TRACE", "QUERY", "PROPFIND", "REPORT", "SEARCH",
    ]

    static func addresses(
        of request: HTTPRequest,
        _ response: HTTPResponse
    ) -> Set<ResourceAddress> {
        guard !safeMethods.contains(request.method.rawValue),
            (200..<400).contains(response.status.code), let target = ResourceAddress(request)
        else { return [] }
        let references = [HTTPField.Name.location, .contentLocation].flatMap {
            response.headerFields[values: $0]
        }
        let others = references.compactMap { ResourceAddress($0, from: request) }
        // A response must not invalidate another origin's responses.
        return Set([target] + others.filter { $0.origin == target.origin })
    }

    /// Returns whether a response to `POST` may be stored for later `GET` requests (RFC 9110
    /// section 9.3.3): it states its lifetime, and that it represents the address.
    static func isReadable(
        _ request: HTTPRequest,
        _ response: HTTPResponse,
        _ rules: CacheRules
    ) -> Bool {
        guard request.method == .post, response.status.code == 200,
            let reference = response.headerFields[.contentLocation],
            let address = ResourceAddress(reference, from: request)
        else { return false }
        let directives = ResponseDirectives(response.headerFields, rules)
        let isExplicit =
            directives.maxAge.isPresent || response.headerFields[.expires] != nil
            || (rules.isShared && directives.sharedMaxAge.isPresent)
        return isExplicit && address == ResourceAddress(request)
    }
}

/// Groups of responses that an origin invalidates together (RFC 9875).
enum CacheGroups {
    /// The limits on the number of groups and on a name's length; the rest is ignored.
    private static let limits = (count: 128, length: 128)

    static func membership(_ response: HTTPFields) -> [String] {
        strings(response[values: .cacheGroups])
    }

    static func invalidated(by request: HTTPRequest, _ response: HTTPResponse) -> [String] {
        guard !Invalidation.safeMethods.contains(request.method.rawValue),
            (200..<400).contains(response.status.code)
        else { return [] }
        return strings(response.headerFields[values: .cacheGroupInvalidation])
    }

    private static func strings(_ lines: [String]) -> [String] {
        guard !lines.isEmpty, let members = StructuredFieldParser.list(lines) else { return [] }
        return members.prefix(limits.count).compactMap { member in
            guard case .string(let name) = member, name.utf8.count <= limits.length else {
                return nil
            }
            return name
        }
    }
}
