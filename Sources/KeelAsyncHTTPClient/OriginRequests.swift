#if AsyncHTTPClient && canImport(AsyncHTTPClient)
import AsyncHTTPClient
import HTTPTypes
import KeelHTTP
import NIOCore
import NIOHTTP1
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The requests that AsyncHTTPClient is given: of each method and origin one, parsed once.
///
/// AsyncHTTPClient has Foundation take the URL of every request apart, at the cost of a tenth of
/// the request. So it gets a request for the root of the origin, and ``ExchangeHandler`` puts the
/// path of the call in, right before the encoder.
///
/// All calls of an origin begin on one event loop, and its connections are opened there: a
/// response does not change threads on its way. Origins take turns on the loops.
final class OriginRequests: Sendable {
    /// What a call is sent with.
    struct Prepared: Sendable {
        /// The request without header fields and body.
        var request: HTTPClient.Request
        let eventLoop: any EventLoop
        /// The path that takes the place of the request's own; nil leaves that.
        let path: String?
    }

    private struct Origin: Hashable {
        let scheme: String
        let authority: String
    }

    private struct Key: Hashable {
        let method: HTTPRequest.Method
        let origin: Origin
    }

    private struct State {
        var requests: [Key: HTTPClient.Request] = [:]
        var eventLoops: [Origin: any EventLoop] = [:]
    }

    /// How many are kept; with one more, all are forgotten.
    private static let limit = 512

    private let eventLoops: any EventLoopGroup
    private let state = Mutex(State())

    init(on eventLoops: any EventLoopGroup) { self.eventLoops = eventLoops }

    /// Returns what a call with this head is sent with.
    ///
    /// - Throws: `TransportError.Code.invalidRequest` if the head has no usable target.
    func request(for head: HTTPRequest) throws(TransportError) -> Prepared {
        let target = try head.target
        let origin = Origin(scheme: target.scheme, authority: target.authority)
        let key = Key(method: head.method, origin: origin)
        let known = state.withLock { ($0.requests[key], $0.eventLoops[origin]) }
        let eventLoop = known.1 ?? eventLoop(for: origin)
        // What Foundation would change in a path, it must see.
        guard target.path.isEncodedPathAndQuery,
            let request = known.0 != nil ? known.0 : try root(of: key)
        else {
            let url = "\(target.scheme)://\(target.authority)\(target.path)"
            return Prepared(request: try parse(url, head.method), eventLoop: eventLoop, path: nil)
        }
        return Prepared(request: request, eventLoop: eventLoop, path: target.path)
    }

    /// Returns the request for the root of an origin; nil if what was given is more than an origin.
    private func root(of key: Key) throws(TransportError) -> HTTPClient.Request? {
        let url = "\(key.origin.scheme)://\(key.origin.authority)/"
        let request = try parse(url, key.method)
        guard request.scheme == "http" || request.scheme == "https",
            request.url.path(percentEncoded: true) == "/"
        else { return nil }
        state.withLock { state in
            if state.requests.count >= Self.limit { state.requests = [:] }
            state.requests[key] = request
        }
        return request
    }

    private func eventLoop(for origin: Origin) -> any EventLoop {
        state.withLock { state in
            if let eventLoop = state.eventLoops[origin] { return eventLoop }
            if state.eventLoops.count >= Self.limit { state.eventLoops = [:] }
            let eventLoop = eventLoops.next()
            state.eventLoops[origin] = eventLoop
            return eventLoop
        }
    }

    private func parse(
        _ url: String,
        _ method: HTTPRequest.Method
    ) throws(TransportError) -> HTTPClient.Request {
        do {
            return try HTTPClient.Request(url: url, method: HTTPMethod(method))
        } catch {
            throw TransportError(fromAsyncHTTPClient: error, during: .build)
        }
    }
}

extension String {
    /// Whether the text is a path with or without a query, written as RFC 3986 (3.3 and 3.4) wants.
    fileprivate var isEncodedPathAndQuery: Bool {
        // How many digits a percent sign still asks for.
        var digits = 0
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                UInt8(ascii: "A")...UInt8(ascii: "F"):
                digits = max(0, digits - 1)
            case _ where digits > 0: return false
            case UInt8(ascii: "%"): digits = 2
            case UInt8(ascii: "g")...UInt8(ascii: "z"), UInt8(ascii: "G")...UInt8(ascii: "Z"),
                UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "!"), UInt8(ascii: "$"),
                UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "("), UInt8(ascii: ")"),
                UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: ";"),
                UInt8(ascii: "="), UInt8(ascii: ":"), UInt8(ascii: "@"):
                continue
            default: return false
            }
        }
        return digits == 0
    }
}
#endif
