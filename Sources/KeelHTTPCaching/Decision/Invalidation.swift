import HTTPTypes
import KeelHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The address that responses are kept under: what a request is for, in one form.
struct ResourceAddress: Hashable, Sendable {
    /// Whom it belongs to.
    let origin: HTTPOrigin
    /// Origin, path and query as one text, without a fragment.
    let text: String

    /// Reads the address of a request; nil where it has no valid one.
    init?(_ request: HTTPRequest) {
        guard let origin = HTTPOrigin(request) else { return nil }
        self.init(origin, request.path ?? "/")
    }

    /// Reads the address of a URL; nil for one that is not of HTTP.
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

    /// Reads a reference of a response, which may be relative; nil for one that leads nowhere.
    init?(_ reference: String, from request: HTTPRequest) {
        guard let here = ResourceAddress(request), let base = URL(string: here.text),
            let target = URL(string: reference, relativeTo: base)?.absoluteURL
        else { return nil }
        self.init(target)
    }

    private init(_ origin: HTTPOrigin, _ path: String) {
        self.origin = origin
        let target = path.prefix { $0 != "#" }
        text = origin.description + (target.hasPrefix("/") ? "" : "/") + target
    }
}

/// What a request that changes something makes worthless (RFC 9111 section 4.4).
enum Invalidation {
    /// Methods that change nothing; every other one may.
    static let safeMethods: Set<String> = [
        "GET", "HEAD", "OPTIONS", "TRACE", "QUERY", "PROPFIND", "REPORT", "SEARCH",
    ]

    /// The addresses whose stored responses must not be used any more without asking.
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
        // Another origin's responses are not for this one to spoil.
        return Set([target] + others.filter { $0.origin == target.origin })
    }

    /// Whether a response to `POST` may be kept for later requests with `GET` (RFC 9110 section
    /// 9.3.3): it says how long it is fresh, and that it is what the address holds.
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

/// Names that an origin gives to responses that become worthless together (RFC 9875).
enum CacheGroups {
    /// The most groups of one response, and the longest name, that are looked at.
    private static let limits = (count: 128, length: 128)

    /// The groups that a response is in.
    static func membership(_ response: HTTPFields) -> [String] {
        strings(response[values: .cacheGroups])
    }

    /// The groups that the response to a request that changes something makes worthless.
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
