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

/// The requests passed to AsyncHTTPClient, one per origin and method, parsed once.
///
/// AsyncHTTPClient parses the URL of every request with Foundation, which takes a tenth of the
/// request's time. So it gets a request for the root of the origin, and ``ExchangeHandler`` inserts
/// the path of the call just before the encoder.
///
/// Also assigns the event loop of each exchange, see ``OriginLoops``, distributing the origins.
final class OriginRequests: Sendable {
    struct Prepared: Sendable {
        var request: HTTPClient.Request
        let place: OriginLoops.Place
        let path: String?

        var eventLoop: any EventLoop { place.eventLoop }
    }

    private struct Origin: Hashable {
        let scheme: String
        let authority: String
    }

    private struct Known {
        var requests: [HTTPRequest.Method: HTTPClient.Request] = [:]
        let loops: OriginLoops
        var lastUse: UInt64 = 0
    }

    private struct State {
        var origins: [Origin: Known] = [:]
        var originCount = 0
        var uses: UInt64 = 0
    }

    /// The number of origins kept; beyond it, the least recently used sixteenth is dropped.
    static let limit = 512

    /// The number of methods kept per origin; there are nine (RFC 9110 section 9, RFC 5789).
    private static let methodLimit = 16

    private let eventLoops: [any EventLoop]
    private let connections: Int
    private let state = Mutex(State())

    init(on eventLoops: any EventLoopGroup, connections: Int) {
        self.eventLoops = Array(eventLoops.makeIterator())
        self.connections = connections
    }

    func request(for head: HTTPRequest) throws(TransportError) -> Prepared {
        let target = try head.target
        let origin = Origin(scheme: target.scheme, authority: target.authority)
        let (known, loops) = find(origin, head.method)
        // Foundation must see any path that it would change.
        guard target.path.isEncodedPathAndQuery,
            let request = known != nil ? known : try root(of: origin, head.method)
        else {
            let url = "\(target.scheme)://\(target.authority)\(target.path)"
            let request = try parse(url, head.method)
            return Prepared(request: request, place: loops.enter(), path: nil)
        }
        return Prepared(request: request, place: loops.enter(), path: target.path)
    }

    private func find(
        _ origin: Origin,
        _ method: HTTPRequest.Method
    ) -> (HTTPClient.Request?, OriginLoops) {
        state.withLock { state in
            state.uses += 1
            if let index = state.origins.index(forKey: origin) {
                state.origins.values[index].lastUse = state.uses
                let known = state.origins.values[index]
                return (known.requests[method], known.loops)
            }
            if state.origins.count >= Self.limit { evict(&state) }
            let first = state.originCount % eventLoops.count
            let loops = OriginLoops(eventLoops, from: first, connections: connections)
            state.origins[origin] = Known(loops: loops, lastUse: state.uses)
            state.originCount += 1
            return (nil, loops)
        }
    }

    /// Drops several at once, because each single one would cost a full search.
    private func evict(_ state: inout State) {
        let oldest = state.origins.sorted { $0.value.lastUse < $1.value.lastUse }
        for (origin, _) in oldest.prefix(Self.limit / 16) { state.origins[origin] = nil }
    }

    /// Returns the request for the root of an origin, or nil if the text is more than an origin.
    private func root(
        of origin: Origin,
        _ method: HTTPRequest.Method
    ) throws(TransportError) -> HTTPClient.Request? {
        let url = "\(origin.scheme)://\(origin.authority)/"
        let request = try parse(url, method)
        guard request.scheme == "http" || request.scheme == "https",
            request.url.path(percentEncoded: true) == "/"
        else { return nil }
        state.withLock { state in
            let count = state.origins[origin]?.requests.count ?? Self.methodLimit
            if count < Self.methodLimit { state.origins[origin]?.requests[method] = request }
        }
        return request
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
    /// Whether the text is a path with an optional query in the form of RFC 3986 (3.3 and 3.4).
    fileprivate var isEncodedPathAndQuery: Bool {
        // The number of digits still due after a percent sign.
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
