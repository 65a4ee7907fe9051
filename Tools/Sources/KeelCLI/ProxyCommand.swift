import ArgumentParser
import Foundation
import HTTPTypes
import KeelAsyncHTTPClient
import KeelCache
import KeelHTTP
import KeelHTTPCaching
import KeelHummingbird
import KeelServing
import KeelTelemetryTools
import KeelToolSupport
import Logging

struct ProxyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "proxy",
        abstract: "Puts the HTTP cache (RFC 9111) in front of an origin.",
        discussion: """
            Listens on the loopback interface only. The first line of output is the address. After \
            SIGTERM or SIGINT, the proxy answers the requests that it has accepted, and ends.

            Without --private, its users share the cache: a response for one user (Cache-Control: \
            private) is not stored, and CDN-Cache-Control (RFC 9213) takes precedence over \
            Cache-Control.

            A stale response is used only if the origin's response or the request allows it, with \
            stale-while-revalidate or stale-if-error (RFC 5861), or if --stale-if-error or \
            --stale-if-offline allows it. must-revalidate and no-cache are obeyed in any case.

                keel proxy --origin http://127.0.0.1:8000 --port 8001
            """
    )

    @Option(help: "The origin, such as http://127.0.0.1:8000.")
    var origin: Origin

    @Option(help: "The port to listen on; 0 selects a free one.")
    var port = 0

    @Option(
        help: "The folder of the responses; without one, they are in memory.",
        completion: .directory
    )
    var folder: String?

    @Option(help: "The maximum size of all responses in megabytes.")
    var megabytes = 256

    @Flag(
        name: .customLong("private"),
        help: "Acts as the cache of a single user: all requests get what one of them has stored."
    )
    var isPrivate = false

    @Option(
        help: ArgumentHelp(
            """
            How long a stale response may replace an origin that cannot be reached or answers 500, \
            502, 503 or 504, if neither the response nor the request has stale-if-error: 30s, 15m, \
            2h, 7d. Without the option, never.
            """,
            valueName: "age"
        )
    )
    var staleIfError: Staleness?

    @Option(
        help: ArgumentHelp(
            "How long a stale response may replace an origin that cannot be reached or is silent for --timeout.",
            valueName: "age"
        )
    )
    var staleIfOffline: Staleness?

    @Option(
        help: ArgumentHelp(
            """
            How long the origin may be silent, before a response and between its parts: 30s, 15m, \
            2h, 7d; 60s if not given. The client then gets status 504, or a stale response if one is \
            allowed; within a response, its connection is closed.
            """,
            valueName: "time"
        )
    )
    var timeout: ServedAge?

    @Flag(help: "Does not add the Cache-Status field (RFC 9211) to responses.")
    var noStatus = false

    func validate() throws {
        guard (0...65535).contains(port) else { throw ValidationError("--port is 0 to 65535.") }
        guard (1...1_000_000).contains(megabytes) else {
            throw ValidationError("--megabytes is 1 to 1000000.")
        }
    }

    func run() async throws {
        try await CommandOutput(isJSON: false).reporting {
            try await ListeningFailure.explained(port: port) { try await serve() }
            return .done
        }
    }

    private func serve() async throws {
        let cache = HTTPCache(configuration, tier: try makeTier())
        let transport = AsyncHTTPClientTransport()
        let proxy = ReverseProxy(
            scheme: origin.scheme,
            authority: origin.authority,
            transport: CachedTransport(cache: cache, upstream: transport),
            timeout: timeout?.duration ?? .seconds(60)
        )
        let logger = Logger(label: "keel.proxy") { StreamLogHandler.standardError(label: $0) }
        // Each client's connection may need a connection to the origin.
        let mostConnections = min(16_384, max(16, (OpenFileLimit.raise() - 64) / 2))
        try await HandlerServer.serveUntilSignal(
            proxy,
            port: port,
            mostConnections: mostConnections,
            logger: logger
        )
        cache.cancelRevalidations()
        await transport.shutdown()
    }

    var configuration: HTTPCache.Configuration {
        var configuration: HTTPCache.Configuration = isPrivate ? .init() : .shared
        if !isPrivate {
            configuration.targetedFields = ["CDN-Cache-Control"].compactMap { HTTPField.Name($0) }
        }
        if noStatus { configuration.name = nil }
        configuration.errorStaleness = staleIfError?.age
        configuration.offlineStaleness = staleIfOffline?.age
        return configuration
    }

    private func makeTier() throws -> any CacheTier {
        guard let folder else { return InMemoryCacheTier(byteLimit: megabytes << 20) }
        return try DiskCacheTier(
            at: URL(fileURLWithPath: folder, isDirectory: true),
            configuration: DiskCacheTier.Configuration(byteLimit: megabytes << 20)
        )
    }
}

private struct CachedTransport: HTTPTransport {
    let cache: HTTPCache
    let upstream: AsyncHTTPClientTransport

    var features: HTTPTransportFeatures { upstream.features }

    func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        try await cache.send(call, over: OriginTransport(upstream: upstream))
    }

    func shutdown() async { await upstream.shutdown() }
}

/// A transport that repeats a request on a new connection if the origin has closed a reused one.
private struct OriginTransport: HTTPTransport {
    let upstream: AsyncHTTPClientTransport

    var features: HTTPTransportFeatures { upstream.features }

    func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        do throws(TransportError) {
            return try await upstream.send(call)
        } catch {
            guard error.code == .staleConnection, call.isReplayable, !Task.isCancelled,
                call.isIdempotent || error.processed == .no
            else { throw error }
        }
        var again = call
        again.options.prefersNewConnection = true
        return try await upstream.send(again)
    }

    func shutdown() async { await upstream.shutdown() }
}

/// The time past its freshness for which a response may be used, as an argument.
struct Staleness: ExpressibleByArgument {
    let age: Duration

    init?(argument: String) {
        guard let seconds = LogMoment.seconds(argument) else { return nil }
        age = .seconds(seconds)
    }
}

/// The scheme, host and port of an origin, as an argument.
struct Origin: ExpressibleByArgument {
    let scheme: String
    let authority: String

    init?(argument: String) {
        guard let parts = URLComponents(string: argument), let host = parts.host, !host.isEmpty,
            let scheme = parts.scheme?.lowercased(), ["http", "https"].contains(scheme),
            parts.path.isEmpty || parts.path == "/", parts.query == nil, parts.user == nil
        else { return nil }
        self.scheme = scheme
        authority = parts.port.map { "\(host):\($0)" } ?? host
    }
}
