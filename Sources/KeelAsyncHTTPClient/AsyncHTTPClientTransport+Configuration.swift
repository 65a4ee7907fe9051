#if AsyncHTTPClient && canImport(AsyncHTTPClient)
import AsyncHTTPClient
import NIOCore

extension AsyncHTTPClientTransport {
    /// What all calls of a transport have in common.
    public struct Configuration: Sendable, Hashable {
        /// How long a connection may take to open, the secure channel included.
        public var connectTimeout: Duration = .seconds(10)

        /// How long the request may wait for the network to take more of it.
        public var writeTimeout: Duration = .seconds(60)

        /// How long an unused connection is kept open for the next call.
        public var idleConnectionLifetime: Duration = .seconds(60)

        /// How many HTTP/1.1 connections to one host are kept in use at once.
        public var connectionsPerHost = 8

        /// Whether HTTP/2 is used with servers that offer it.
        public var usesHTTP2 = true

        /// Creates a configuration with the usual limits.
        public init() {}

        var settings: HTTPClient.Configuration {
            var settings = HTTPClient.Configuration()
            settings.timeout = .init()
            settings.timeout.connect = TimeAmount(connectTimeout)
            settings.timeout.write = TimeAmount(writeTimeout)
            settings.connectionPool.idleTimeout = TimeAmount(idleConnectionLifetime)
            settings.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connectionsPerHost
            settings.connectionPool.retryConnectionEstablishment = false
            settings.redirectConfiguration = .disallow
            settings.decompression = .disabled
            settings.httpVersion = usesHTTP2 ? .automatic : .http1Only
            return settings
        }
    }
}
#endif
