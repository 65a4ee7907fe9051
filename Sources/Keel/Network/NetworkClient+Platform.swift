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
    /// Returns a new transport of the kind that suits this platform.
    ///
    /// It is `URLSessionTransport` on Apple's systems and `AsyncHTTPClientTransport` elsewhere. Where the
    /// trait `AsyncHTTPClient` is off, each call fails with
    /// `TransportError.Code.invalidConfiguration`, and the message says so.
    ///
    /// The transport belongs to the caller: share one between clients, and shut it down when nobody
    /// needs it.
    public static func platformTransport() -> any HTTPTransport {
        availableTransport()
            ?? UnavailableHTTPTransport(
                TransportError(
                    .invalidConfiguration,
                    "no transport: enable the 'AsyncHTTPClient' trait of the keel package"
                )
            )
    }

    /// The transport of this platform; nil where the trait is off that has it.
    static func availableTransport() -> (any HTTPTransport)? {
        #if canImport(Darwin)
        URLSessionTransport()
        #elseif AsyncHTTPClient && canImport(AsyncHTTPClient)
        AsyncHTTPClientTransport()
        #else
        nil
        #endif
    }

    /// Creates a client over a transport of its own: the one of ``platformTransport()``.
    public init(_ configuration: Configuration) {
        self.init(configuration, transport: Self.platformTransport())
    }

    /// Creates a client with the usual limits over a transport of its own: the one of
    /// ``platformTransport()``.
    public init(baseURL: URL) { self.init(Configuration(baseURL: baseURL)) }
}
