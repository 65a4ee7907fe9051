import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelHTTPAuthentication
import KeelTestKit
import Synchronization
import Testing

/// A recorder of calls as the layers and the transport see them.
private final class Witness: HTTPMiddleware, HTTPTransportDouble {
    private let calls = Mutex<[HTTPCall]>([])

    let features: HTTPTransportFeatures = [.pinning]

    var seen: [HTTPCall] { calls.withLock { $0 } }

    func intercept(_ call: HTTPCall, next: HTTPNext) async throws(TransportError) -> HTTPReply {
        calls.withLock { $0.append(call) }
        return try await next(call)
    }

    func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        calls.withLock { $0.append(call) }
        return HTTPReply(head: HTTPResponse(status: .ok))
    }
}

/// A layer that signs with its own key.
private struct KeyLayer: HTTPAuthorizing {
    let identity: String?

    func intercept(_ call: HTTPCall, next: HTTPNext) async throws(TransportError) -> HTTPReply {
        try await next(call)
    }
}

private struct NamedTokens: TokenSource {
    let identity: String?
    func token() async -> AccessToken { AccessToken("token") }
}

@Suite("Settings that a client adds to each call")
struct AuthorizingLayerTests {
    private let origin = HTTPOrigin(
        HTTPRequest(method: .get, scheme: "https", authority: "api.example.com", path: "/")
    )

    private func call(_ path: String = "/me") -> HTTPCall {
        HTTPCall(
            HTTPRequest(method: .get, scheme: "https", authority: "api.example.com", path: path)
        )
    }

    private func client(
        _ transport: any HTTPTransport,
        _ change: (inout NetworkClient.Configuration) -> Void
    ) throws -> NetworkClient {
        var configuration = try NetworkClient.Configuration("https://api.example.com")
        change(&configuration)
        return NetworkClient(configuration, transport: transport)
    }

    @Test("A call built by hand gets the client's pins and options but keeps its own settings")
    func completesRawCalls() async throws {
        let transport = Witness()
        let pin = try #require(PublicKeyPins.Pin(digest: [UInt8](repeating: 7, count: 32)))
        let client = try client(transport) {
            $0.pins = PublicKeyPins(["api.example.com": [pin]])
            $0.options.isIdempotent = true
            $0.options.allowsCoalescing = false
            $0.authorize(with: NamedTokens(identity: "ann"))
        }
        var own = call()
        own.options.allowsCoalescing = true
        // A call's own pins do not loosen those of the client.
        own.options.pins = PublicKeyPins([:])
        _ = try await client.send(own)
        let sent = try #require(transport.seen.first)
        #expect(sent.options.pins?.pins(for: "api.example.com") == [pin])
        #expect(sent.options.isIdempotent == true)
        #expect(sent.options.allowsCoalescing)
        #expect(await sent.options.signer?.identity() == "ann")
        #expect(sent.head.headerFields[.authorization] == "Bearer token")
    }

    @Test("Outer layers know the user of a call, however the signing layer was added")
    func announcesSigners() async throws {
        let origins = Set([try #require(origin)])
        let basic = BasicAuthorization(
            try #require(BasicCredentials(user: "ann", password: "secret")),
            origins: origins
        )
        let cases: [(layers: [any HTTPMiddleware], name: String??)] = [
            ([], .none),
            ([BearerAuthorization(NamedTokens(identity: "ann"), origins: origins)], "ann"),
            ([BearerAuthorization(NamedTokens(identity: nil), origins: origins)], .some(nil)),
            ([basic], await basic.identity),
            ([KeyLayer(identity: "key")], "key"),
            ([KeyLayer(identity: "a"), KeyLayer(identity: "bc")], "1:a2:bc"),
            ([KeyLayer(identity: "ab"), KeyLayer(identity: "c")], "2:ab1:c"),
            ([KeyLayer(identity: "a"), KeyLayer(identity: nil)], .some(nil)),
        ]
        #expect(await basic.identity != nil)
        for (layers, name) in cases {
            let above = Witness()
            let client = try client(Witness()) {
                $0.middleware = [above]
                $0.attemptMiddleware = layers
            }
            _ = try await client.send(call())
            _ = try await client.response(to: GetProfile()).get()
            #expect(above.seen.count == 2)
            for call in above.seen {
                let signer = call.options.signer
                #expect((signer == nil) == (name == .none))
                if let signer { #expect(await .some(signer.identity()) == name) }
            }
        }
    }

    @Test("Replacing the layers after authorizing removes the announced signer")
    func forgetsReplacedLayers() async throws {
        let above = Witness()
        let client = try client(Witness()) {
            $0.authorize(with: NamedTokens(identity: "ann"))
            $0.middleware = [above]
            $0.attemptMiddleware = [ConcurrencyLimitMiddleware(2)]
        }
        _ = try await client.response(to: GetProfile()).get()
        #expect(above.seen.map { $0.options.signer == nil } == [true])
    }
}
