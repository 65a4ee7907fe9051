public import KeelHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

#if AsyncHTTPClient && canImport(AsyncHTTPClient)
internal import KeelAsyncHTTPClient
#endif

extension NetworkClient {
    /// Returns a new transport that suits this platform.
    ///
    /// On Apple platforms this is `URLSessionTransport`, elsewhere `AsyncHTTPClientTransport`, whose calls all fail
    /// with `TransportError.Code.invalidConfiguration` without the trait `AsyncHTTPClient`.
    ///
    /// The caller owns the transport: share it between clients, and shut it down after use.
    public static func platformTransport() -> any HTTPTransport {
        availableTransport()
            ?? UnavailableHTTPTransport(
                TransportError(
                    .invalidConfiguration,
                    "no transport: enable the 'AsyncHTTPClient' trait of the keel package"
                )
            )
    }

    static func availableTransport() -> (any HTTPTransport)? {
        #if canImport(Darwin)
        URLSessionTransport()
        #elseif AsyncHTTPClient && canImport(AsyncHTTPClient)
        AsyncHTTPClientTransport()
        #else
        nil
        #endif
    }

    /// Creates a client over its own ``platformTransport()``.
    public init(_ configuration: Configuration) {
        self.init(configuration, transport: Self.platformTransport())
    }

    /// Creates a client with default limits over its own ``platformTransport()``.
    public init(baseURL: URL) { self.init(Configuration(baseURL: baseURL)) }
}
